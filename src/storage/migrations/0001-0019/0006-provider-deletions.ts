// Creates the queue of deletions at providers that still store a recording (`provider_deletion`) [jobs.deletion-durable]. No foreign keys: a
// deletion outlives its request, job and workspace.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table provider_deletions (
    id text primary key,
    workspace_id text not null,
    app_id text not null,
    subject text not null,
    account text not null,
    provider text not null,
    test_mode boolean not null,
    run jsonb not null,
    state text not null default 'pending' check (state in ('pending', 'done', 'failed')),
    attempts int not null default 0,
    next_at timestamptz not null,
    last_failure text,
    created_at timestamptz not null default patchbay_now(),
    finished_at timestamptz,
    check ((state = 'pending') = (finished_at is null))
  )`,
  `create index provider_deletions_due on provider_deletions (next_at) where state = 'pending'`,
  `create index provider_deletions_subject on provider_deletions (workspace_id, subject)`,
  `create index provider_deletions_finished on provider_deletions (state, finished_at) where state <> 'pending'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
