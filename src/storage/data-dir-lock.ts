// One process per data directory: the embedded engine would corrupt it with two. A lock left by a killed process is
// recognised by its process id and start time, and taken over without a manual step.
import { createHash, randomUUID } from "node:crypto";
import { link, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import { isRunning, startOf } from "../lib/process-identity.ts";
import { makeDirectory } from "../lib/make-directory.ts";

export interface DataDirLock {
  release(): Promise<void>;
}

export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

export const LOCK_FILE = "pglite.lock";

/** The process that holds the directory now; null: nobody does. */
export async function holderOf(dataDir: string): Promise<number | null> {
  const held = await readOrNull(join(dataDir, LOCK_FILE));
  return held !== null && isAlive(held) ? Number(held.split(" ")[0]) : null;
}

export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await makeDirectory(dataDir);
  const path = join(dataDir, LOCK_FILE);
  const mine = `${process.pid} ${startOf(process.pid)} ${randomUUID()}\n`;
  // Again where a lock was gone, replaced or claimed meanwhile; three times in vain, and others are racing for it.
  for (let tries = 0; tries < 3; tries += 1) {
    if (await create(path, mine)) return { release: () => releaseLock(path, mine) };
    const held = await readOrNull(path);
    if (held === null) continue;
    if (isAlive(held)) throw inUse(dataDir, held);
    if (await takeOver(path, held, mine)) return { release: () => releaseLock(path, mine) };
  }
  throw inUse(dataDir, (await readOrNull(path)) ?? "");
}

/** Complete from the first moment on: written aside, then linked, which fails when the name is taken. */
async function create(path: string, text: string): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  await writeFile(aside, text, { mode: 0o600 });
  try {
    await link(aside, path);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(aside);
  }
}

/**
 * Many may find the same stale lock, and one that replaced it after another had would hold what is held already. So whoever
 * replaces a lock first claims that very lock, by its content, and looks again: only under its claim does a stale lock change.
 */
async function takeOver(path: string, stale: string, mine: string): Promise<boolean> {
  const claim = `${path}.${createHash("sha256").update(stale).digest("hex").slice(0, 16)}`;
  if (!(await create(claim, mine))) {
    // Left by a process that was killed between these lines.
    const claimant = await readOrNull(claim);
    if (claimant !== null && !isAlive(claimant)) await rm(claim, { force: true });
    return false;
  }
  try {
    if ((await readOrNull(path)) !== stale) return false;
    const aside = `${path}.${randomUUID()}`;
    await writeFile(aside, mine, { mode: 0o600 });
    await rename(aside, path);
    return true;
  } finally {
    await rm(claim, { force: true });
  }
}

async function releaseLock(path: string, mine: string): Promise<void> {
  if ((await readOrNull(path)) === mine) await rm(path, { force: true });
}

function isAlive(held: string): boolean {
  const [pid = "", start = ""] = held.trim().split(" ");
  return isRunning(Number(pid), start);
}

function inUse(dataDir: string, held: string): DataDirInUse {
  const pid = held.split(" ")[0] ?? "";
  return new DataDirInUse(
    `The data directory ${dataDir} is in use by process ${pid === "" ? "(unknown)" : pid}. The embedded database takes one process at a time: stop the other one, choose another data_dir, or set storage.database_url to share a PostgreSQL server.`,
  );
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ESRCH") return null;
    throw error;
  }
}
