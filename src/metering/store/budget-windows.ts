// Reads and changes the amounts in budget windows. A transaction that changes a window must have locked its budget's row (budgets.ts).
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Handle = Kysely<Tables>;

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

/** Other fields of `sum` are kept. */
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

/** Identifies a window in sets and maps. */
export function windowId({ budgetId, windowStart }: WindowKey): string {
  return `${budgetId} ${windowStart.toISOString()}`;
}

export const WINDOW_COLUMNS = sql.raw(
  "w.budget_id, w.spent_nano_usd, w.reserved_nano_usd, w.spent_audio_ms, w.reserved_audio_ms, w.spent_tokens, w.reserved_tokens",
);

/** Joins a budget `b` to its current window `w`. */
export const WINDOW_OF_NOW =
  sql.raw(`w.budget_id = b.id and w.window_start = case b.period when 'total' then 'epoch'::timestamptz
  else date_trunc(b.period, patchbay_now(), 'UTC') end`);

/** Repeats the join for the planner's estimate, as in `waysTo` (budgets.ts). */
const IS_LISTED = sql.raw("w.budget_id = any(array(select budget_id from asked))");

export async function readWindows(db: Handle, keys: readonly WindowKey[]): Promise<readonly WindowRow[]> {
  if (keys.length === 0) return [];
  const list = keys.map(windowKeyJson);
  const { rows } = await sql<WindowRow>`${PREPARED}
    with asked as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as asked (budget_id text, window_start timestamptz))
    select ${WINDOW_COLUMNS} from budget_windows w join asked on w.budget_id = asked.budget_id and w.window_start = asked.window_start
    where ${IS_LISTED}`.execute(db);
  return rows;
}

/**
 * Adds to each window and creates missing ones. The caller has locked the budgets' rows. A budget that was deleted meanwhile is skipped. `alongside` is another
 * statement to run in the same round trip.
 */
export async function changeWindows(
  tx: Handle,
  changes: readonly WindowChange[],
  alongside: RawBuilder<unknown> | null = null,
): Promise<void> {
  const list = sumByWindow(changes);
  if (list.length === 0) {
    if (alongside !== null) await sql`${PREPARED} ${alongside}`.execute(tx);
    return;
  }
  // Update first: a window is created once and changed a million times.
  const changed = await addToWindows(tx, list, alongside);
  const missing = list.filter((sum) => !changed.has(windowId(sum)));
  if (missing.length === 0) return;
  await sql`insert into budget_windows (budget_id, window_start)
    select asked.budget_id, asked.window_start from jsonb_to_recordset(${JSON.stringify(missing.map(windowKeyJson))}::jsonb)
      as asked (budget_id text, window_start timestamptz) join budgets b on b.id = asked.budget_id
    on conflict do nothing`.execute(tx);
  await addToWindows(tx, missing, null);
}

/** Returns the windows that existed. */
async function addToWindows(
  tx: Handle,
  list: readonly WindowChange[],
  alongside: RawBuilder<unknown> | null,
): Promise<ReadonlySet<string>> {
  const first = alongside === null ? sql`` : sql`alongside as (${alongside}),`;
  const sums = list.map((sum) => ({
    ...windowKeyJson(sum),
    spent_nano_usd: sum.spentNanoUsd.toString(),
    reserved_nano_usd: sum.reservedNanoUsd.toString(),
    spent_audio_ms: sum.spentAudioMs.toString(),
    reserved_audio_ms: sum.reservedAudioMs.toString(),
    spent_tokens: sum.spentTokens.toString(),
    reserved_tokens: sum.reservedTokens.toString(),
  }));
  const { rows } = await sql<{
    budget_id: string;
    window_start: Date;
  }>`${PREPARED} with ${first} asked as materialized (select * from jsonb_to_recordset(${JSON.stringify(sums)}::jsonb)
      as asked (budget_id text, window_start timestamptz, spent_nano_usd bigint, reserved_nano_usd bigint, spent_audio_ms bigint,
        reserved_audio_ms bigint, spent_tokens bigint, reserved_tokens bigint))
    update budget_windows w set
      spent_nano_usd = w.spent_nano_usd + asked.spent_nano_usd, reserved_nano_usd = w.reserved_nano_usd + asked.reserved_nano_usd,
      spent_audio_ms = w.spent_audio_ms + asked.spent_audio_ms, reserved_audio_ms = w.reserved_audio_ms + asked.reserved_audio_ms,
      spent_tokens = w.spent_tokens + asked.spent_tokens, reserved_tokens = w.reserved_tokens + asked.reserved_tokens
    from asked where w.budget_id = asked.budget_id and w.window_start = asked.window_start and ${IS_LISTED}
    returning w.budget_id, w.window_start`.execute(tx);
  return new Set(rows.map((row) => windowId({ budgetId: row.budget_id, windowStart: row.window_start })));
}

/** Longest time between a window's start and its end: a month. */
const LONGEST_WINDOW_DAYS = 31;

/** Deletes windows that ended before the retained usage and hold no reservations. Windows without a period are kept. Returns how many it deleted. */
export async function purgeWindows(db: SystemHandle, usageDays: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from budget_windows where ctid = any(array(
    select ctid from budget_windows where window_start <> 'epoch'
      and window_start <= patchbay_now() - ${usageDays + LONGEST_WINDOW_DAYS}::int * interval '1 day'
      and reserved_nano_usd = 0 and reserved_audio_ms = 0 and reserved_tokens = 0 limit ${limit}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** The form in the JSON of attempts and leases. */
export function windowKeyJson({ budgetId, windowStart }: WindowKey) {
  return { budget_id: budgetId, window_start: windowStart.toISOString() };
}

/** Reads the output of `windowKeyJson`. */
export function readWindowKeys(windows: unknown): readonly WindowKey[] {
  const list = windows as readonly ReturnType<typeof windowKeyJson>[];
  return list.map((window) => ({ budgetId: window.budget_id, windowStart: new Date(window.window_start) }));
}

/** Sums changes per window first, because an update changes a row once even if its key is listed twice. */
function sumByWindow(changes: readonly WindowChange[]): readonly WindowChange[] {
  const sums = new Map<string, WindowChange>();
  for (const change of changes) {
    const key = windowId(change);
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? change : addAmounts(sum, change));
  }
  return [...sums.values()];
}
