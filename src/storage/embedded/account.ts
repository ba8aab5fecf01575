// Chooses the system account that PostgreSQL runs as. PostgreSQL refuses to run as root, so root starts it under an unprivileged account.
import { readFile, stat } from "node:fs/promises";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts to try, in this order, if root starts the gateway and `storage.run_as` is not set. */
const USUAL_ACCOUNTS = ["patchbay", "postgres"] as const;
export const LAST_RESORT = "nobody";
const USABLE: ReadonlySet<string> = new Set([...USUAL_ACCOUNTS, LAST_RESORT]);

/**
 * Null: this process is not root, and the server runs as the same user. `directory` is the data directory: if it belongs to an ordinary user,
 * the server runs as that user.
 */
export async function chooseAccount(runAs: string | null, directory: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const accounts = await readAccounts();
  const byName = (name: string) => accounts.find((each) => each.name === name) ?? null;
  if (runAs !== null) {
    const account = byName(runAs);
    if (account === null) throw new Error(`storage.run_as: this system has no account "${runAs}".`);
    if (account.uid === 0) throw new Error("storage.run_as: PostgreSQL refuses to run as root. Name another account.");
    return account;
  }
  const { uid, gid } = await stat(directory);
  if (uid !== 0) return { name: accounts.find((each) => each.uid === uid)?.name ?? String(uid), uid, gid };
  const usualAccount = (await namedAccounts()).find(({ name }) => USABLE.has(name));
  if (usualAccount !== undefined) return usualAccount;
  // A minimal container image may list no accounts. The kernel does not require one.
  return { name: "65534", uid: 65_534, gid: 65_534 };
}

/** All accounts except root, the usual ones of a database first. */
export async function namedAccounts(): Promise<readonly Account[]> {
  const accounts = await readAccounts();
  const usualAccounts = [...USUAL_ACCOUNTS, LAST_RESORT].flatMap(
    (name) => accounts.find((each) => each.name === name) ?? [],
  );
  return [...usualAccounts, ...accounts].filter(({ uid }) => uid !== 0);
}

async function readAccounts(): Promise<readonly Account[]> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .filter((fields) => fields.length >= 4)
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}
