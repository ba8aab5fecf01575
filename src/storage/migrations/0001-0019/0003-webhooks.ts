// Creates completion webhooks: one receiver per workspace, its deliveries, and every attempt.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table webhooks (
    workspace_id text primary key references workspaces (id) on delete cascade,
    url text not null,
    enabled boolean not null,
    -- Raised by every change of its owner's: what an attempt under the old settings showed says nothing about the new ones.
    version int not null default 1,
    secret bytea not null,
    secret_last4 text not null,
    previous_secret bytea,
    previous_secret_until timestamptz,
    failing_since timestamptz,
    disabled_reason text check (disabled_reason in ('owner', 'gone', 'failing')),
    disabled_at timestamptz,
    created_at timestamptz not null default patchbay_now(),
    updated_at timestamptz not null default patchbay_now(),
    check ((previous_secret is null) = (previous_secret_until is null)),
    check (enabled = (disabled_reason is null) and enabled = (disabled_at is null))
  )`,
  // A delivery does not reference the webhook's settings, so that its log outlives them.
  `create table webhook_deliveries (
    id text primary key,
    workspace_id text not null references workspaces (id) on delete cascade,
    app_id text,
    event_id text not null,
    is_test boolean not null default false,
    job_id text not null,
    job_status text not null,
    occurred_at timestamptz not null,
    state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    -- Which attempt is due: a message of the queue that names another is out of date.
    turn int not null default 0,
    -- Since the event, or since the last redelivery by hand.
    attempts_made int not null default 0,
    attempts_total int not null default 0,
    next_attempt_at timestamptz,
    claimed_until timestamptz,
    ended_by text check (ended_by in ('attempts', 'gone', 'disabled', 'deleted')),
    created_at timestamptz not null default patchbay_now(),
    finished_at timestamptz,
    unique (workspace_id, event_id),
    check ((state = 'pending') = (finished_at is null) and (state = 'pending') = (next_attempt_at is not null)),
    check ((state = 'failed') = (ended_by is not null))
  )`,
  `create index webhook_deliveries_list on webhook_deliveries (workspace_id, id desc)`,
  `create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where state = 'pending'`,
  `create index webhook_deliveries_claimed on webhook_deliveries (workspace_id, claimed_until) where claimed_until is not null`,
  `create index webhook_deliveries_age on webhook_deliveries (created_at)`,
  `create table webhook_attempts (
    id text primary key,
    workspace_id text not null references workspaces (id) on delete cascade,
    delivery_id text not null references webhook_deliveries (id) on delete cascade,
    number int not null,
    started_at timestamptz not null,
    outcome text not null,
    status_code int,
    latency_ms int not null,
    response text,
    unique (delivery_id, number)
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
