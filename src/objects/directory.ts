// Stores objects as files below one directory, readable by the owner only. flydrive reads, removes and lists, but it writes in place and with the
// process's umask, so this file writes: a temporary file, synced, then renamed to its final name [jobs.accepted-durable].
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { link, mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FSDriver } from "flydrive/drivers/fs";
import { errorCode } from "../lib/error-code.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import type { ObjectBackend } from "./backend.ts";

/** Starts with a dot, which no object key contains. */
const INCOMING = ".incoming";
/** Age of temporary files to remove at startup. Longer than any upload, so that only files of killed processes are so old. */
const LEFTOVER_MS = 24 * 3_600_000;

export async function openDirectory(directory: string): Promise<ObjectBackend> {
  const incoming = join(directory, INCOMING);
  await makeDirectory(incoming);
  await removeLeftovers(incoming);
  const driver = new FSDriver({ location: directory, visibility: "private" });

  /** `write` creates the temporary file. False if it could not, and nothing was stored. */
  async function putAtomically(
    key: string,
    isLink: boolean,
    write: (temporaryPath: string) => Promise<boolean>,
  ): Promise<boolean> {
    const temporaryPath = join(incoming, randomBytes(16).toString("hex"));
    const target = join(directory, key);
    let createdFolder: string | undefined;
    try {
      if (!(await write(temporaryPath))) return false;
      createdFolder = await moveInto(temporaryPath, target);
      // Renaming one hard link onto another of the same file does nothing, so a repeated put would leave the temporary name.
      if (isLink) await rm(temporaryPath, { force: true });
    } catch (error) {
      await rm(temporaryPath, { force: true });
      throw error;
    }
    // A new file name is durable once its folder is synced, and a new folder once its parent is.
    const top = createdFolder === undefined ? dirname(target) : dirname(createdFolder);
    for (let folder = dirname(target); folder.length >= top.length; folder = dirname(folder)) await syncFolder(folder);
    return true;
  }

  return {
    async put(key, body) {
      await putAtomically(key, false, async (temporaryPath) => {
        await writeDurably(temporaryPath, body);
        return true;
      });
    },
    // A hard link instead of a copy, so that a long recording is not read and written again.
    take: (key, path, sizeBytes) =>
      putAtomically(key, true, (temporaryPath) => linkDurably(path, temporaryPath, sizeBytes)),
    async open(key) {
      const stream = await driver.getStream(key);
      try {
        await once(stream, "open");
      } catch (error) {
        // If the volume is not mounted, the object is not missing.
        if (isMissing(error) && existsSync(incoming)) return null;
        throw error;
      }
      return stream;
    },
    async remove(key) {
      await driver.delete(key);
      await removeEmptyFolders(directory, dirname(join(directory, key)));
    },
    async *list(prefix) {
      const { objects } = await driver.listAll(prefix, { recursive: true });
      for (const object of objects) {
        if (!object.isFile) continue;
        // The file may have been removed since the folder was read.
        const fileStat = await stat(join(directory, object.key)).catch((error: unknown) => {
          if (isMissing(error)) return null;
          throw error;
        });
        if (fileStat !== null) yield { key: object.key, modifiedAt: fileStat.mtime };
      }
    },
    close: () => undefined,
  };
}

const MOVE_TRIES = 20;

/** Returns the topmost folder that it created. A folder that a concurrent `remove` deletes as empty is created again. */
async function moveInto(temporaryPath: string, target: string): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      const createdFolder = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(temporaryPath, target);
      return createdFolder;
    } catch (error) {
      if (!isMissing(error) || tries === MOVE_TRIES) throw error;
    }
  }
}

/** Keeps the top-level folders `audio` and `results`. */
async function removeEmptyFolders(directory: string, lowest: string): Promise<void> {
  for (let folder = lowest; folder !== directory && dirname(folder) !== directory; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      // The folder is not empty, or another process removed it first.
      if (isOneOf(error, ["ENOTEMPTY", "EEXIST", "ENOENT"])) return;
      throw error;
    }
  }
}

async function writeDurably(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(body);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** False on another file system, or one without hard links: the caller then copies the bytes. */
async function linkDurably(path: string, temporaryPath: string, sizeBytes: number): Promise<boolean> {
  try {
    await link(path, temporaryPath);
  } catch (error) {
    if (isOneOf(error, ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])) return false;
    throw error;
  }
  const handle = await open(temporaryPath, "r+");
  try {
    const { size } = await handle.stat();
    if (size !== sizeBytes) throw new Error(`the object was to have ${sizeBytes} bytes, its file has ${size}`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return true;
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders, and makes names durable itself.
  if (process.platform === "win32") return;
  const handle = await open(path, "r").catch((error: unknown) => {
    // Another process removed the folder and the object.
    if (isMissing(error)) return null;
    throw error;
  });
  if (handle === null) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeLeftovers(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const modifiedMs = (await stat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - modifiedMs > LEFTOVER_MS) await rm(path, { force: true });
  }
}

function isMissing(error: unknown): boolean {
  return isOneOf(error, ["ENOENT"]);
}

function isOneOf(error: unknown, codes: readonly string[]): boolean {
  return codes.includes(errorCode(error) ?? "");
}
