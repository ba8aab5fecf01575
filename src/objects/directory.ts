// Objects as files below one directory, for the owner only. flydrive reads, removes and lists; it writes in place and with the
// process's file mode, so writing is our own: a temporary file, synced, then renamed to its name [jobs.accepted-durable].
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { link, mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FSDriver } from "flydrive/drivers/fs";
import { errorCode } from "../lib/error-code.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import type { ObjectBackend } from "./backend.ts";

/** A dot: no object's key can name it. */
const INCOMING = ".incoming";
/** Longer than any upload: only what a killed process left behind is so old. */
const LEFTOVER_MS = 24 * 3_600_000;

export async function openDirectory(directory: string): Promise<ObjectBackend> {
  const incoming = join(directory, INCOMING);
  await makeDirectory(incoming);
  await removeLeftovers(incoming);
  const driver = new FSDriver({ location: directory, visibility: "private" });

  /** `write` makes the file aside; false: it made none. */
  async function putAside(key: string, isLink: boolean, write: (aside: string) => Promise<boolean>): Promise<boolean> {
    const aside = join(incoming, randomBytes(16).toString("hex"));
    const target = join(directory, key);
    let made: string | undefined;
    try {
      if (!(await write(aside))) return false;
      made = await moveInto(aside, target);
      // Two names of one file are not renamed into each other: the same file put again would stay aside.
      if (isLink) await rm(aside, { force: true });
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    }
    // A new name is durable once its folder is; a new folder, once the one above is.
    const top = made === undefined ? dirname(target) : dirname(made);
    for (let folder = dirname(target); folder.length >= top.length; folder = dirname(folder)) await syncFolder(folder);
    return true;
  }

  return {
    async put(key, body) {
      await putAside(key, false, async (aside) => {
        await writeDurably(aside, body);
        return true;
      });
    },
    // A second name instead of a copy: of a long recording nothing is read or written again.
    take: (key, path, sizeBytes) => putAside(key, true, (aside) => linkDurably(path, aside, sizeBytes)),
    async open(key) {
      const stream = await driver.getStream(key);
      try {
        await once(stream, "open");
      } catch (error) {
        // A volume that is not mounted now has lost nothing.
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
        // It may have been removed since the folder was read.
        const facts = await stat(join(directory, object.key)).catch((error: unknown) => {
          if (isMissing(error)) return null;
          throw error;
        });
        if (facts !== null) yield { key: object.key, modifiedAt: facts.mtime };
      }
    },
    close: () => undefined,
  };
}

const MOVE_TRIES = 20;

/** Answers the topmost folder that had to be made. One that falls empty meanwhile is removed, and made again. */
async function moveInto(aside: string, target: string): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      const made = await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(aside, target);
      return made;
    } catch (error) {
      if (!isMissing(error) || tries === MOVE_TRIES) throw error;
    }
  }
}

/** All but the one below the store's own: `audio` and `results` stay. */
async function removeEmptyFolders(directory: string, from: string): Promise<void> {
  for (let folder = from; folder !== directory && dirname(folder) !== directory; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch (error) {
      // Something else is in it, or somebody else was here first.
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

/** Another file system, or one without links, says so; then the bytes are copied. */
async function linkDurably(path: string, aside: string, sizeBytes: number): Promise<boolean> {
  try {
    await link(path, aside);
  } catch (error) {
    if (isOneOf(error, ["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])) return false;
    throw error;
  }
  const handle = await open(aside, "r+");
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
  // Windows opens no folders, and keeps names durable by itself.
  if (process.platform === "win32") return;
  const handle = await open(path, "r").catch((error: unknown) => {
    // With the object itself, by somebody else.
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
