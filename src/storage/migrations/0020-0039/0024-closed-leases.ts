// Indexes closed leases by age, for their deletion and for usage reports [metering.lease-retention]. Drops the index of jobs with pending
// deletions, which are found in `provider_deletions`.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create index budget_leases_closed on budget_leases (closed_at) where state = 'closed'`,
  `drop index jobs_deletion`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
