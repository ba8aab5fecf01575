// That a window has come to its budget's soft limit is told once, whichever process sees it first (contract 9).
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table budget_windows add column soft_limit_told_at timestamptz").execute(db);
}
