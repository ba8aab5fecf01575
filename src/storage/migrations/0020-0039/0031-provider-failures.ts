// Stores a provider's error response with the attempt [requests.provider-error]. Null in rows of older versions.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table attempts add column provider_failure jsonb").execute(db);
}
