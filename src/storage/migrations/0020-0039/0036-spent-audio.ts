// Records the audio of jobs that have ended, until it is deleted: a row for each transaction that ends jobs, instead of a mark on each job's row.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table spent_audio (
    id bigint generated always as identity primary key,
    -- Keys of the object store, of any workspace.
    keys text[] not null,
    ended_at timestamptz not null default patchbay_now()
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
