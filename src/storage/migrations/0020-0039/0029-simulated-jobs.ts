// Records at a job's submission whether the sandbox will serve it, because its attempts exist only after the call [jobs.simulated-mark]. Null in
// rows of older versions.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table jobs add column begins_simulated boolean").execute(db);
}
