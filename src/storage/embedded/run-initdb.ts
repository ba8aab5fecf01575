// Runs initdb for a user without a name. initdb looks up its user's name, which a container's arbitrary user id lacks; the server needs none.
import { chown, constants, copyFile, cp, mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, namedAccounts } from "./account.ts";
import { type Binaries, program } from "./binaries.ts";
import { giveTree } from "./give-tree.ts";
import { type ProgramResult, runProgram } from "./programs.ts";

const NO_NAME = /could not look up effective user ID/u;

export interface InitdbTask {
  readonly bin: Binaries["bin"];
  /** An empty directory that belongs to the server's account. */
  readonly data: string;
  /** A file that the server's account can read. */
  readonly passwordFile: string;
  readonly superuser: string;
}

export async function runInitdb(task: InitdbTask, account: Account | null): Promise<ProgramResult> {
  const [initdb, ...args] = commandOf(task);
  const result = await runProgram(initdb, args, account);
  if (result.ok || !NO_NAME.test(result.message)) return result;
  const [namedAccount] = await namedAccounts();
  if (namedAccount === undefined) return withNameHint(result);
  if (account !== null) return runAsNamed(task, account, namedAccount);
  // Runs in a user namespace that maps this user to the named user's id. The files still belong to this user.
  const mappedResult = await runProgram("unshare", ["--user", `--map-user=${namedAccount.uid}`, initdb, ...args], null);
  return mappedResult.ok ? mappedResult : withNameHint(result);
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
    // The same collation on every machine, so that indexes stay valid when the system's library changes.
    "--locale=C",
    "--data-checksums",
  ];
}

/** As root: runs initdb as a named account in a temporary directory, because that account may not enter the data directory. */
async function runAsNamed(task: InitdbTask, account: Account, namedAccount: Account): Promise<ProgramResult> {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-initdb-"));
  try {
    const [data, passwordFile] = [join(folder, "data"), join(folder, "password")];
    await copyFile(task.passwordFile, passwordFile);
    for (const path of [folder, passwordFile]) await chown(path, namedAccount.uid, namedAccount.gid);
    const [initdb, ...args] = commandOf({ ...task, data, passwordFile });
    const result = await runProgram(initdb, args, namedAccount);
    if (!result.ok) return result;
    await cp(data, task.data, { recursive: true });
    for (const name of await readdir(task.data, { recursive: true })) await sync(join(task.data, name));
    await giveTree(task.data, account);
    return result;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws for a link: another process of the account may have placed it. */
async function sync(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function withNameHint(result: ProgramResult): ProgramResult {
  return {
    ...result,
    message: `${result.message}. Creating a database needs a user with a name: run as one of /etc/passwd, or as root, or set DATABASE_URL.`,
  };
}
