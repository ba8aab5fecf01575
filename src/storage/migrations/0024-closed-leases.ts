// Closed leases are found by age, to be deleted and to be reported in usage [metering.lease-retention]. The index of jobs whose provider
// still has to delete served nothing: those deletions are found in `provider_deletions`.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create index budget_leases_closed on budget_leases (closed_at) where state = 'closed'`,
  `drop index jobs_deletion`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
