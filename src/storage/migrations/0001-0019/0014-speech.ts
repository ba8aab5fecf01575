// Indexes the lists of provider deletions: those of one workspace, and all that failed [admin.deletions].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create index provider_deletions_workspace on provider_deletions (workspace_id, id)`,
  `create index provider_deletions_failed on provider_deletions (id) where state = 'failed'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
