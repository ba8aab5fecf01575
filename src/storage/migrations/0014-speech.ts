// Lists of what providers were to delete, page by page: of one workspace, and of everything that could not be deleted [admin.deletions].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create index provider_deletions_workspace on provider_deletions (workspace_id, id)`,
  `create index provider_deletions_failed on provider_deletions (id) where state = 'failed'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
