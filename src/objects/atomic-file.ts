// Creates or replaces a file atomically and durably: a temporary file is completed and synced, then renamed to the final name. After a crash the
// final name has the whole old file or the whole new one.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hasErrorCode, nullIfMissing } from "./file-errors.ts";

export interface FinalName {
  readonly path: string;
  /** The folder of temporary files, on the same file system. */
  readonly incoming: string;
}

export async function writeAtomically(name: FinalName, body: AsyncIterable<Uint8Array>): Promise<void> {
  await withTemporaryName(name.incoming, async (temporaryPath) => {
    const handle = await open(temporaryPath, "wx", 0o600);
    try {
      await handle.writeFile(body);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await moveDurably(temporaryPath, name.path);
  });
}

/** Links an existing file instead of copying it. False: the file system cannot, and nothing was stored. */
export function linkAtomically(name: FinalName, source: string, sizeBytes: number): Promise<boolean> {
  return withTemporaryName(name.incoming, async (temporaryPath) => {
    try {
      await link(source, temporaryPath);
    } catch (error) {
      // Another file system, or one without hard links.
      if (hasErrorCode(error, ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])) return false;
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
    await moveDurably(temporaryPath, name.path);
    return true;
  });
}

/** Removes the temporary file in any case: renaming a hard link onto another one of the same file succeeds and leaves both names. */
async function withTemporaryName<T>(incoming: string, use: (temporaryPath: string) => Promise<T>): Promise<T> {
  const temporaryPath = join(incoming, randomBytes(16).toString("hex"));
  try {
    return await use(temporaryPath);
  } finally {
    await rm(temporaryPath, { force: true });
  }
}

async function moveDurably(temporaryPath: string, path: string): Promise<void> {
  const createdFolder = await moveInto(temporaryPath, path);
  // A new file name is durable once its folder is synced, and a new folder once its parent is.
  const top = createdFolder === undefined ? dirname(path) : dirname(createdFolder);
  for (let folder = dirname(path); folder.length >= top.length; folder = dirname(folder)) await syncFolder(folder);
}

const MOVE_TRIES = 20;

/** Returns the topmost folder that it created. A folder that another process removes as empty is created again. */
async function moveInto(temporaryPath: string, path: string): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      const createdFolder = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporaryPath, path);
      return createdFolder;
    } catch (error) {
      if (!hasErrorCode(error, ["ENOENT"]) || tries === MOVE_TRIES) throw error;
    }
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders, and makes names durable itself.
  if (process.platform === "win32") return;
  // Null: another process removed the folder and the object.
  const handle = await nullIfMissing(open(path, "r"));
  if (handle === null) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
