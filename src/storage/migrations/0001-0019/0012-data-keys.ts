// Creates data keys of workspaces: a workspace's secrets are sealed with its own key, which the key ring wraps [tenancy.data-keys].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table data_keys (
    -- 'platform' or a workspace's id.
    scope text not null,
    version int not null check (version > 0),
    wrapped bytea not null,
    created_at timestamptz not null default patchbay_now(),
    primary key (scope, version)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
