// Leases on budgets: a lease is a slice that one process holds and spends in memory [metering.lease-shared]. A transaction that changes a lease
// locks its row, in id order and before any budget's.
import { type Kysely, sql } from "kysely";
import type { SystemHandle } from "../../storage/database.ts";
import type { AppId, LeaseId, WorkspaceId } from "../../contract/ids.ts";
import { type WindowKey, windowKeyJson } from "./budget-windows.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { Funding } from "../../storage/schema/tables-metering.ts";
import type { Tables } from "../../storage/schema/tables.ts";

type Handle = Kysely<Tables>;

export const LEASE_SECONDS = 30;

export interface LeaseOwner {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly funding: Funding;
}

export interface LeaseRow {
  readonly id: string;
  readonly granted_nano_usd: bigint;
  readonly granted_tokens: bigint;
  readonly settled_nano_usd: bigint;
  readonly settled_tokens: bigint;
  /** Read by `readWindowKeys`. */
  readonly windows: unknown;
}

const COLUMNS = sql.raw("id, granted_nano_usd, granted_tokens, settled_nano_usd, settled_tokens, windows");

/** Locks the leases that are still open, in id order. */
export async function lockLeases(tx: SystemHandle, ids: readonly string[]): Promise<ReadonlyMap<string, LeaseRow>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<LeaseRow>`${PREPARED} select ${COLUMNS} from budget_leases
    where state = 'open' and id = any(array(select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)))
    order by id for update`.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}

export interface NewLease extends LeaseOwner {
  readonly id: LeaseId;
  readonly holder: string;
  readonly windows: readonly WindowKey[];
}

export async function insertLease(tx: SystemHandle, lease: NewLease): Promise<void> {
  const windows = lease.windows.map(windowKeyJson);
  await sql`insert into budget_leases (id, workspace_id, app_id, funding, holder, granted_nano_usd, granted_tokens, windows, lease_until)
    values (${lease.id}, ${lease.workspaceId}, ${lease.appId}, ${lease.funding}, ${lease.holder}, 0, 0,
      ${JSON.stringify(windows)}::jsonb, patchbay_now() + ${sql.lit(LEASE_SECONDS)} * interval '1 second')`.execute(tx);
}

/** Whether other processes hold unsettled amounts of this workspace's budgets. Part of it may be for calls in progress. */
export async function isLeasedElsewhere(tx: Handle, workspaceId: WorkspaceId, holder: string): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`select exists (select from budget_leases
    where workspace_id = ${workspaceId} and holder <> ${holder} and state = 'open'
      and (granted_nano_usd > settled_nano_usd or granted_tokens > settled_tokens)) as is`.execute(tx);
  return rows[0]?.is === true;
}

export interface LeasedSum {
  readonly budget_id: string;
  readonly window_start: Date;
  readonly nano_usd: bigint;
  readonly tokens: bigint;
}

/** The unsettled amounts that open leases of a workspace hold, per budget window. */
export async function sumLeased(db: Handle, workspaceId: WorkspaceId): Promise<readonly LeasedSum[]> {
  const { rows } = await sql<LeasedSum>`
    select held.window_of ->> 'budget_id' as budget_id, (held.window_of ->> 'window_start')::timestamptz as window_start,
      sum(l.granted_nano_usd - l.settled_nano_usd)::bigint as nano_usd, sum(l.granted_tokens - l.settled_tokens)::bigint as tokens
    from budget_leases l, jsonb_array_elements(l.windows) as held (window_of)
    where l.workspace_id = ${workspaceId} and l.state = 'open' group by 1, 2`.execute(db);
  return rows;
}

export interface LeaseChange {
  readonly id: string;
  readonly nanoUsd: bigint;
  readonly tokens: bigint;
}

export async function addGranted(tx: SystemHandle, { id, nanoUsd, tokens }: LeaseChange): Promise<void> {
  await sql`update budget_leases set granted_nano_usd = granted_nano_usd + ${nanoUsd.toString()}::bigint,
      granted_tokens = granted_tokens + ${tokens.toString()}::bigint where id = ${id}`.execute(tx);
}

export async function addSettled(tx: SystemHandle, changes: readonly LeaseChange[]): Promise<void> {
  if (changes.length === 0) return;
  // For the `any`, see `waysTo` in budgets.ts.
  await sql`${PREPARED} with given as materialized (
      select * from jsonb_to_recordset(${leaseChangesJson(changes)}::jsonb) as given (id text, nano_usd bigint, tokens bigint))
    update budget_leases l set settled_nano_usd = l.settled_nano_usd + given.nano_usd, settled_tokens = l.settled_tokens + given.tokens
    from given where l.id = given.id and l.id = any(array(select id from given))`.execute(tx);
}

/** For `jsonb_to_recordset`. */
export function leaseChangesJson(changes: readonly LeaseChange[]): string {
  return JSON.stringify(
    changes.map(({ id, nanoUsd, tokens }) => ({ id, nano_usd: nanoUsd.toString(), tokens: tokens.toString() })),
  );
}

/** Locks the leases in id order. Returns the ids that this holder still has. */
export async function renewLeases(
  db: SystemHandle,
  holder: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    with held as materialized (select id from budget_leases
      where state = 'open' and holder = ${holder} and id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))
      order by id for update)
    update budget_leases set lease_until = patchbay_now() + ${sql.lit(LEASE_SECONDS)} * interval '1 second'
    where id = any(array(select id from held)) returning id`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** Grace for a live process that was kept from renewing its leases, until it renews them. */
const GRACE_SECONDS = 10;

/**
 * Locks open leases that their holder has not renewed. Skips leases that another transaction has locked, and those in `but`, which the caller
 * itself still spends.
 */
export async function lockLapsedLeases(
  tx: SystemHandle,
  most: number,
  but: readonly string[],
): Promise<readonly LeaseRow[]> {
  const { rows } = await sql<LeaseRow>`select ${COLUMNS} from budget_leases
    where state = 'open' and lease_until <= patchbay_now() - ${sql.lit(GRACE_SECONDS)} * interval '1 second'
      and id not in (select jsonb_array_elements_text(${JSON.stringify(but)}::jsonb))
    order by id limit ${sql.lit(most)} for update skip locked`.execute(tx);
  return rows;
}

export async function closeLeases(tx: SystemHandle, ids: readonly string[], unresolved: boolean): Promise<void> {
  if (ids.length === 0) return;
  await sql`update budget_leases set state = 'closed', closed_at = patchbay_now(),
      unresolved = ${unresolved} and (settled_nano_usd < granted_nano_usd or settled_tokens < granted_tokens)
    where id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`.execute(tx);
}

/**
 * Deletes closed leases when their attempts are deleted, but unresolved ones only when their usage is deleted too. Returns how many it deleted.
 */
export async function purgeLeases(
  db: SystemHandle,
  { requestDays, usageDays }: { readonly requestDays: number; readonly usageDays: number },
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from budget_leases where ctid = any(array(
    select ctid from budget_leases where state = 'closed' and closed_at <= patchbay_now() - ${requestDays}::int * interval '1 day'
      and (not unresolved or closed_at <= patchbay_now() - ${usageDays}::int * interval '1 day') limit ${limit}))`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0n);
}
