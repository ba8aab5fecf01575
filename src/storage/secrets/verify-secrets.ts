// Refuses to run a process without the secrets that its database is used with [tenancy.pepper] [tenancy.rotate-needed]. With another pepper it would
// recreate the file's API keys and revoke them for all other processes, and with other encryption keys it and the other processes could not
// open what the other side seals.
import { type Kysely, sql } from "kysely";
import type { SystemTransaction } from "../database.ts";
import { isOtherPepper, storePepper } from "./key-pepper.ts";
import { readRunningKeys } from "./running-keys.ts";
import type { Seal } from "./seal.ts";
import type { Tables } from "../schema/tables.ts";

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

/** Null: the secrets are the database's, or may become them. */
export async function compareSecrets(db: Reading, { pepper, seal }: OwnSecrets): Promise<OtherSecrets | null> {
  if (await isOtherPepper(db, pepper))
    return new OtherSecrets(
      "secrets.key_pepper is not the one that this database's API keys were made with: it would know none of them",
      "set the one that the other processes have, or put key-pepper back from the backup; if every key shall end: patchbay secrets replace-pepper",
    );
  return (await findMissingKeys(db, seal)) ?? (await compareRunningKeys(db, seal));
}

/** Throws `OtherSecrets`. Stores the pepper if the database has no API keys yet. The caller holds `lockDirectory`. */
export async function requireKnownSecrets(tx: SystemTransaction, own: OwnSecrets): Promise<void> {
  const fault = await compareSecrets(tx, own);
  if (fault !== null) throw fault;
  await storePepper(tx, own.pepper);
}

/** Neither resolves itself: a data key never expires, and a job with a request that cannot be opened is not processed before its deadline. */
async function findMissingKeys(db: Reading, seal: Seal): Promise<OtherSecrets | null> {
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
    // A damaged request names no key, and must not prevent a start.
    .where(sql<boolean>`substring(request from 1 for 1) = '\\x01'::bytea`)
    .where("deadline_at", ">", sql<Date>`patchbay_now()`)
    .where(keyOf("request"), "not in", seal.keyIds)
    .groupBy(sql`1`)
    .execute();
  const missingKeys = [...new Set([...dataKeys, ...jobs].map(({ key }) => key))];
  if (missingKeys.length === 0) return null;
  const count = (rows: typeof jobs) => rows.reduce((sum, each) => sum + each.count, 0n);
  const sealed = [
    ...(count(dataKeys) > 0n ? [`${count(dataKeys)} of this database's data keys`] : []),
    ...(count(jobs) > 0n ? [`${count(jobs)} of its jobs that have not ended`] : []),
  ];
  return new OtherSecrets(
    `secrets.encryption_keys lacks the key ${missingKeys.join(", ")}, which seals ${sealed.join(" and ")}`,
    "add it after the first of the list, or restore encryption-key from the backup; patchbay secrets rotate reports what needs each key",
  );
}

/** Every running process must be able to open what this process seals, and this process what they seal. */
async function compareRunningKeys(db: Reading, seal: Seal): Promise<OtherSecrets | null> {
  const processes = await readRunningKeys(db);
  const unknownKeys = [...new Set(processes.map(({ first }) => first))].filter((key) => !seal.keyIds.includes(key));
  if (unknownKeys.length > 0)
    return new OtherSecrets(
      `secrets.encryption_keys lacks the key ${unknownKeys.join(", ")}, which a process that runs now seals with`,
      "put it behind the first of the list",
    );
  const [first = ""] = seal.keyIds;
  const unawareCount = processes.filter(({ known }) => !known.includes(first)).length;
  if (unawareCount === 0) return null;
  return new OtherSecrets(
    `secrets.encryption_keys begins with the key ${first}, and ${unawareCount === 1 ? "a process that runs" : `${unawareCount} processes that run`} now could not open what it seals`,
    "put it behind the key that is first there, restart every process, and only then put it in front: docs/operations.md, A new encryption key",
  );
}
