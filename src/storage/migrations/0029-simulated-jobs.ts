// Whether the sandbox is to serve a job, told from its submission on: its attempts tell no sooner than it is called (contract 5).
// Null in rows of before, and of processes from before that still run.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table jobs add column begins_simulated boolean").execute(db);
}
