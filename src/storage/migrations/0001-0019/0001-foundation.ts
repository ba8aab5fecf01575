// Creates workspaces, keys, routing, prices, budgets, idempotency slots and the ledger of attempts.
import { type Kysely, sql } from "kysely";

// Separate statements, because version 0.1.0's embedded engine accepted only one at a time.
const STATEMENTS = [
  // Every statement reads the time from this function, so that tests can shift it. The server inlines the call.
  `create function patchbay_now() returns timestamptz language sql stable parallel safe as $$ select now() $$`,
  `create table workspaces (
    id text primary key,
    slug text not null unique,
    plan text,
    managed_by text not null,
    created_at timestamptz not null default patchbay_now()
  )`,
  `create table apps (
    id text primary key,
    workspace_id text not null references workspaces (id) on delete cascade,
    slug text not null,
    name text not null,
    settings jsonb not null default '{}',
    managed_by text not null,
    created_at timestamptz not null default patchbay_now(),
    unique (workspace_id, slug)
  )`,
  `create table api_keys (
    id text primary key,
    workspace_id text not null references workspaces (id) on delete cascade,
    app_id text references apps (id) on delete cascade,
    name text not null,
    role text not null check (role in ('member', 'admin', 'operator')),
    scopes text[] not null default '{}',
    prefix text not null,
    last4 text not null,
    secret_hash bytea not null unique,
    settings jsonb not null default '{}',
    managed_by text not null,
    created_at timestamptz not null default patchbay_now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
  )`,
  `create index api_keys_workspace on api_keys (workspace_id)`,
  `create index api_keys_app on api_keys (app_id)`,
  `create table connections (
    scope text not null,
    id text not null,
    kind text not null,
    base_url text,
    credential bytea,
    settings jsonb not null default '{}',
    managed_by text not null,
    updated_at timestamptz not null default patchbay_now(),
    primary key (scope, id)
  )`,
  `create table routes (
    scope text not null,
    id text not null,
    definition jsonb not null,
    version int not null default 1,
    managed_by text not null,
    updated_at timestamptz not null default patchbay_now(),
    primary key (scope, id)
  )`,
  `create table prices (
    provider text not null,
    model text not null,
    definition jsonb not null,
    primary key (provider, model)
  )`,
  `create table budgets (
    id text primary key,
    workspace_id text not null references workspaces (id) on delete cascade,
    app_id text not null references apps (id) on delete cascade,
    period text not null check (period in ('day', 'month', 'total')),
    limit_nano_usd bigint check (limit_nano_usd >= 0),
    limit_audio_seconds numeric check (limit_audio_seconds >= 0),
    limit_tokens bigint check (limit_tokens >= 0),
    soft_limit numeric check (soft_limit > 0 and soft_limit <= 1),
    managed_by text not null
  )`,
  `create index budgets_app on budgets (app_id)`,
  // The checks reject negative amounts, so that money that is refunded twice fails here.
  `create table budget_windows (
    budget_id text not null references budgets (id) on delete cascade,
    window_start timestamptz not null,
    spent_nano_usd bigint not null default 0 check (spent_nano_usd >= 0),
    reserved_nano_usd bigint not null default 0 check (reserved_nano_usd >= 0),
    spent_audio_ms bigint not null default 0 check (spent_audio_ms >= 0),
    reserved_audio_ms bigint not null default 0 check (reserved_audio_ms >= 0),
    primary key (budget_id, window_start)
  )`,
  `create table idempotency_slots (
    app_id text not null,
    key_sha256 bytea not null,
    workspace_id text not null,
    endpoint text not null,
    fingerprint bytea not null,
    state text not null check (state in ('reserved', 'dispatched', 'completed', 'burned')),
    owner text not null,
    lease_until timestamptz not null,
    status int,
    headers jsonb,
    body bytea,
    created_at timestamptz not null default patchbay_now(),
    expires_at timestamptz not null,
    primary key (app_id, key_sha256),
    check ((state = 'completed') = (body is not null and status is not null and headers is not null))
  )`,
  `create index idempotency_slots_expiry on idempotency_slots (expires_at)`,
  `create index idempotency_slots_lease on idempotency_slots (lease_until) where state in ('reserved', 'dispatched')`,
  // No foreign keys: attempts outlive apps and keys, so that spending stays on record.
  `create table attempts (
    id text primary key,
    request_id text not null,
    workspace_id text not null,
    app_id text not null,
    key_id text,
    endpoint text not null,
    connection text not null,
    provider text not null,
    model text not null,
    position int not null,
    billing_class text not null check (billing_class in ('metered', 'provider_billed', 'simulated')),
    audio_ms bigint not null check (audio_ms >= 0),
    reserved_nano_usd bigint not null check (reserved_nano_usd >= 0),
    estimate_nano_usd bigint,
    price jsonb,
    windows jsonb not null default '[]',
    state text not null default 'open' check (state in ('open', 'settled')),
    deadline_at timestamptz not null,
    created_at timestamptz not null default patchbay_now(),
    settled_at timestamptz,
    outcome text,
    unresolved boolean not null default false,
    provider_ms bigint,
    provider_seconds_flag boolean not null default false,
    billable_audio_ms bigint,
    charge_nano_usd bigint,
    provider_request_id text,
    receipts jsonb,
    check (charge_nano_usd <= reserved_nano_usd),
    check ((state = 'settled') = (settled_at is not null and outcome is not null and charge_nano_usd is not null))
  )`,
  `create index attempts_request on attempts (request_id)`,
  `create index attempts_app on attempts (workspace_id, app_id, created_at)`,
  `create index attempts_open on attempts (deadline_at) where state = 'open'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
