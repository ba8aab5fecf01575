// Makes credit grants idempotent: repeated requests with one Idempotency-Key create one grant [budgets.credits-idempotent].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  "alter table credit_grants add column key_sha256 bytea",
  "create unique index credit_grants_key on credit_grants (workspace_id, key_sha256)",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
