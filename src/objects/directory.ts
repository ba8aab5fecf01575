// Stores objects as files below one directory, readable by the owner only. A file gets its name once it is complete [jobs.accepted-durable].
import { existsSync } from "node:fs";
import { open, readdir, rm, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeDirectory } from "../lib/make-directory.ts";
import { createFolderSync, linkAtomically, writeAtomically } from "./atomic-file.ts";
import type { ObjectBackend } from "./backend.ts";
import { hasErrorCode, nullIfMissing } from "./file-errors.ts";

/** Starts with a dot, which no object key contains. */
const INCOMING = ".incoming";
/** Age of temporary files to remove at startup. Longer than any upload, so that only files of killed processes are so old. */
const LEFTOVER_MS = 24 * 3_600_000;

export async function openDirectory(directory: string): Promise<ObjectBackend> {
  const incoming = join(directory, INCOMING);
  await makeDirectory(incoming);
  await removeLeftovers(incoming);
  const pathOf = (key: string) => join(directory, key);
  const syncFolder = createFolderSync();

  return {
    put: (key, body) => writeAtomically({ path: pathOf(key), incoming }, body, syncFolder),
    putBytes: (key, bytes) => writeAtomically({ path: pathOf(key), incoming }, bytes, syncFolder),
    // A hard link instead of a copy, so that a long recording is not read and written again.
    take: (key, path, sizeBytes) => linkAtomically({ path: pathOf(key), incoming }, path, sizeBytes, syncFolder),
    async open(key) {
      try {
        const handle = await open(pathOf(key), "r");
        return handle.createReadStream();
      } catch (error) {
        // If the volume is not mounted, the object is not missing.
        if (hasErrorCode(error, ["ENOENT"]) && existsSync(incoming)) return null;
        throw error;
      }
    },
    async remove(key) {
      await nullIfMissing(unlink(pathOf(key)));
      await removeEmptyFolders(directory, dirname(pathOf(key)));
    },
    async *list(prefix) {
      for await (const key of keysBelow(directory, prefix)) {
        // The file may have been removed since its folder was read.
        const fileStat = await nullIfMissing(stat(pathOf(key)));
        if (fileStat !== null) yield { key, modifiedAt: fileStat.mtime };
      }
    },
    close: () => undefined,
  };
}

/** Reads one folder at a time. A folder that was removed meanwhile is empty. */
async function* keysBelow(directory: string, prefix: string): AsyncGenerator<string> {
  const entries = (await nullIfMissing(readdir(join(directory, prefix), { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    const key = `${prefix}/${entry.name}`;
    if (entry.isDirectory()) yield* keysBelow(directory, key);
    else if (entry.isFile()) yield key;
  }
}

/** Keeps the top-level folders `audio` and `results`. */
async function removeEmptyFolders(directory: string, lowest: string): Promise<void> {
  for (let folder = lowest; folder !== directory && dirname(folder) !== directory; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      // The folder is not empty, or another process removed it first.
      if (hasErrorCode(error, ["ENOTEMPTY", "EEXIST", "ENOENT"])) return;
      throw error;
    }
  }
}

async function removeLeftovers(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const modifiedMs = (await stat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - modifiedMs > LEFTOVER_MS) await rm(path, { force: true });
  }
}
