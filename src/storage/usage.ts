// What attempts add up to (contract 9, 10): by day, purpose and model, and by who pays, which is never added together.
import { type Kysely, sql } from "kysely";
import type { RequestOwner } from "./requests.ts";
import type { Tables } from "./tables.ts";

export interface UsageRange {
  readonly from: Date;
  /** Not in it. */
  readonly to: Date;
}

export interface UsageRow {
  /** `2026-11-21`, UTC. */
  readonly day: string;
  readonly purpose: string | null;
  /** Null where models are not told apart. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly billing_class: "metered" | "provider_billed" | "simulated";
  readonly attempts: bigint;
  readonly failed: bigint;
  readonly audio_ms: bigint;
  readonly billable_audio_ms: bigint;
  readonly input_tokens: bigint;
  readonly output_tokens: bigint;
  readonly cached_input_tokens: bigint;
  readonly estimated_input_tokens: bigint;
  readonly estimated_output_tokens: bigint;
  readonly charge_nano_usd: bigint;
  readonly list_nano_usd: bigint;
  readonly unpriced: bigint;
  readonly unresolved: bigint;
}

/** What a budget counts: an answer that was delivered, or made for a caller who left. */
const DELIVERED = "outcome in ('succeeded', 'aborted')";
/** The list price of what was used. A chat's estimate is the most it could have used. */
const LIST_NANO_USD = `case when price ? 'nano_usd_per_million_input_tokens' and input_tokens is not null
  then floor(((price ->> 'nano_usd_per_million_input_tokens')::numeric * input_tokens
    + (price ->> 'nano_usd_per_million_output_tokens')::numeric * output_tokens + 500000) / 1000000)
  else estimate_nano_usd end`;

function total(what: string, condition = DELIVERED) {
  return sql.raw(`coalesce(sum(${what}) filter (where ${condition}), 0)::bigint`);
}

/** By day of the call's beginning; what is under way is not in it. */
export async function readUsage(
  db: Kysely<Tables>,
  owner: RequestOwner,
  { from, to }: UsageRange,
  byModel: boolean,
): Promise<readonly UsageRow[]> {
  const reported = `${DELIVERED} and usage_source is distinct from 'estimated'`;
  const estimated = `${DELIVERED} and usage_source = 'estimated'`;
  const model = sql.raw(byModel ? "provider, model" : "null::text as provider, null::text as model");
  const { rows } = await sql<UsageRow>`
    select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, purpose, ${model}, billing_class,
      count(*)::bigint as attempts, ${total("1", `not (${DELIVERED})`)} as failed,
      ${total("audio_ms")} as audio_ms, ${total("billable_audio_ms")} as billable_audio_ms,
      ${total("input_tokens", reported)} as input_tokens, ${total("output_tokens", reported)} as output_tokens,
      ${total("cached_input_tokens", reported)} as cached_input_tokens,
      ${total("input_tokens", estimated)} as estimated_input_tokens, ${total("output_tokens", estimated)} as estimated_output_tokens,
      ${total("charge_nano_usd", "true")} as charge_nano_usd, ${total(LIST_NANO_USD)} as list_nano_usd,
      ${total("1", `${DELIVERED} and estimate_nano_usd is null`)} as unpriced, ${total("1", "unresolved")} as unresolved
    from attempts
    where workspace_id = ${owner.workspaceId} and app_id = ${owner.appId} and state = 'settled'
      and created_at >= ${from} and created_at < ${to}
    group by 1, 2, 3, 4, 5 order by 1 desc, 2 nulls first, 5, 3, 4`.execute(db);
  return rows;
}

/** What leases of crashed processes held: counted as spent, on no attempt's record (contract 9). */
export async function readUnresolvedLeases(
  db: Kysely<Tables>,
  owner: RequestOwner,
  { from, to }: UsageRange,
): Promise<{ readonly nanoUsd: bigint; readonly tokens: bigint }> {
  const { rows } = await sql<{ nanoUsd: bigint; tokens: bigint }>`
    select coalesce(sum(granted_nano_usd - settled_nano_usd), 0)::bigint as "nanoUsd",
      coalesce(sum(granted_tokens - settled_tokens), 0)::bigint as tokens
    from budget_leases
    where workspace_id = ${owner.workspaceId} and app_id = ${owner.appId} and unresolved
      and closed_at >= ${from} and closed_at < ${to}`.execute(db);
  return rows[0] ?? { nanoUsd: 0n, tokens: 0n };
}

export async function readNow(db: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select patchbay_now() as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database did not say what time it is");
  return row.now;
}
