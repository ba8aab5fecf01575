// Attaches strace to processes and parses its output: one file per thread, each system call with its start and duration.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface SystemCall {
  /** Of the thread. */
  readonly pid: number;
  readonly name: string;
  readonly fd: number;
  /** The target of the file descriptor, from `strace -y`: a path, or `socket:[12345]`. */
  readonly file: string;
  /** The rest of the line: escaped data, and the result. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

const TRACED = "trace=fdatasync,fsync,pwrite64,write,writev,sendto,sendmsg,recvfrom,read";
/** PostgreSQL reads its socket in blocks of 8 KiB. */
const STRING_BYTES = 8_192;

export interface Tracing {
  stop(): Promise<void>;
}

/** Null: this system forbids tracing, or lacks strace. Child processes are traced too. */
export async function attach(pids: readonly number[], folder: string): Promise<Tracing | null> {
  const options = ["-ff", "-qq", "-ttt", "-T", "-y", "-s", String(STRING_BYTES), "-e", TRACED];
  const child = spawn(
    "strace",
    [...options, "-o", join(folder, "calls"), ...pids.flatMap((pid) => ["-p", String(pid)])],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  return (await attached(child, pids)) ? { stop: () => detach(child) } : null;
}

const ATTACH_MS = 20_000;
const LOOK_MS = 20;

/** Waits until the kernel reports a tracer for each process. */
async function attached(child: ChildProcess, pids: readonly number[]): Promise<boolean> {
  const lastMs = performance.now() + ATTACH_MS;
  let hasEnded = false;
  child.once("error", () => (hasEnded = true));
  child.once("exit", () => (hasEnded = true));
  for (;;) {
    const traced = await Promise.all(pids.map(isTraced));
    if (traced.every(Boolean)) return true;
    if (hasEnded || performance.now() > lastMs) {
      child.kill("SIGKILL");
      return false;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function isTraced(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "TracerPid:\t1");
  return !/^TracerPid:\s+0$/mu.test(status);
}

async function detach(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGINT");
  await exit;
}

/** In order of their start. */
export async function readCalls(folder: string): Promise<readonly SystemCall[]> {
  const calls: SystemCall[] = [];
  for (const name of await readdir(folder)) {
    const pid = Number(/^calls\.(\d+)$/u.exec(name)?.[1]);
    if (!Number.isSafeInteger(pid)) continue;
    for (const line of (await readFile(join(folder, name), "latin1")).split("\n")) {
      const call = parseCall(pid, line);
      if (call !== null) calls.push(call);
    }
  }
  return calls.toSorted((a, b) => a.startMs - b.startMs);
}

const CALL = /^(\d+\.\d+) (\w+)\((\d+)<([^>]*)>(.*) <(\d+\.\d+)>$/u;

/** Null: a signal, an exit, or an unfinished call. */
export function parseCall(pid: number, line: string): SystemCall | null {
  const [, start, name, fd, file, text, seconds] = CALL.exec(line) ?? [];
  if (start === undefined || name === undefined || file === undefined || text === undefined) return null;
  const startMs = Number(start) * 1_000;
  return { pid, name, fd: Number(fd), file, text, startMs, endMs: startMs + Number(seconds) * 1_000 };
}
