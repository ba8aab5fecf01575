// Reads usage: the hourly or daily sums, and the attempts not yet included, in one statement so that none is missed or counted twice
// [usage.exact]. Billing classes are reported separately and never added up [usage.classes-separate].
import { type Kysely, sql } from "kysely";
import type { BillingClass } from "../../contract/billing-class.ts";
import type { AppId, KeyId, WorkspaceId } from "../../contract/ids.ts";
import type { UsageGroup } from "../../contract/usage.ts";
import type { Tables } from "../../storage/schema/tables.ts";
import { AMOUNT_NAMES, type Amounts, ATTEMPTS_AS_USAGE, beginningOf, DIMENSIONS, SUMS } from "./usage-amounts.ts";

export interface UsageRange {
  readonly from: Date;
  /** Exclusive. Both are at the start of a day, UTC. */
  readonly to: Date;
}

/** Null means all. Only the operator's queries name no workspace. */
export interface UsageScope {
  readonly workspaceId: WorkspaceId | null;
  readonly appId: AppId | null;
  readonly keyId: KeyId | null;
}

export type UsageRow = Amounts & { readonly billing_class: BillingClass } & {
  /** The requested groups. Times are `2026-11-21` and `2026-11-21T13:00:00.000Z`, UTC. */
  readonly [Group in UsageGroup]?: string | null;
};

/** The column to group by, and an expression to format it if needed. */
const GROUPS: { readonly [Group in UsageGroup]: readonly [by: string, format?: string] } = {
  workspace: ["workspace_id"],
  app: ["app_id"],
  key: ["key_id"],
  purpose: ["purpose"],
  provider: ["provider"],
  model: ["model"],
  capability: ["capability"],
  day: [beginningOf("day", "hour"), `to_char(%s at time zone 'UTC', 'YYYY-MM-DD')`],
  hour: ["hour", `to_char(%s at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`],
};
const TIMES: ReadonlySet<UsageGroup> = new Set(["day", "hour"]);

/** The day's column for rows of `usage_days`, which the query names `hour`. */
const DAY_COLUMN = "hour";

/** By time of settlement, without calls in progress. Newest first, at most `limit` rows. */
export async function readUsage(
  db: Kysely<Tables>,
  scope: UsageScope,
  { from, to }: UsageRange,
  groups: readonly UsageGroup[],
  limit: number,
): Promise<readonly UsageRow[]> {
  const isByHour = groups.includes("hour");
  const columnOf = (group: UsageGroup) => (group === "day" && !isByHour ? DAY_COLUMN : GROUPS[group][0]);
  const by = [...groups.map(columnOf), "billing_class"];
  const selected = groups.map((group) => {
    const [, format = "%s"] = GROUPS[group];
    return `${format.replace("%s", columnOf(group))} as "${group}"`;
  });
  const order = [
    ...groups.map((group) => `${columnOf(group)} ${TIMES.has(group) ? "desc" : "asc nulls first"}`),
    "billing_class",
  ];
  const columns = sql.raw([...DIMENSIONS, ...AMOUNT_NAMES].join(", "));
  const [table, period] = isByHour ? (["usage_hours", "hour"] as const) : (["usage_days", "day"] as const);
  const { rows } = await sql<UsageRow>`
    select ${sql.raw([...selected, "billing_class"].join(", "))}, ${SUMS}
    from (
      select ${sql.raw(period)} as hour, ${columns} from ${sql.raw(table)}
      where ${sql.raw(period)} >= ${from} and ${sql.raw(period)} < ${to} ${whereScope(scope)}
      union all
      select ${sql.raw(isByHour ? "hour" : beginningOf("day", "hour"))}, ${columns} from (${ATTEMPTS_AS_USAGE} where state = 'settled' and settled_at >= ${from} and settled_at < ${to}
        and settled_at >= (select rolled_until from usage_progress) ${whereScope(scope)}) as behind
    ) as used
    group by ${sql.raw(by.join(", "))} order by ${sql.raw(order.join(", "))} limit ${limit}`.execute(db);
  return rows;
}

/** Unsettled amounts of leases of crashed processes: counted as spent, without an attempt [metering.lease-crash]. */
export async function readUnresolvedLeases(
  db: Kysely<Tables>,
  scope: Omit<UsageScope, "keyId">,
  { from, to }: UsageRange,
): Promise<{ readonly nanoUsd: bigint; readonly tokens: bigint }> {
  const { rows } = await sql<{ nanoUsd: bigint; tokens: bigint }>`
    select coalesce(sum(granted_nano_usd - settled_nano_usd), 0)::bigint as "nanoUsd",
      coalesce(sum(granted_tokens - settled_tokens), 0)::bigint as tokens
    from budget_leases
    where unresolved and state = 'closed' and closed_at >= ${from} and closed_at < ${to} ${whereScope({ ...scope, keyId: null })}`.execute(
    db,
  );
  return rows[0] ?? { nanoUsd: 0n, tokens: 0n };
}

export async function readNow(db: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select patchbay_now() as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database did not say what time it is");
  return row.now;
}

function whereScope({ workspaceId, appId, keyId }: UsageScope) {
  const parts = [
    workspaceId === null ? null : sql`and workspace_id = ${workspaceId}`,
    appId === null ? null : sql`and app_id = ${appId}`,
    keyId === null ? null : sql`and key_id = ${keyId}`,
  ];
  return sql.join(
    parts.filter((part) => part !== null),
    sql` `,
  );
}
