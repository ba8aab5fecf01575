// Finds stored answers and job results with an encryption key that this process lacks [tenancy.rotate-needed]. The process starts, because they will
// expire, but warns, because a retry or poll that needs one of them fails with an internal error until then.
import { sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";
import type { Seal } from "../../storage/secrets/seal.ts";

/** Rows to check at each end: the first to expire show a key removed too early, the last show a newer key. Checking all could mean millions. */
const SAMPLE_SIZE = sql.lit(100);

/** Returns the missing keys' ids, in the form of `Seal.keyIds`. */
export async function findUnreadableAnswers(db: SystemHandle, seal: Pick<Seal, "keyIds">): Promise<readonly string[]> {
  const ends = ["asc", "desc"].flatMap((order) => [
    sql`(select encode(substring(body from 2 for 4), 'hex') as key from idempotency_slots where body is not null
      and expires_at > patchbay_now() order by expires_at ${sql.raw(order)} limit ${SAMPLE_SIZE})`,
    sql`(select encode(substring(result from 2 for 4), 'hex') as key from jobs where result is not null and purged_at is null
      and expires_at > patchbay_now() order by expires_at ${sql.raw(order)} limit ${SAMPLE_SIZE})`,
  ]);
  const { rows } = await sql<{
    key: string;
  }>`select distinct key from (${sql.join(ends, sql` union all `)}) as ends`.execute(db);
  return rows.map(({ key }) => key).filter((key) => !seal.keyIds.includes(key));
}

/** The warning for those keys. */
export const OUT_OF_REACH = {
  message: (keys: readonly string[]) =>
    `secrets.encryption_keys lacks the key ${keys.join(", ")}, which stored answers and job results are sealed with: they cannot be given until they expire`,
  fix: "put it behind the first of the list until `patchbay secrets rotate` says that nothing needs it",
};
