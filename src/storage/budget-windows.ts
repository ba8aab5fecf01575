// Budgets and what their windows hold (contract 9). Whoever changes a window holds its budget's row, taken in id order.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import { LAST, PREPARED } from "./prepared.ts";
import type { Tables } from "./tables.ts";

type Handle = Kysely<Tables>;

/** Whose budgets: the app's, and what its workspace's plan pays from where that is asked. */
export interface AppOf {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly funding?: "none" | "allowance" | "credits" | undefined;
}

export interface BudgetRow {
  readonly id: string;
  readonly workspace_id: string;
  /** Null for what belongs to the whole workspace. */
  readonly app_id: string | null;
  readonly kind: "budget" | "allowance" | "credits";
  readonly period: "day" | "month" | "total";
  readonly limit_nano_usd: bigint | null;
  readonly limit_audio_seconds: string | null;
  readonly limit_tokens: bigint | null;
  /** The database's clock. */
  readonly now: Date;
}

export interface WindowKey {
  readonly budgetId: string;
  readonly windowStart: Date;
}

export interface WindowRow {
  readonly budget_id: string;
  readonly spent_nano_usd: bigint;
  readonly reserved_nano_usd: bigint;
  readonly spent_audio_ms: bigint;
  readonly reserved_audio_ms: bigint;
  readonly spent_tokens: bigint;
  readonly reserved_tokens: bigint;
}

/** Money in nano-USD, audio in milliseconds. */
export interface WindowAmounts {
  readonly spentNanoUsd: bigint;
  readonly reservedNanoUsd: bigint;
  readonly spentAudioMs: bigint;
  readonly reservedAudioMs: bigint;
  readonly spentTokens: bigint;
  readonly reservedTokens: bigint;
}

export interface WindowChange extends WindowKey, WindowAmounts {}

/** What else `sum` says stays. */
export function addAmounts<Sum extends WindowAmounts>(sum: Sum, more: WindowAmounts): Sum {
  return {
    ...sum,
    spentNanoUsd: sum.spentNanoUsd + more.spentNanoUsd,
    reservedNanoUsd: sum.reservedNanoUsd + more.reservedNanoUsd,
    spentAudioMs: sum.spentAudioMs + more.spentAudioMs,
    reservedAudioMs: sum.reservedAudioMs + more.reservedAudioMs,
    spentTokens: sum.spentTokens + more.spentTokens,
    reservedTokens: sum.reservedTokens + more.reservedTokens,
  };
}

/** Of one window, for sets and maps. */
export function windowId({ budgetId, windowStart }: WindowKey): string {
  return `${budgetId} ${windowStart.toISOString()}`;
}

export async function readBudgets(db: Handle, apps: readonly AppOf[]): Promise<readonly BudgetRow[]> {
  return (await selectBudgets(apps, [], sql``).execute(db)).rows;
}

/**
 * Held to the end of the transaction: reservations on one app's budgets happen one after another, on every process. `ids`: of others,
 * held along with them.
 */
export async function lockBudgetsOf(
  tx: Handle,
  apps: readonly AppOf[],
  ids: readonly string[] = [],
): Promise<readonly BudgetRow[]> {
  return (await selectBudgets(apps, ids, sql`for update of b`).execute(tx)).rows;
}

/** Budgets that are held, and what their windows hold. */
export interface HeldWindows {
  readonly rows: readonly BudgetRow[];
  readonly windows: readonly WindowRow[];
}

/**
 * The same, with what their windows hold now, in one statement: of windows that another transaction is changing it waits for the outcome.
 * Null: one of them has no window yet, and nothing is to be concluded.
 */
export async function holdBudgets(tx: Handle, apps: readonly AppOf[]): Promise<HeldWindows | null> {
  const { rows } = await sql<HeldRow>`${PREPARED} with ${holding(apps)}
    select ${HELD} from ${COUNTED} left join held on true order by held.id`.execute(tx);
  return allHeld(rows);
}

