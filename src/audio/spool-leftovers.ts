// Names spool files by host and process, and deletes those that a killed process left behind.
import { createHash, randomBytes } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { errorCode } from "../lib/error-code.ts";

const NAME = /^audio-([0-9a-f]{8})-([0-9]{1,10})-[0-9a-f]{32}\.spool$/;
/** No request lasts so long. Also removes the files of reused process ids. */
const STALE_MS = 24 * 3_600_000;

export function spoolFileName(): string {
  return `audio-${hostMark()}-${process.pid}-${randomBytes(16).toString("hex")}.spool`;
}

export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const match = NAME.exec(name);
    if (match === null) continue;
    const path = join(directory, name);
    const modifiedMs = (await stat(path).catch(() => null))?.mtimeMs ?? 0;
    if (isLeftover({ host: match[1] ?? "", pid: Number(match[2]), modifiedMs })) await rm(path, { force: true });
  }
}

/** A process id means nothing for another host (or container) that shares the directory: only age counts there. */
function isLeftover(file: { host: string; pid: number; modifiedMs: number }): boolean {
  if (Date.now() - file.modifiedMs > STALE_MS) return true;
  if (file.host !== hostMark()) return false;
  // In a container every start may have the same process id: a file older than this process belongs to its predecessor.
  if (file.pid === process.pid) return file.modifiedMs < performance.timeOrigin;
  return !isAlive(file.pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}
