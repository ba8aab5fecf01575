// Decides where the embedded server's files are: in the data directory, or in /var/lib/patchbay if root's directories are closed to the
// server's account.
import { createHash, randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { errorCode } from "../../lib/error-code.ts";
import { makeDirectory } from "../../lib/make-directory.ts";
import type { Account } from "./account.ts";
import { runProgram } from "./programs.ts";

export const DATA_FOLDER = "postgres";
export const SOCKET_FOLDER = "postgres-run";
/** A file in the data directory that names another directory for the server's files. */
export const POINTER_FILE = "postgres-location.json";
const RELOCATED_BELOW = "/var/lib/patchbay";
/** `sockaddr_un` has 108 bytes on Linux and 104 on macOS, with a terminating zero. */
const LONGEST_SOCKET_PATH = 102;

export interface Placement {
  /** The parent of the directories below: the data directory, unless relocated. */
  readonly home: string;
  /** PostgreSQL's data directory. Mode 0700, owned by the server's account. */
  readonly data: string;
  /** Directory of the Unix socket. Mode 0700, owned by the server's account. */
  readonly sockets: string;
  readonly isRelocated: boolean;
}

/** Reads the earlier decision of `preparePlacement` from the pointer. Creates nothing. */
export async function readPlacement(dataDir: string): Promise<Placement> {
  const home = await readPointer(dataDir);
  return home === null ? placementIn(dataDir, dataDir) : placementIn(home, dataDir);
}

/** Creates the directories and gives them to the account. `dataDir` must exist. */
export async function preparePlacement(dataDir: string, account: Account | null): Promise<Placement> {
  const relocatedHome = await readPointer(dataDir);
  let placement = placementIn(relocatedHome ?? dataDir, dataDir);
  if (account !== null && relocatedHome === null) {
    await allowPassage(dataDir);
    if (!(await canEnter(dataDir, account))) placement = await relocate(dataDir);
  }
  if (placement.isRelocated)
    await makeDirectory(dirname(placement.home)).then(() => chmod(dirname(placement.home), 0o711));
  await makeDirectory(placement.home);
  if (placement.isRelocated) await chmod(placement.home, 0o711);
  await createOwnedDirectory(placement.sockets, account);
  return placement;
}

/** As root: lets other accounts pass through the data directory, but not list it. Its contents have mode 0600 or 0700. */
export async function allowPassage(dataDir: string): Promise<void> {
  if (process.getuid?.() === 0 && (await stat(dataDir)).uid === 0) await chmod(dataDir, 0o711);
}

/** Ensures what PostgreSQL requires: a directory owned by its account that others cannot enter. */
export async function createOwnedDirectory(path: string, account: Account | null): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
    if (account !== null) await chown(path, account.uid, account.gid);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    const dirStat = await lstat(path);
    if (!dirStat.isDirectory()) throw new Error(`${path} is not a directory.`, { cause: error });
    const { uid, gid } = account ?? { uid: process.getuid?.() ?? dirStat.uid, gid: dirStat.gid };
    // In the directory for temporary files, any user may have created it first.
    if (dirStat.uid !== uid) {
      if (process.getuid?.() !== 0 || !path.includes(SOCKET_FOLDER))
        throw new Error(`${path} belongs to another user (${dirStat.uid}); the server needs it as user ${uid}.`, {
          cause: error,
        });
      await chown(path, uid, gid);
    }
    await chmod(path, 0o700);
  }
}

function placementIn(home: string, dataDir: string): Placement {
  const sockets = join(home, SOCKET_FOLDER);
  const isShort = Buffer.byteLength(join(sockets, ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH;
  return {
    home,
    data: join(home, DATA_FOLDER),
    sockets: isShort ? sockets : join(tmpdir(), `patchbay-${digestOf(dataDir)}`),
    isRelocated: home !== dataDir,
  };
}

async function relocate(dataDir: string): Promise<Placement> {
  // Random, because a data directory that was deleted and created again must not find the old files.
  const home = join(RELOCATED_BELOW, randomBytes(6).toString("hex"));
  await writePointer(dataDir, home, dataDir);
  return placementIn(home, dataDir);
}

/** Null: the files are in the data directory. Refuses a copied data directory, because its pointer would make two installations share a server. */
async function readPointer(dataDir: string): Promise<string | null> {
  const path = join(dataDir, POINTER_FILE);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const { home, data_dir: owner } = JSON.parse(text) as { readonly home: string; readonly data_dir: string };
  if (owner !== dataDir)
    throw new Error(
      `${dataDir} was copied or moved from ${owner}: its database is in ${home}, which belongs to that directory. Move it back, or use \`patchbay backup\` there and \`patchbay restore\` here.`,
    );
  return home;
}

/** Updates the pointer of a data directory that was built elsewhere and will be renamed to `to`. */
export async function movePointer(from: string, to: string): Promise<void> {
  const home = await readPointer(from);
  if (home !== null) await writePointer(from, home, to);
}

async function writePointer(directory: string, home: string, dataDir: string): Promise<void> {
  await writeFile(join(directory, POINTER_FILE), `${JSON.stringify({ home, data_dir: dataDir })}\n`, { mode: 0o600 });
}

async function canEnter(directory: string, account: Account): Promise<boolean> {
  const { ok } = await runProgram("/bin/sh", ["-c", 'cd -- "$1"', "sh", directory], account);
  return ok;
}

/** Whether the account can run these programs. Their directory, or a parent of it, may be closed to it. */
export async function canRun(postgres: string, account: Account | null): Promise<boolean> {
  return (await runProgram(postgres, ["--version"], account)).ok;
}

function digestOf(dataDir: string): string {
  return createHash("sha256").update(dataDir).digest("hex").slice(0, 12);
}
