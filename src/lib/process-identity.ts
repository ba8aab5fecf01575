// Identifies a process by its id and start time, because ids are reused, in a restarted container at once.
import { readFileSync } from "node:fs";
import { errorCode } from "./error-code.ts";

/** Boot id and start time on Linux. Elsewhere only the id identifies a process. */
export function startOf(pid: number): string {
  const stat = readOrNull(`/proc/${pid}/stat`);
  const boot = readOrNull("/proc/sys/kernel/random/boot_id");
  if (stat === null || boot === null) return "unknown";
  // The command name in parentheses may contain spaces, so fields are counted from behind it. Field 3 is the state, field 22 the start in
  // clock ticks. A zombie (in containers without an init process) is not running.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? "ended" : `${boot.trim()}/${fields[19] ?? ""}`;
}

/** Whether the process with this id and start time is running. */
export function isRunning(pid: number, start: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) === "ESRCH") return false;
  }
  return start === startOf(pid);
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ESRCH") return null;
    throw error;
  }
}
