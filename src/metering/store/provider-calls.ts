// Summarizes recent calls of all processes to providers: by account, model and outcome, with the latest of each [admin.health]. Reads settled
// attempts, newest first by their index, up to the caller's limit.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../../storage/schema/tables.ts";

export interface CallsQuestion {
  readonly minutes: number;
  /** Maximum number of calls to read. */
  readonly maxCalls: number;
  /** How many of the latest calls are returned per group. */
  readonly latest: number;
  /** Prefix of test keys: the sandbox answers their calls. */
  readonly testPrefix: string;
  /** Endpoints with durations that do not measure the provider: live audio includes the time of speaking, a job its waiting time. */
  readonly untimedEndpoints: readonly string[];
}

export interface RecentCalls {
  readonly since: Date;
  /** Whether `since` is later than requested, because there were more calls than the limit. */
  readonly isCut: boolean;
  readonly groups: readonly CallGroup[];
}

export interface CallGroup {
  /** Scope of the account: `platform` or a workspace's id. */
  readonly scope: string;
  readonly connection: string;
  readonly provider: string;
  readonly model: string;
  readonly outcome: string;
  readonly calls: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  /** The latest call first. */
  readonly latest: readonly LatestCall[];
}

export interface LatestCall {
  readonly at_ms: number;
  readonly duration_ms: number;
  readonly request_id: string;
  readonly attempt_id: string;
}

/** Outcomes that do not depend on the provider: calls that were never sent, and answers that were not used. */
const NOT_OF_PROVIDER = sql.raw("('failed:cancelled', 'failed:not_called', 'failed:not_delivered')");

/**
 * The attempt does not record the account's scope. A workspace's own connection takes precedence over a shared one of the same id, and only
 * shared ones are metered.
 */
const SCOPE = sql`case when billing_class = 'metered' or own.id is null and shared.id is not null then 'platform' else newest.workspace_id end`;

/**
 * 5,000 calls take the server about 25 ms of CPU, however many more exist. Calls are sorted by the number of their group instead of its five texts.
 */
export async function readRecentCalls(
  db: Kysely<Tables>,
  { minutes, maxCalls, latest, testPrefix, untimedEndpoints }: CallsQuestion,
): Promise<RecentCalls> {
  const { rows } = await sql<{ since: Date; is_cut: boolean } & (CallGroup | { connection: null })>`
    with newest as materialized (
      select id as attempt_id, request_id, workspace_id, key_id, connection, provider, model, billing_class, outcome, unresolved, settled_at,
        endpoint in (${sql.join(untimedEndpoints)}) as is_untimed, greatest(0, extract(epoch from settled_at - created_at) * 1000)::float8 as ms
      from attempts where state = 'settled' and settled_at >= patchbay_now() - ${minutes}::int * interval '1 minute'
      order by settled_at desc limit ${maxCalls}
    ), of_providers as materialized (
      select ${SCOPE} as scope, connection, provider, model, outcome, settled_at, is_untimed, ms, request_id, attempt_id
      from newest
        left join connections as own on own.scope = newest.workspace_id and own.id = connection
        left join connections as shared on shared.scope = 'platform' and shared.id = connection
      where not unresolved and outcome not in ${NOT_OF_PROVIDER}
        and (billing_class <> 'simulated'
          or (provider = 'sandbox' and (key_id is null or key_id not in (select id from api_keys where prefix = ${testPrefix}))))
    ), kinds as materialized (
      select row_number() over () as kind, *
      from (select distinct scope, connection, provider, model, outcome from of_providers) as every_kind
    ), calls as materialized (
      select kind, outcome not in ('succeeded', 'aborted') as is_error, settled_at, is_untimed, ms, request_id, attempt_id
      from of_providers join kinds using (scope, connection, provider, model, outcome)
    ), figures as (
      select kind, count(*)::int as calls,
        percentile_cont(0.5) within group (order by ms) filter (where not is_untimed) as p50_ms,
        percentile_cont(0.95) within group (order by ms) filter (where not is_untimed) as p95_ms
      from calls group by kind
    ), errors as (
      select kind, jsonb_agg(jsonb_build_object('at_ms', floor(extract(epoch from settled_at) * 1000), 'duration_ms', round(ms),
        'request_id', request_id, 'attempt_id', attempt_id) order by place) as latest
      from (select *, row_number() over (partition by kind order by settled_at desc, attempt_id desc) as place
        from calls where is_error) as placed
      where place <= ${latest} group by kind
    ), sample as (
      select case when count(*) = ${maxCalls} then min(settled_at) else patchbay_now() - ${minutes}::int * interval '1 minute' end as since,
        count(*) = ${maxCalls} as is_cut
      from newest
    )
    select since, is_cut, scope, connection, provider, model, outcome, calls, p50_ms, p95_ms, coalesce(latest, '[]') as latest
    from sample left join (kinds join figures using (kind) left join errors using (kind)) on true`.execute(db);
  const groups = rows.filter((row): row is typeof row & CallGroup => row.connection !== null);
  const [{ since, is_cut: isCut } = { since: new Date(), is_cut: false }] = rows;
  return { since, isCut, groups };
}
