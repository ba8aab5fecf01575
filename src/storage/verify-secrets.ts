// Whether a process has the secrets that its database is used with [tenancy.pepper] [tenancy.rotate-needed]. With another pepper no
// API key would be valid: it would recreate those of the file and revoke them for all other processes. Without an encryption key it could
// open nothing of that key's, and what it seals with a key of its own no other process could open. It is refused.
import { type Kysely, sql } from "kysely";
import type { Transacting } from "./database.ts";
import { isOtherPepper, storePepper } from "./key-pepper.ts";
import { readRunningKeys } from "./running-keys.ts";
import type { Seal } from "./seal.ts";
import type { Tables } from "./tables.ts";

export interface OwnSecrets {
  readonly pepper: Buffer;
  readonly seal: Seal;
}

export class OtherSecrets extends Error {
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

type Reading = Pick<Kysely<Tables>, "selectFrom">;

/** Null: they are the database's, or may become it. */
export async function compareSecrets(db: Reading, { pepper, seal }: OwnSecrets): Promise<OtherSecrets | null> {
  if (await isOtherPepper(db, pepper))
    return new OtherSecrets(
      "secrets.key_pepper is not the one that this database's API keys were made with: it would know none of them",
      "set the one that the other processes have, or put key-pepper back from the backup; if every key shall end: patchbay secrets replace-pepper",
    );
  return (await judgeLackingKeys(db, seal)) ?? (await judgeRunningKeys(db, seal));
}

/** Throws `OtherSecrets`. The first pepper is the database's, and so is any other until there is a key. Under `lockDirectory`. */
export async function requireKnownSecrets(tx: Transacting, own: OwnSecrets): Promise<void> {
  const fault = await compareSecrets(tx, own);
  if (fault !== null) throw fault;
  await storePepper(tx, own.pepper);
}

/** Neither ends by itself: a data key stays, and a job whose request nobody opens ends at its deadline, unserved. */
async function judgeLackingKeys(db: Reading, seal: Seal): Promise<OtherSecrets | null> {
  const keyOf = (column: string) => sql<string>`encode(substring(${sql.ref(column)} from 2 for 4), 'hex')`;
  const dataKeys = await db
    .selectFrom("data_keys")
    .select([keyOf("wrapped").as("key"), sql<bigint>`count(*)`.as("count")])
    .where(keyOf("wrapped"), "not in", seal.keyIds)
    .groupBy(sql`1`)
    .execute();
  const jobs = await db
    .selectFrom("jobs")
    .select([keyOf("request").as("key"), sql<bigint>`count(*)`.as("count")])
    .where("status", "in", ["queued", "processing"])
    // One that was damaged names no key, and holds up no start.
    .where(sql<boolean>`substring(request from 1 for 1) = '\\x01'::bytea`)
    .where("deadline_at", ">", sql<Date>`patchbay_now()`)
    .where(keyOf("request"), "not in", seal.keyIds)
    .groupBy(sql`1`)
    .execute();
  const lacking = [...new Set([...dataKeys, ...jobs].map(({ key }) => key))];
  if (lacking.length === 0) return null;
  const count = (rows: typeof jobs) => rows.reduce((sum, each) => sum + each.count, 0n);
  const sealed = [
    ...(count(dataKeys) > 0n ? [`${count(dataKeys)} of this database's data keys`] : []),
    ...(count(jobs) > 0n ? [`${count(jobs)} of its jobs that have not ended`] : []),
  ];
  return new OtherSecrets(
    `secrets.encryption_keys lacks the key ${lacking.join(", ")}, which seals ${sealed.join(" and ")}`,
    "put it behind the first of the list, or encryption-key back from the backup; patchbay secrets rotate tells what needs each key",
  );
}

/** Whatever is sealed from now on, here or elsewhere, all of them must be able to open. */
async function judgeRunningKeys(db: Reading, seal: Seal): Promise<OtherSecrets | null> {
  const running = await readRunningKeys(db);
  const strange = [...new Set(running.map(({ first }) => first))].filter((key) => !seal.keyIds.includes(key));
  if (strange.length > 0)
    return new OtherSecrets(
      `secrets.encryption_keys lacks the key ${strange.join(", ")}, which a process that runs now seals with`,
      "put it behind the first of the list",
    );
  const [first = ""] = seal.keyIds;
  const unaware = running.filter(({ known }) => !known.includes(first)).length;
  if (unaware === 0) return null;
  return new OtherSecrets(
    `secrets.encryption_keys begins with the key ${first}, and ${unaware === 1 ? "a process that runs" : `${unaware} processes that run`} now could not open what it seals`,
    "put it behind the key that is first there, restart every process, and only then put it in front: docs/operations.md, A new encryption key",
  );
}
