// Indexes jobs and deliveries for administrators' lists, newest first and by state [admin.jobs] [admin.deliveries]. Most rows are successes,
// which a scan in order of ids finds quickly, so the indexes by state exclude them.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create index jobs_workspace on jobs (workspace_id, id)`,
  `create index jobs_workspace_status on jobs (workspace_id, status, id) where status <> 'succeeded'`,
  `create index jobs_status on jobs (status, id) where status <> 'succeeded'`,
  `create index webhook_deliveries_state on webhook_deliveries (state, id) where state <> 'delivered'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
