// Creates the shared quota counts: what several processes have allocated of a key's or an app's quota [quotas.exact].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table quota_counts (
    workspace_id text not null references workspaces (id) on delete cascade,
    holder_id text not null,
    unit text not null check (unit in ('requests', 'audio', 'tokens', 'concurrent')),
    state jsonb not null,
    updated_at timestamptz not null default patchbay_now(),
    primary key (holder_id, unit)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
