// Adds chat: tokens in budgets and attempts, budget leases, and plans.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  // A plan's grants are budgets of the whole workspace: `allowance` in tokens per month, `credits` in money without a period.
  `alter table budgets alter column app_id drop not null`,
  `alter table budgets add column kind text not null default 'budget' check (kind in ('budget', 'allowance', 'credits'))`,
  `alter table budgets add constraint budgets_owner check ((kind = 'budget') = (app_id is not null))`,
  `create index budgets_workspace on budgets (workspace_id) where kind <> 'budget'`,
  `alter table budget_windows
    add column spent_tokens bigint not null default 0 check (spent_tokens >= 0),
    add column reserved_tokens bigint not null default 0 check (reserved_tokens >= 0)`,
  `alter table attempts
    add column reserved_tokens bigint not null default 0 check (reserved_tokens >= 0),
    add column input_tokens bigint check (input_tokens >= 0),
    add column output_tokens bigint check (output_tokens >= 0),
    add column cached_input_tokens bigint check (cached_input_tokens >= 0),
    add column usage_source text check (usage_source in ('reported', 'estimated')),
    add column lease_id text`,
  `create table plans (
    id text primary key,
    monthly_chat_tokens bigint not null check (monthly_chat_tokens >= 0),
    credits_nano_usd bigint not null check (credits_nano_usd >= 0),
    managed_by text not null
  )`,
  // A slice of an app's budgets that one process holds and spends in memory. The rest of a lease that a crash leaves counts as spent, unresolved.
  `create table budget_leases (
    id text primary key,
    workspace_id text not null,
    app_id text not null,
    funding text not null check (funding in ('none', 'allowance', 'credits')),
    holder text not null,
    granted_nano_usd bigint not null check (granted_nano_usd >= 0),
    granted_tokens bigint not null check (granted_tokens >= 0),
    settled_nano_usd bigint not null default 0 check (settled_nano_usd >= 0),
    settled_tokens bigint not null default 0 check (settled_tokens >= 0),
    windows jsonb not null,
    state text not null default 'open' check (state in ('open', 'closed')),
    lease_until timestamptz not null,
    created_at timestamptz not null default patchbay_now(),
    closed_at timestamptz,
    unresolved boolean not null default false,
    check (settled_nano_usd <= granted_nano_usd and settled_tokens <= granted_tokens),
    check ((state = 'closed') = (closed_at is not null))
  )`,
  `create index budget_leases_open on budget_leases (lease_until) where state = 'open'`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