/** A row for each budget that is held, or one that tells only how many are `wanted`. */
export type HeldRow = { readonly wanted: bigint } & (BudgetAndWindow | { readonly id: null });
type BudgetAndWindow = BudgetRow & WindowRow;

/** Parts of a `with`: `asked`, the budgets of these apps and those that `more` names, and `held`, those of them that have a window. */
export function holding(apps: readonly AppOf[], more: RawBuilder<unknown> | null = null): RawBuilder<unknown> {
  const ways = [...waysTo(apps, []), ...(more === null ? [] : [more])];
  return sql`asked as materialized (${sql.join(ways, sql` union all `)}),
      held as materialized (select ${BUDGET_COLUMNS}, ${WINDOW_COLUMNS}
        from budgets b join budget_windows w on w.budget_id = b.id and w.window_start = case b.period when 'total' then 'epoch'::timestamptz
          else date_trunc(b.period, patchbay_now(), 'UTC') end
        where b.id in (select id from asked) order by b.id for update of b, w)`;
}

/** Of statements with `holding` parts. */
export const COUNTED = sql`(select count(*) as wanted from budgets where id in (select id from asked)) as counted`;
export const HELD = sql`counted.wanted, held.*`;

export function allHeld(rows: readonly HeldRow[]): HeldWindows | null {
  const held = rows.filter((row) => row.id !== null);
  return BigInt(held.length) === rows[0]?.wanted ? { rows: held, windows: held } : null;
}

const BUDGET_COLUMNS = sql.raw(
  "b.id, b.workspace_id, b.app_id, b.kind, b.period, b.limit_nano_usd, b.limit_audio_seconds, b.limit_tokens, patchbay_now() as now",
);
const WINDOW_COLUMNS = sql.raw(
  "w.budget_id, w.spent_nano_usd, w.reserved_nano_usd, w.spent_audio_ms, w.reserved_audio_ms, w.spent_tokens, w.reserved_tokens",
);

function selectBudgets(apps: readonly AppOf[], ids: readonly string[], locking: ReturnType<typeof sql>) {
  return sql<BudgetRow>`${PREPARED}
    select ${BUDGET_COLUMNS} from budgets b where b.id in (${sql.join(waysTo(apps, ids), sql` union all `)}) order by b.id ${locking}`;
}

/** Each way to a budget by an index of its own, and none that nobody asked for. */
function waysTo(apps: readonly AppOf[], ids: readonly string[]) {
  return [
    ...(ids.length === 0 ? [] : [sql`select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb) as id`]),
    ...(apps.length === 0 ? [] : [ownBudgets(apps)]),
    ...(apps.some((app) => app.funding !== undefined && app.funding !== "none") ? [planBudgets(apps)] : []),
  ];
}

function ownBudgets(apps: readonly AppOf[]) {
  const asked = apps.map(({ workspaceId, appId }) => ({ workspace_id: workspaceId, app_id: appId }));
  return sql`select own.id from budgets own join jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as asked (workspace_id text, app_id text)
    on own.app_id = asked.app_id and own.workspace_id = asked.workspace_id`;
}

function planBudgets(apps: readonly AppOf[]) {
  const asked = apps.map(({ workspaceId, funding }) => ({ workspace_id: workspaceId, kind: funding }));
  return sql`select of_plan.id from budgets of_plan join jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as asked (workspace_id text, kind text)
    on of_plan.kind <> 'budget' and of_plan.workspace_id = asked.workspace_id and of_plan.kind = asked.kind`;
}

export async function lockBudgets(tx: Handle, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`${PREPARED} select id from budgets where id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)) order by id for update`.execute(
    tx,
  );
}

export async function readWindows(db: Handle, keys: readonly WindowKey[]): Promise<readonly WindowRow[]> {
  if (keys.length === 0) return [];
  const list = keys.map(windowKeyJson);
  const { rows } = await sql<WindowRow>`${PREPARED}
    select ${WINDOW_COLUMNS} from budget_windows w join jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as asked (budget_id text, window_start timestamptz)
      on w.budget_id = asked.budget_id and w.window_start = asked.window_start`.execute(db);
  return rows;
}

