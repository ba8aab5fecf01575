// Creates usage totals by hour and by day (retention.usage_days): sums of settled attempts, and how far they are rolled up. Reports now read
// the sums and the few later attempts, so the index of attempts by app is dropped.
import { type Kysely, sql } from "kysely";

/** For 1,000,000 attempts of 200 keys in 30 days, there are about 400,000 rows of hours and a tenth as many of days. */
const sums = (table: string, period: string) => [
  `create table ${table} (
    workspace_id text not null,
    app_id text not null,
    ${period} timestamptz not null,
    key_id text,
    purpose text,
    provider text not null,
    model text not null,
    billing_class text not null check (billing_class in ('metered', 'provider_billed', 'simulated')),
    capability text not null check (capability in ('audio_input', 'chat')),
    attempts bigint not null,
    failed bigint not null,
    audio_ms bigint not null,
    billable_audio_ms bigint not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    cached_input_tokens bigint not null,
    estimated_input_tokens bigint not null,
    estimated_output_tokens bigint not null,
    charge_nano_usd bigint not null,
    list_nano_usd bigint not null,
    unpriced bigint not null,
    unresolved bigint not null,
    constraint ${table}_once unique nulls not distinct
      (workspace_id, ${period}, app_id, key_id, purpose, provider, model, billing_class, capability)
  )`,
  `create index ${table}_app on ${table} (workspace_id, app_id, ${period})`,
  `create index ${table}_${period} on ${table} (${period})`,
];

const STATEMENTS = [
  ...sums("usage_hours", "hour"),
  ...sums("usage_days", "day"),
  // A single row: everything settled before `rolled_until` is in the sums. The time until `barrier_at` is next, once every transaction has
  // ended that could still settle attempts in it: those with an id up to `barrier_xid`.
  `create table usage_progress (
    id int primary key check (id = 1),
    rolled_until timestamptz not null,
    barrier_at timestamptz,
    barrier_xid xid8,
    check ((barrier_at is null) = (barrier_xid is null))
  )`,
  `insert into usage_progress (id, rolled_until) values (1, '-infinity')`,
  `create index attempts_settled on attempts (settled_at) where state = 'settled'`,
  `drop index attempts_app`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
