// Computes what a settled attempt counts for in usage, as SQL shared by the hourly sums and by reports on attempts that are not yet summed.
import { sql } from "kysely";

/** What counts against budgets: answers that were delivered, or produced for a caller who disconnected. */
const DELIVERED = "outcome in ('succeeded', 'aborted')";
const REPORTED = `${DELIVERED} and usage_source is distinct from 'estimated'`;
const ESTIMATED = `${DELIVERED} and usage_source = 'estimated'`;
/** The list price of the usage. A chat's estimate is an upper bound. */
const LIST_NANO_USD = `case when price ? 'nano_usd_per_million_input_tokens' and input_tokens is not null
  then floor(((price ->> 'nano_usd_per_million_input_tokens')::numeric * input_tokens
    + (price ->> 'nano_usd_per_million_output_tokens')::numeric * output_tokens + 500000) / 1000000)::bigint
  else estimate_nano_usd end`;

function where(condition: string, value = "1"): string {
  return `case when ${condition} then coalesce(${value}, 0) else 0 end`;
}

/** Maps columns of `usage_hours` to expressions on one row of `attempts`. */
const AMOUNT_OF_ATTEMPT = {
  attempts: "1",
  failed: where(`not (${DELIVERED})`),
  audio_ms: where(DELIVERED, "audio_ms"),
  billable_audio_ms: where(DELIVERED, "billable_audio_ms"),
  input_tokens: where(REPORTED, "input_tokens"),
  output_tokens: where(REPORTED, "output_tokens"),
  cached_input_tokens: where(REPORTED, "cached_input_tokens"),
  estimated_input_tokens: where(ESTIMATED, "input_tokens"),
  estimated_output_tokens: where(ESTIMATED, "output_tokens"),
  charge_nano_usd: "charge_nano_usd",
  list_nano_usd: where(DELIVERED, LIST_NANO_USD),
  unpriced: where(`${DELIVERED} and estimate_nano_usd is null`),
  unresolved: where("unresolved"),
} as const;

export type AmountName = keyof typeof AMOUNT_OF_ATTEMPT;
export type Amounts = { readonly [Name in AmountName]: bigint };
export const AMOUNT_NAMES = Object.keys(AMOUNT_OF_ATTEMPT) as readonly AmountName[];

/** What usage is grouped by in addition to the hour of settlement, which is used so that past hours never change. */
export const DIMENSIONS = [
  "workspace_id",
  "app_id",
  "key_id",
  "purpose",
  "provider",
  "model",
  "billing_class",
  "capability",
] as const;

/** The start of the hour or day in UTC. `date_trunc` with a time zone takes about 2 µs per row, most of the time of a report on 40,000 rows. */
export function beginningOf(period: "hour" | "day", column: string): string {
  return `date_bin('1 ${period}', ${column}, 'epoch'::timestamptz)`;
}

/** `attempts` as rows of `usage_hours`, one per attempt, not summed. */
export const ATTEMPTS_AS_USAGE = sql.raw(`select workspace_id, app_id, ${beginningOf("hour", "settled_at")} as hour,
  key_id, purpose, provider, model, billing_class,
  case when reserved_tokens > 0 then 'chat' else 'audio_input' end as capability,
  ${AMOUNT_NAMES.map((name) => `${AMOUNT_OF_ATTEMPT[name]} as ${name}`).join(", ")}
  from attempts`);

/** The sum of each amount, under its own name. */
export const SUMS = sql.raw(AMOUNT_NAMES.map((name) => `sum(${name})::bigint as ${name}`).join(", "));
