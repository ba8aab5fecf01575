// Runs initdb, which looks its user up by name: a container's arbitrary user id has none, though the server itself needs none.
import { chown, copyFile, cp, mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, namedAccounts } from "./account.ts";
import { type Binaries, program } from "./binaries.ts";
import { type ProgramResult, runProgram } from "./programs.ts";

const NO_NAME = /could not look up effective user ID/u;

export interface InitdbTask {
  readonly bin: Binaries["bin"];
  /** Empty; belongs to the server's account. */
  readonly data: string;
  /** Readable by the server's account. */
  readonly passwordFile: string;
  readonly superuser: string;
}

export async function runInitdb(task: InitdbTask, account: Account | null): Promise<ProgramResult> {
  const [initdb, ...args] = commandOf(task);
  const result = await runProgram(initdb, args, account);
  if (result.ok || !NO_NAME.test(result.message)) return result;
  const [named] = await namedAccounts();
  if (named === undefined) return unnamed(result);
  if (account !== null) return asNamed(task, account, named);
  // A user namespace in which this user has the other's number. What it creates belongs to this user.
  const mapped = await runProgram("unshare", ["--user", `--map-user=${named.uid}`, initdb, ...args], null);
  return mapped.ok ? mapped : unnamed(result);
}

function commandOf({ bin, data, passwordFile, superuser }: InitdbTask): [string, ...string[]] {
  return [
    join(bin, program("initdb")),
    "-D",
    data,
    "-U",
    superuser,
    "-A",
    "scram-sha-256",
    `--pwfile=${passwordFile}`,
    "-E",
    "UTF8",
    // One collation on every machine: an index stays valid where the system's library changes.
    "--locale=C",
    "--data-checksums",
  ];
}

/** As root: another account, which may not enter the data directory, creates the files elsewhere. */
async function asNamed(task: InitdbTask, account: Account, named: Account): Promise<ProgramResult> {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-initdb-"));
  try {
    const [data, passwordFile] = [join(folder, "data"), join(folder, "password")];
    await copyFile(task.passwordFile, passwordFile);
    for (const path of [folder, passwordFile]) await chown(path, named.uid, named.gid);
    const [initdb, ...args] = commandOf({ ...task, data, passwordFile });
    const result = await runProgram(initdb, args, named);
    if (!result.ok) return result;
    await cp(data, task.data, { recursive: true });
    for (const name of await readdir(task.data, { recursive: true })) await settle(join(task.data, name), account);
    return result;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The account's, and on disk. */
async function settle(path: string, account: Account): Promise<void> {
  await chown(path, account.uid, account.gid);
  const opened = await open(path, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

function unnamed(result: ProgramResult): ProgramResult {
  return {
    ...result,
    message: `${result.message}. Creating a database needs a user with a name: run as one of /etc/passwd, or as root, or set DATABASE_URL.`,
  };
}
