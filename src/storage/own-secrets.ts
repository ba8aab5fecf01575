// Whether a process has the secrets that its database was used with (contract 10). With another pepper it would know no key, make those
// of the file anew and revoke them for all other processes; without an encryption key it could open nothing of that key's. It is refused.
import { type Kysely, sql } from "kysely";
import type { Transacting } from "./database.ts";
import { isOtherPepper, keepPepper } from "./key-pepper.ts";
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

/** Null: they are the database's, or may become it. */
export async function judgeSecrets(
  db: Pick<Kysely<Tables>, "selectFrom">,
  { pepper, seal }: OwnSecrets,
): Promise<OtherSecrets | null> {
  if (await isOtherPepper(db, pepper))
    return new OtherSecrets(
      "secrets.key_pepper is not the one that this database's API keys were made with: it would know none of them",
      "set the one that the other processes have, or put key-pepper back from the backup; if every key shall end: patchbay secrets replace-pepper",
    );
  const needed = await db
    .selectFrom("data_keys")
    .select([sql<string>`encode(substring(wrapped from 2 for 4), 'hex')`.as("key"), sql<bigint>`count(*)`.as("count")])
    .groupBy(sql`1`)
    .execute();
  const missing = needed.filter(({ key }) => !seal.keyIds.includes(key));
  if (missing.length === 0) return null;
  const count = missing.reduce((sum, each) => sum + each.count, 0n);
  return new OtherSecrets(
    `secrets.encryption_keys lacks the key ${missing.map(({ key }) => key).join(", ")}, which seals ${count} of this database's data keys`,
    "put it behind the first of the list, or encryption-key back from the backup; patchbay secrets rotate tells what needs each key",
  );
}

/** Throws `OtherSecrets`. The first pepper is the database's, and so is any other until there is a key. Under `lockDirectory`. */
export async function requireOwnSecrets(tx: Transacting, own: OwnSecrets): Promise<void> {
  const fault = await judgeSecrets(tx, own);
  if (fault !== null) throw fault;
  await keepPepper(tx, own.pepper);
}
