// What a provider answered when it refused, with the attempt [requests.provider-error]. Null in older rows, and in rows of older processes
// that still run.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table attempts add column provider_failure jsonb").execute(db);
}
