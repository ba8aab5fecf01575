// Creates alerts: when each cause was last reported to each destination, and the deliveries. A destination is a hash of its owner and address: address and
// secret are in the configuration only. Rows without a workspace belong to the operator.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table alert_causes (
    destination text not null,
    cause text not null,
    workspace_id text references workspaces (id) on delete cascade,
    -- The newest occurrence that was reported.
    occurred_at timestamptz not null,
    -- Until then the cause is not reported again.
    quiet_until timestamptz not null,
    primary key (destination, cause)
  )`,
  `create index alert_causes_quiet on alert_causes (quiet_until)`,
  `create table alert_deliveries (
    id text primary key,
    workspace_id text references workspaces (id) on delete cascade,
    destination text not null,
    event text not null,
    body text not null,
    state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    attempts_made int not null default 0,
    next_attempt_at timestamptz not null default patchbay_now(),
    last_outcome text,
    last_status int,
    created_at timestamptz not null default patchbay_now(),
    finished_at timestamptz,
    check ((state = 'pending') = (finished_at is null))
  )`,
  `create index alert_deliveries_due on alert_deliveries (destination, next_attempt_at) where state = 'pending'`,
  `create index alert_deliveries_age on alert_deliveries (created_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
