// A window that reaches its budget's soft limit is logged once, by whichever process sees it first [budgets.soft-limit-log].
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table budget_windows add column soft_limit_told_at timestamptz").execute(db);
}
