// Stored answers and job results whose encryption key a process does not have [tenancy.rotate-needed]: it starts, because they expire, and
// warns, because a retry or a poll that asks for one of them is an internal error until then.
import { sql } from "kysely";
import type { Database } from "./database.ts";
import type { Seal } from "./seal.ts";
import { installation } from "./system.ts";

/** What expires first was sealed by a key that was taken out too early, what expires last by one that came after: all would be millions. */
const LOOKED_AT = sql.lit(100);

/** Names of the keys, as sealed bytes have them. */
export async function findUnreadableAnswers(
  database: Pick<Database, "db">,
  seal: Pick<Seal, "keyIds">,
): Promise<readonly string[]> {
  const { db } = installation(database);
  const ends = ["asc", "desc"].flatMap((order) => [
    sql`(select encode(substring(body from 2 for 4), 'hex') as key from idempotency_slots where body is not null
      and expires_at > patchbay_now() order by expires_at ${sql.raw(order)} limit ${LOOKED_AT})`,
    sql`(select encode(substring(result from 2 for 4), 'hex') as key from jobs where result is not null and purged_at is null
      and expires_at > patchbay_now() order by expires_at ${sql.raw(order)} limit ${LOOKED_AT})`,
  ]);
  const { rows } = await sql<{
    key: string;
  }>`select distinct key from (${sql.join(ends, sql` union all `)}) as ends`.execute(db);
  return rows.map(({ key }) => key).filter((key) => !seal.keyIds.includes(key));
}

/** Of those keys. */
export const OUT_OF_REACH = {
  message: (keys: readonly string[]) =>
    `secrets.encryption_keys lacks the key ${keys.join(", ")}, which stored answers and job results are sealed with: they cannot be given until they expire`,
  fix: "put it behind the first of the list until `patchbay secrets rotate` says that nothing needs it",
};
