// Creates or replaces a file atomically and durably: a temporary file is completed and synced, then renamed to the final name. After a crash the
// final name has the whole old file or the whole new one.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createBatcher } from "../lib/concurrency/batcher.ts";
import { hasErrorCode, nullIfMissing } from "./file-errors.ts";
import { writeSynced } from "./write-synced.ts";

export interface FinalName {
  readonly path: string;
  /** The folder of temporary files, on the same file system. */
  readonly incoming: string;
}

export async function writeAtomically(
  name: FinalName,
  body: AsyncIterable<Uint8Array> | Uint8Array,
  syncFolder: SyncFolder,
): Promise<void> {
  const temporaryPath = temporaryName(name.incoming);
  try {
    await (body instanceof Uint8Array ? writeSynced(temporaryPath, body) : writePieces(temporaryPath, body));
    await moveDurably(temporaryPath, name.path, syncFolder);
  } catch (error) {
    // Once it is renamed, the temporary name is gone.
    await rm(temporaryPath, { force: true });
    throw error;
  }
}

async function writePieces(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(body);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Links an existing file instead of copying it. False: the file system cannot, and nothing was stored. */
export async function linkAtomically(
  name: FinalName,
  source: string,
  sizeBytes: number,
  syncFolder: SyncFolder,
): Promise<boolean> {
  const temporaryPath = temporaryName(name.incoming);
  try {
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
    await moveDurably(temporaryPath, name.path, syncFolder);
    return true;
  } finally {
    // In any case: renaming a hard link onto another one of the same file succeeds and leaves both names.
    await rm(temporaryPath, { force: true });
  }
}

function temporaryName(incoming: string): string {
  return join(incoming, randomBytes(16).toString("hex"));
}

async function moveDurably(temporaryPath: string, path: string, syncFolder: SyncFolder): Promise<void> {
  const createdFolder = await moveInto(temporaryPath, path);
  // A new file name is durable once its folder is synced, and a new folder once its parent is.
  const top = createdFolder === undefined ? dirname(path) : dirname(createdFolder);
  for (let folder = dirname(path); folder.length >= top.length; folder = dirname(folder)) await syncFolder(folder);
}

const MOVE_TRIES = 20;

/** Returns the topmost folder that it created. The folder usually exists. One that another process removes as empty is created again. */
async function moveInto(temporaryPath: string, path: string): Promise<string | undefined> {
  let createdFolder: string | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      await rename(temporaryPath, path);
      return createdFolder;
    } catch (error) {
      if (!hasErrorCode(error, ["ENOENT"]) || tries === MOVE_TRIES) throw error;
    }
    createdFolder = await createFolder(dirname(path), createdFolder);
  }
}

/** Returns the topmost of the folders that were created in any try. */
async function createFolder(path: string, createdBefore: string | undefined): Promise<string | undefined> {
  const created = await mkdir(path, { recursive: true, mode: 0o700 });
  if (created === undefined || createdBefore === undefined) return created ?? createdBefore;
  return created.length < createdBefore.length ? created : createdBefore;
}

/** Makes the names in a folder durable. */
export type SyncFolder = (path: string) => Promise<void>;

/**
 * Calls that come while a folder is being synced share the next sync of it. A sync that fails fails for all of them and is not repeated: the system reports
 * a write error once, and a second sync would succeed although the names are lost.
 */
export function createFolderSync(sync: SyncFolder = syncFolder): SyncFolder {
  const enqueue = createBatcher<string, () => void>(
    async (paths) => {
      const outcomes = new Map<string, () => void>();
      const syncOne = async (path: string): Promise<void> => {
        try {
          await sync(path);
        } catch (error) {
          outcomes.set(path, () => {
            throw error;
          });
        }
      };
      await Promise.all([...new Set(paths)].map(syncOne));
      return paths.map((path) => outcomes.get(path) ?? (() => undefined));
    },
    { maxItems: Number.POSITIVE_INFINITY, isItemFault: () => false },
  );
  return async (path) => {
    const report = await enqueue(path);
    report();
  };
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
