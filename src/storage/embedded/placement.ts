// Where the files of the embedded server are: in the data directory, or, where root's directories are closed to the server's account, in /var/lib/patchbay.
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
/** In the data directory: names the directory that holds the server's files instead. */
export const POINTER_FILE = "postgres-location.json";
const RELOCATED_BELOW = "/var/lib/patchbay";
/** `sockaddr_un` has 108 bytes on Linux and 104 on macOS, with a zero at the end. */
const LONGEST_SOCKET_PATH = 102;

export interface Placement {
  /** Contains everything below; the data directory itself unless relocated. */
  readonly home: string;
  /** PostgreSQL's data directory, mode 0700, of the server's account. */
  readonly data: string;
  /** Directory of the Unix socket, mode 0700, of the server's account. */
  readonly sockets: string;
  readonly isRelocated: boolean;
}

/** Looks only; what `preparePlacement` decided before is read from the pointer. */
export async function readPlacement(dataDir: string): Promise<Placement> {
  const home = await pointedTo(dataDir);
  return home === null ? inside(dataDir, dataDir) : inside(home, dataDir);
}

/** Creates the directories and gives them to the account. `dataDir` exists. */
export async function preparePlacement(dataDir: string, account: Account | null): Promise<Placement> {
  const known = await pointedTo(dataDir);
  let placement = inside(known ?? dataDir, dataDir);
  if (account !== null && known === null) {
    await allowPassage(dataDir);
    if (!(await canEnter(dataDir, account))) placement = await relocate(dataDir);
  }
  if (placement.isRelocated)
    await makeDirectory(dirname(placement.home)).then(() => chmod(dirname(placement.home), 0o711));
  await makeDirectory(placement.home);
  if (placement.isRelocated) await chmod(placement.home, 0o711);
  await makeOwned(placement.sockets, account);
  return placement;
}

/** As root. Other accounts may pass through the data directory, never list it: what it contains is 0600 or 0700. */
export async function allowPassage(dataDir: string): Promise<void> {
  if (process.getuid?.() === 0 && (await stat(dataDir)).uid === 0) await chmod(dataDir, 0o711);
}

/** Also what the server will ask of it: a directory of its own account that others cannot enter. */
export async function makeOwned(path: string, account: Account | null): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
    if (account !== null) await chown(path, account.uid, account.gid);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    const facts = await lstat(path);
    if (!facts.isDirectory()) throw new Error(`${path} is not a directory.`, { cause: error });
    const { uid, gid } = account ?? { uid: process.getuid?.() ?? facts.uid, gid: facts.gid };
    // Below the directory for temporary files anyone may have created it first.
    if (facts.uid !== uid) {
      if (process.getuid?.() !== 0 || !path.includes(SOCKET_FOLDER))
        throw new Error(`${path} belongs to another user (${facts.uid}); the server needs it as user ${uid}.`, {
          cause: error,
        });
      await chown(path, uid, gid);
    }
    await chmod(path, 0o700);
  }
}

function inside(home: string, dataDir: string): Placement {
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
  // Not derived from the path: a data directory that was deleted and created again must not find the old files.
  const home = join(RELOCATED_BELOW, randomBytes(6).toString("hex"));
  await writePointer(dataDir, home, dataDir);
  return inside(home, dataDir);
}

/** Null: the files are in the data directory itself. A pointer in a copied data directory would share one server between two. */
async function pointedTo(dataDir: string): Promise<string | null> {
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

/** For a data directory that was built elsewhere and is about to be renamed to its own place. */
export async function movePointer(from: string, to: string): Promise<void> {
  const home = await pointedTo(from);
  if (home !== null) await writePointer(from, home, to);
}

async function writePointer(directory: string, home: string, dataDir: string): Promise<void> {
  await writeFile(join(directory, POINTER_FILE), `${JSON.stringify({ home, data_dir: dataDir })}\n`, { mode: 0o600 });
}

async function canEnter(directory: string, account: Account): Promise<boolean> {
  const { ok } = await runProgram("/bin/sh", ["-c", 'cd -- "$1"', "sh", directory], account);
  return ok;
}

/** Whether the account can run these programs; their directory, or one above it, may be closed to it. */
export async function canRun(postgres: string, account: Account | null): Promise<boolean> {
  return (await runProgram(postgres, ["--version"], account)).ok;
}

function digestOf(dataDir: string): string {
  return createHash("sha256").update(dataDir).digest("hex").slice(0, 12);
}
