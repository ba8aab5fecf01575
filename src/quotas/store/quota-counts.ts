// Stores how much of each quota the processes have allocated: a row per holder and unit, locked in order [quotas.exact]. Only `quotas/`
// interprets a row's state.
import { type RawBuilder, sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";
import type { WorkspaceId } from "../../contract/ids.ts";

export type CountUnit = "requests" | "audio" | "tokens" | "concurrent" | "url_fetches";

export interface CountKey {
  readonly workspaceId: WorkspaceId;
  /** A key or an app. */
  readonly holderId: string;
  readonly unit: CountUnit;
}

export interface Counts {
  /** The time by the database's clock. 0 if there are no rows, in which case it is not used. */
  readonly nowMs: number;
  /** States by `countName`. Null: nothing was ever allocated. */
  readonly states: ReadonlyMap<string, unknown>;
}

/** Longer than any counted period. */
const KEPT_HOURS = 2;

export function countName({ holderId, unit }: Pick<CountKey, "holderId" | "unit">): string {
  return `${holderId} ${unit}`;
}

/** Reads without locking. */
export function readCounts(db: SystemHandle, keys: readonly CountKey[]): Promise<Counts> {
  return select(db, keys, sql``);
}

export async function lockCounts(tx: SystemHandle, keys: readonly CountKey[]): Promise<Counts> {
  const locked = await selectLocked(tx, keys);
  const missing = keys.filter((key) => !locked.states.has(countName(key)));
  if (missing.length === 0) return locked;
  await sql`insert into quota_counts (workspace_id, holder_id, unit, state)
    select workspace_id, holder_id, unit, 'null' from ${recordset(missing)} order by holder_id, unit
    on conflict do nothing`.execute(tx);
  return selectLocked(tx, keys);
}

function selectLocked(tx: SystemHandle, keys: readonly CountKey[]): Promise<Counts> {
  return select(tx, keys, sql`for update of c`);
}

async function select(db: SystemHandle, keys: readonly CountKey[], locking: RawBuilder<unknown>): Promise<Counts> {
  const { rows } = await sql<{ name: string; state: unknown; now_ms: number }>`
    select c.holder_id || ' ' || c.unit as name, c.state, (extract(epoch from patchbay_now()) * 1000)::float8 as now_ms
    from quota_counts c join ${recordset(keys)} on c.holder_id = given.holder_id and c.unit = given.unit
    order by c.holder_id, c.unit ${locking}`.execute(db);
  return { nowMs: rows[0]?.now_ms ?? 0, states: new Map(rows.map((row) => [row.name, row.state])) };
}

export async function writeCounts(
  tx: SystemHandle,
  counts: readonly (CountKey & { readonly state: unknown })[],
): Promise<void> {
  // Without waiting for the disk: a server that loses power loses at most half a second of a quota's counts.
  await sql`update quota_counts c set state = given.state, updated_at = patchbay_now()
    from ${recordset(counts)}, set_config('synchronous_commit', 'off', true)
    where c.holder_id = given.holder_id and c.unit = given.unit`.execute(tx);
}

/** Deletes counts of keys and apps that are no longer used. */
export async function sweepCounts(db: SystemHandle): Promise<void> {
  await sql`delete from quota_counts where updated_at < patchbay_now() - ${sql.lit(KEPT_HOURS)} * interval '1 hour'`.execute(
    db,
  );
}

function recordset(counts: readonly (CountKey & { readonly state?: unknown })[]) {
  const list = counts.map(({ workspaceId, holderId, unit, state = null }) => ({
    workspace_id: workspaceId,
    holder_id: holderId,
    unit,
    state,
  }));
  return sql`jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as given (workspace_id text, holder_id text, unit text, state jsonb)`;
}
