// Creates the embedded server's data files in a temporary directory and renames it when complete, so that an interrupted start leaves no
// partial database.
import { randomBytes, randomUUID } from "node:crypto";
import { chown, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../lib/error-code.ts";
import type { Account } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { createOwnedDirectory } from "./placement.ts";
import { runInitdb } from "./run-initdb.ts";

/** A file in the data directory with mode 0600. */
export const PASSWORD_FILE = "postgres-password";
export const SUPERUSER = "postgres";

/** The major version of the data files. Null: no server was created there. */
export async function majorOf(data: string): Promise<number | null> {
  try {
    return Number.parseInt(await readFile(join(data, "PG_VERSION"), "utf8"), 10);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return null;
    throw error;
  }
}

export async function initialize(
  data: string,
  { bin }: Pick<Binaries, "bin">,
  account: Account | null,
  password: string,
): Promise<void> {
  await removeUnfinished(data);
  const unfinished = `${data}${UNFINISHED}${randomUUID()}`;
  await createOwnedDirectory(unfinished, account);
  const passwordFile = `${unfinished}.password`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: "wx" });
  try {
    if (account !== null) await chown(passwordFile, account.uid, account.gid);
    const { ok, message } = await runInitdb({ bin, data: unfinished, passwordFile, superuser: SUPERUSER }, account);
    if (!ok) throw new Error(`initdb could not create the embedded database: ${message}`);
    await rename(unfinished, data);
    await syncDirectory(dirname(data));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(passwordFile, { force: true });
  }
}

const UNFINISHED = ".new-";

/** Removes directories of killed starts. The caller holds the installation's lock, so no other process uses them. */
async function removeUnfinished(data: string): Promise<void> {
  const prefix = `${basename(data)}${UNFINISHED}`;
  for (const name of await readdir(dirname(data)))
    if (name.startsWith(prefix)) await rm(join(dirname(data), name), { recursive: true, force: true });
}

/** Call this before the server is created. The password is on disk once it resolves. */
export async function loadOrCreatePassword(home: string): Promise<string> {
  const path = join(home, PASSWORD_FILE);
  const existingPassword = await readPassword(home);
  if (existingPassword !== null) return existingPassword;
  const file = await open(path, "wx", 0o600);
  try {
    const password = randomBytes(24).toString("base64url");
    await file.writeFile(`${password}\n`);
    await file.sync();
    return password;
  } finally {
    await file.close();
  }
}

export async function readPassword(home: string): Promise<string | null> {
  try {
    const text = (await readFile(join(home, PASSWORD_FILE), "utf8")).trim();
    return text === "" ? null : text;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories. Its file system writes names in order.
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