export interface Along {
  /** A statement that is run with it. */
  readonly beside?: RawBuilder<unknown> | null;
  /** Every window is there, and the transaction ends behind it. */
  readonly isLast?: boolean;
}

/**
 * Adds to each window, which is made where it is missing. The budgets' rows are held; a budget deleted meanwhile is skipped.
 */
export async function changeWindows(
  tx: Handle,
  changes: readonly WindowChange[],
  { beside = null, isLast = false }: Along = {},
): Promise<void> {
  const list = sumByWindow(changes);
  const mark = isLast ? LAST : PREPARED;
  if (list.length === 0) {
    if (beside !== null) await sql`${mark} ${beside}`.execute(tx);
    return;
  }
  // A window is made once and changed a million times.
  const changed = await addToWindows(tx, list, mark, beside);
  if (isLast) return;
  const missing = list.filter((sum) => !changed.has(windowId(sum)));
  if (missing.length === 0) return;
  await sql`insert into budget_windows (budget_id, window_start)
    select asked.budget_id, asked.window_start from jsonb_to_recordset(${JSON.stringify(missing.map(windowKeyJson))}::jsonb)
      as asked (budget_id text, window_start timestamptz) join budgets b on b.id = asked.budget_id
    on conflict do nothing`.execute(tx);
  await addToWindows(tx, missing, PREPARED, null);
}

/** Those that were there. */
async function addToWindows(
  tx: Handle,
  list: readonly WindowChange[],
  mark: RawBuilder<unknown>,
  beside: RawBuilder<unknown> | null,
): Promise<ReadonlySet<string>> {
  const first = beside === null ? sql`` : sql`with beside as (${beside})`;
  const sums = list.map((sum) => ({
    ...windowKeyJson(sum),
    spent_nano_usd: sum.spentNanoUsd.toString(),
    reserved_nano_usd: sum.reservedNanoUsd.toString(),
    spent_audio_ms: sum.spentAudioMs.toString(),
    reserved_audio_ms: sum.reservedAudioMs.toString(),
    spent_tokens: sum.spentTokens.toString(),
    reserved_tokens: sum.reservedTokens.toString(),
  }));
  const { rows } = await sql<{ budget_id: string; window_start: Date }>`${mark} ${first} update budget_windows w set
      spent_nano_usd = w.spent_nano_usd + asked.spent_nano_usd, reserved_nano_usd = w.reserved_nano_usd + asked.reserved_nano_usd,
      spent_audio_ms = w.spent_audio_ms + asked.spent_audio_ms, reserved_audio_ms = w.reserved_audio_ms + asked.reserved_audio_ms,
      spent_tokens = w.spent_tokens + asked.spent_tokens, reserved_tokens = w.reserved_tokens + asked.reserved_tokens
    from jsonb_to_recordset(${JSON.stringify(sums)}::jsonb)
      as asked (budget_id text, window_start timestamptz, spent_nano_usd bigint, reserved_nano_usd bigint, spent_audio_ms bigint,
        reserved_audio_ms bigint, spent_tokens bigint, reserved_tokens bigint)
    where w.budget_id = asked.budget_id and w.window_start = asked.window_start
    returning w.budget_id, w.window_start`.execute(tx);
  return new Set(rows.map((row) => windowId({ budgetId: row.budget_id, windowStart: row.window_start })));
}

/** As it stands in JSON. */
export function windowKeyJson({ budgetId, windowStart }: WindowKey) {
  return { budget_id: budgetId, window_start: windowStart.toISOString() };
}

/** An update touches a row once however often its key is listed: sum first. */
function sumByWindow(changes: readonly WindowChange[]): readonly WindowChange[] {
  const sums = new Map<string, WindowChange>();
  for (const change of changes) {
    const key = windowId(change);
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? change : addAmounts(sum, change));
  }
  return [...sums.values()];
}
