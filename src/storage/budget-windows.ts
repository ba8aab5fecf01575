// Budgets and what their windows hold (contract 9). Whoever changes a window holds its budget's row, taken in id order.
import { type Kysely, sql } from "kysely";
import type { AppId, WorkspaceId } from "../contract/ids.ts";
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

export interface WindowChange extends WindowKey {
  readonly spentNanoUsd: bigint;
  readonly reservedNanoUsd: bigint;
  readonly spentAudioMs: bigint;
  readonly reservedAudioMs: bigint;
  readonly spentTokens: bigint;
  readonly reservedTokens: bigint;
}

export async function readBudgets(db: Handle, apps: readonly AppOf[]): Promise<readonly BudgetRow[]> {
  return (await selectBudgets(apps, sql``).execute(db)).rows;
}

/** Held to the end of the transaction: reservations on one app's budgets happen one after another, on every process. */
export async function lockBudgetsOf(tx: Handle, apps: readonly AppOf[]): Promise<readonly BudgetRow[]> {
  return (await selectBudgets(apps, sql`for update of b`).execute(tx)).rows;
}

function selectBudgets(apps: readonly AppOf[], locking: ReturnType<typeof sql>) {
  const list = apps.map(({ workspaceId, appId, funding }) => ({ workspace_id: workspaceId, app_id: appId, funding }));
  const asked = sql`jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as asked (workspace_id text, app_id text, funding text)`;
  return sql<BudgetRow>`
    select b.id, b.workspace_id, b.app_id, b.kind, b.period, b.limit_nano_usd, b.limit_audio_seconds, b.limit_tokens, patchbay_now() as now
    from budgets b
    where (b.workspace_id, b.app_id) in (select workspace_id, app_id from ${asked})
      or (b.kind <> 'budget' and (b.workspace_id, b.kind) in (select workspace_id, funding from ${asked}))
    order by b.id ${locking}`;
}

export async function lockBudgets(tx: Handle, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`select id from budgets where id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)) order by id for update`.execute(
    tx,
  );
}

export async function readWindows(db: Handle, keys: readonly WindowKey[]): Promise<readonly WindowRow[]> {
  if (keys.length === 0) return [];
  const list = keys.map(({ budgetId, windowStart }) => ({
    budget_id: budgetId,
    window_start: windowStart.toISOString(),
  }));
  const { rows } = await sql<WindowRow>`
    select w.budget_id, w.spent_nano_usd, w.reserved_nano_usd, w.spent_audio_ms, w.reserved_audio_ms,
      w.spent_tokens, w.reserved_tokens
    from budget_windows w join jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as asked (budget_id text, window_start timestamptz)
      on w.budget_id = asked.budget_id and w.window_start = asked.window_start`.execute(db);
  return rows;
}

/** Adds to each window, first made where it is missing. The budgets' rows are held; a budget deleted meanwhile is skipped. */
export async function changeWindows(tx: Handle, changes: readonly WindowChange[]): Promise<void> {
  const list = sumByWindow(changes);
  if (list.length === 0) return;
  const asked = sql`jsonb_to_recordset(${JSON.stringify(list)}::jsonb)
    as asked (budget_id text, window_start timestamptz, spent_nano_usd bigint, reserved_nano_usd bigint, spent_audio_ms bigint, reserved_audio_ms bigint,
      spent_tokens bigint, reserved_tokens bigint)`;
  await sql`insert into budget_windows (budget_id, window_start)
    select asked.budget_id, asked.window_start from ${asked} join budgets b on b.id = asked.budget_id
    on conflict do nothing`.execute(tx);
  await sql`update budget_windows w set
      spent_nano_usd = w.spent_nano_usd + asked.spent_nano_usd, reserved_nano_usd = w.reserved_nano_usd + asked.reserved_nano_usd,
      spent_audio_ms = w.spent_audio_ms + asked.spent_audio_ms, reserved_audio_ms = w.reserved_audio_ms + asked.reserved_audio_ms,
      spent_tokens = w.spent_tokens + asked.spent_tokens, reserved_tokens = w.reserved_tokens + asked.reserved_tokens
    from ${asked} where w.budget_id = asked.budget_id and w.window_start = asked.window_start`.execute(tx);
}

/** An update touches a row once however often its key is listed: sum first. */
function sumByWindow(changes: readonly WindowChange[]): readonly Record<string, string>[] {
  const sums = new Map<string, WindowChange>();
  for (const change of changes) {
    const key = `${change.budgetId} ${change.windowStart.toISOString()}`;
    const sum = sums.get(key);
    sums.set(
      key,
      sum === undefined
        ? change
        : {
            ...sum,
            spentNanoUsd: sum.spentNanoUsd + change.spentNanoUsd,
            reservedNanoUsd: sum.reservedNanoUsd + change.reservedNanoUsd,
            spentAudioMs: sum.spentAudioMs + change.spentAudioMs,
            reservedAudioMs: sum.reservedAudioMs + change.reservedAudioMs,
            spentTokens: sum.spentTokens + change.spentTokens,
            reservedTokens: sum.reservedTokens + change.reservedTokens,
          },
    );
  }
  return [...sums.values()].map((sum) => ({
    budget_id: sum.budgetId,
    window_start: sum.windowStart.toISOString(),
    spent_nano_usd: sum.spentNanoUsd.toString(),
    reserved_nano_usd: sum.reservedNanoUsd.toString(),
    spent_audio_ms: sum.spentAudioMs.toString(),
    reserved_audio_ms: sum.reservedAudioMs.toString(),
    spent_tokens: sum.spentTokens.toString(),
    reserved_tokens: sum.reservedTokens.toString(),
  }));
}
