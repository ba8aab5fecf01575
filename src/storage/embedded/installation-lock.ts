// Locks an embedded installation for one process. The kernel holds the lock, so it ends with the process and works across containers of one host.
import { closeSync, openSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { errorCode } from "../../lib/error-code.ts";
import { makeDirectory } from "../../lib/make-directory.ts";

/** The lock is an exclusive SQLite transaction. The file itself stays empty. */
export const LOCK_FILE = "owner.lock";
/** Names the lock's owner for messages only, because its process may have ended or be in another container. */
export const OWNER_FILE = "owner.json";

const TRIES = 5;
const RETRY_MS = 40;

export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** RFC 3339 time. */
  readonly since: string;
}

export interface InstallationLock {
  release(): Promise<void>;
}

export class InstallationInUse extends Error {
  override readonly name = "InstallationInUse";
  readonly owner: Owner | null;

  constructor(directory: string, owner: Owner | null, now = new Date()) {
    super(`${directory} is in use by ${describeOwner(owner, now)}.`);
    this.owner = owner;
  }
}

/** Creates `directory` if it is missing. Throws `InstallationInUse`. */
export async function lockInstallation(directory: string): Promise<InstallationLock> {
  await makeDirectory(directory);
  let lockFile = acquire(join(directory, LOCK_FILE));
  // `ownerOf` of another process may hold the lock for a moment.
  for (let tries = 1; lockFile === null && tries < TRIES; tries += 1) {
    await wait(RETRY_MS);
    lockFile = acquire(join(directory, LOCK_FILE));
  }
  if (lockFile === null) throw new InstallationInUse(directory, await readOwner(directory));
  const owner: Owner = { host: hostname(), pid: process.pid, since: new Date().toISOString() };
  await writeFile(join(directory, OWNER_FILE), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  let isReleased = false;
  return {
    release: async () => {
      if (isReleased) return;
      isReleased = true;
      await rm(join(directory, OWNER_FILE), { force: true });
      lockFile.close();
    },
  };
}

/** Null: no process holds the lock. */
export async function ownerOf(directory: string): Promise<Owner | null> {
  const owner = await readOwner(directory);
  if (owner === null) return null;
  const ownLock = acquire(join(directory, LOCK_FILE));
  ownLock?.close();
  return ownLock === null ? owner : null;
}

/**
 * Null: another process holds the lock. Opening and closing the same file elsewhere in this process would release this POSIX lock, so no other
 * code reads the file.
 */
function acquire(path: string): DatabaseSync | null {
  createPrivate(path);
  const file = new DatabaseSync(path);
  try {
    file.exec("pragma busy_timeout = 0");
    file.exec("begin exclusive");
    return file;
  } catch (error) {
    file.close();
    if (
      error instanceof Error &&
      "errcode" in error &&
      (error.errcode === SQLITE_BUSY || error.errcode === SQLITE_LOCKED)
    )
      return null;
    throw error;
  }
}

/** SQLite gives its journal this file's mode. An existing file is not opened, because closing it would release this process's own lock. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

async function readOwner(directory: string): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(join(directory, OWNER_FILE), "utf8")) as Owner;
  } catch {
    return null;
  }
}

function describeOwner(owner: Owner | null, now: Date): string {
  if (owner === null) return "another process";
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(owner.since)) / 1000));
  return `process ${owner.pid} on host ${owner.host}, since ${owner.since} (${ageOf(seconds)})`;
}

function ageOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
