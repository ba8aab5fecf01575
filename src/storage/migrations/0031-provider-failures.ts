// What a provider said of its refusal, with the attempt (contract 10). Null in rows of before, and of processes from before that still run.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table attempts add column provider_failure jsonb").execute(db);
}
