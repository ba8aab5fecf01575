// Marks budget windows whose soft limit was reported, so that the first process that notices logs it once [budgets.soft-limit-log].
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table budget_windows add column soft_limit_told_at timestamptz").execute(db);
}
