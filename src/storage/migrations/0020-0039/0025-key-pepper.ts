// Records the pepper that the database's keys were hashed with, in at most one row, and none before the first start [tenancy.pepper].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table key_pepper (
    id boolean primary key default true check (id),
    mark bytea not null,
    set_at timestamptz not null default patchbay_now()
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
