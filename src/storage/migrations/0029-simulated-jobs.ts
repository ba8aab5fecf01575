// Whether the sandbox is to serve a job, known from its submission on [jobs.simulated-mark]: its attempts exist only once it is called.
// Null in older rows, and in rows of older processes that still run.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table jobs add column begins_simulated boolean").execute(db);
}
