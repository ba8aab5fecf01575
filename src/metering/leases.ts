// Pays chats from leases: durable slices of an app's budgets that a process spends in memory and settles in batches, so that no chat waits for a commit.
// Leases are reserved in the budget, so it is never exceeded [metering.lease-hard-limit], and after a crash unsettled amounts count as spent
// [metering.lease-crash].
import { randomUUID } from "node:crypto";
import type { AppId, LeaseId, WorkspaceId } from "../contract/ids.ts";
import type { Database } from "../storage/database.ts";
import { closeHeld, type Slice } from "./grow-lease.ts";
import type { Lease } from "./lease.ts";
import { createLeasePool, type LeasePool } from "./lease-pool.ts";
import type { Funding } from "./ledger.ts";
import type { Reservation, ReservationVerdict, SettlementResult, Settlement } from "./ledger-entries.ts";
import { createLeaseReclaimer, type LeaseReclaimer } from "./lease-reclaimer.ts";
import { renewLeases } from "./store/budget-leases.ts";
import { spentTokens } from "./settle-batch.ts";
import { createWording } from "../storage/insert-deduplicated.ts";
import { leasedAttempt, settleLeased } from "./settle-leased.ts";
import { createSettleQueue } from "./settle-queue.ts";
import { sweepLeases } from "./sweep-leases.ts";
import { bypassRls } from "../storage/system.ts";

export interface Leases {
  /** From memory if the lease has enough. */
  reserve(item: Reservation): Promise<ReservationVerdict>;
  settle(item: Settlement): SettlementResult;
  /** Resolves when everything settled so far is durable. */
  flush(): Promise<void>;
  /** Resolves when the settlements of this request are durable. */
  written(requestId: string): Promise<void>;
  /** Renews leases in use and closes idle ones. The timer calls it. */
  renew(): Promise<void>;
  /** Reclaims unused amounts of leases before a reservation by row is refused. */
  readonly reclaimer: Pick<LeaseReclaimer, "reserve">;
  /** Returns immediately what is not in use of this workspace's budgets, or of all (null), because another process's chat was refused. */
  giveBack(workspaceId: string | null): Promise<void>;
  /** Closes leases of processes that died. Returns how many. */
  sweep(): Promise<number>;
  /** Settles everything and returns the remainders. */
  close(): Promise<void>;
}

export interface LeaseOptions {
  readonly database: Database;
  readonly nowMs?: () => number;
  /** Time for other processes to return amounts. Default: 150 ms. */
  readonly waitForOthers?: () => Promise<unknown>;
  /** Called when a batch could not be written or a lease could not be renewed. Both are retried. */
  readonly onError?: (error: unknown) => void;
}

const RENEW_EVERY_MS = 10_000;
/** A lease that was not used for this long is returned to its budgets. */
const IDLE_MS = 10_000;
/** With this many unwritten settlements, the next reservation waits for a batch, which bounds memory and what a crash loses. */
const MAX_UNWRITTEN = 20_000;
const OK = { ok: true } as const;

export function createLeases({ database, nowMs = Date.now, waitForOthers, onError }: LeaseOptions): Leases {
  const holder = randomUUID();
  const reportError = (error: unknown) => onError?.(error);
  const queue = createSettleQueue(
    (batch, mayBeThere) => settleLeased(database, batch, { nowMs: nowMs(), mayBeThere }),
    reportError,
  );
  const cacheText = createWording();
  const poolsOf = new Map<AppId, Map<Funding, LeasePool>>();
  const pools = new Map<LeasePool, WorkspaceId>();
  const reclaimers = new Map<WorkspaceId, LeaseReclaimer>();
  const open = new Map<
    string,
    { readonly reservation: Reservation; readonly lease: Lease; readonly reservedAtMs: number }
  >();

  const reclaimerOf = (workspaceId: WorkspaceId): LeaseReclaimer => {
    const reclaimer =
      reclaimers.get(workspaceId) ?? createLeaseReclaimer({ database, workspaceId, process: holder, waitForOthers });
    reclaimers.set(workspaceId, reclaimer);
    return reclaimer;
  };

  const poolOf = ({ workspaceId, appId, funding = "none" }: Reservation): LeasePool => {
    const appPools = poolsOf.get(appId) ?? new Map<Funding, LeasePool>();
    const existing = appPools.get(funding);
    if (existing !== undefined) return existing;
    const owner = { workspaceId, appId, funding };
    const pool = createLeasePool({ database, owner, holder, reclaimer: reclaimerOf(workspaceId), nowMs });
    poolsOf.set(appId, appPools.set(funding, pool));
    pools.set(pool, workspaceId);
    return pool;
  };

  /** Closes retired leases after their settlements are written. */
  const closeDone = async (): Promise<void> => {
    const doneLeases = [...pools.keys()].flatMap((pool) => pool.done());
    if (doneLeases.length === 0) return;
    await queue.flush();
    const ids = doneLeases.map((lease) => lease.id);
    await closeHeld(database, ids);
    forget(new Set(ids));
  };

  const forget = (ids: ReadonlySet<string>): void => {
    for (const pool of pools.keys()) pool.forget(ids);
  };

  const heldIds = (): readonly LeaseId[] => [...pools.keys()].flatMap((pool) => pool.leases().map((lease) => lease.id));

  /** Slow steps and those that may fail come last, because a holder that does not renew in time is considered dead. */
  const renew = async (): Promise<void> => {
    const ids = heldIds();
    const renewedIds = await renewLeases(bypassRls(database, "batch").db, holder, ids);
    forget(new Set(ids.filter((id) => !renewedIds.has(id))));
    for (const pool of pools.keys()) pool.retireIdle(IDLE_MS);
    await closeDone();
    await Promise.all([...pools.keys()].map((pool) => pool.giveBackRetired()));
  };

  const timer = setInterval(() => void renew().catch(reportError), RENEW_EVERY_MS);
  timer.unref();

  return {
    reserve: async (item) => {
      while (queue.size() >= MAX_UNWRITTEN) await queue.nextWrite();
      const taken = await poolOf(item).take(needOf(item));
      if (!taken.ok) return taken;
      open.set(item.attemptId, { reservation: item, lease: taken.lease, reservedAtMs: nowMs() });
      return OK;
    },
    settle: (item) => {
      const entry = open.get(item.attemptId);
      if (entry === undefined) return { changed: false, slotEnded: false };
      open.delete(item.attemptId);
      const { reservation, lease, reservedAtMs } = entry;
      const need = needOf(reservation);
      const isBilled = item.outcome === "succeeded" || item.outcome === "aborted";
      const tokens = isBilled ? spentTokens(item.usage, need.tokens) : 0n;
      lease.put({ nanoUsd: need.nanoUsd - item.chargeNanoUsd, tokens: need.tokens - tokens });
      queue.push(leasedAttempt(reservation, item, { leaseId: lease.id, tokens, reservedAtMs }, cacheText));
      return { changed: true, slotEnded: false };
    },
    flush: () => queue.flush(),
    written: async (requestId) => {
      if (queue.has((item) => item.requestId === requestId)) await queue.flush();
    },
    renew,
    reclaimer: { reserve: (payer, ...attempt) => reclaimerOf(payer.workspaceId).reserve(payer, ...attempt) },
    giveBack: async (workspaceId) => {
      const requestedPools = [...pools].filter(([, owner]) => workspaceId === null || owner === workspaceId);
      await Promise.all(requestedPools.map(([pool]) => pool.giveBack())).catch(reportError);
    },
    sweep: () => bypassRls(database, "sweep").transaction((tx) => sweepLeases(tx, heldIds())),
    close: async () => {
      clearInterval(timer);
      await Promise.all([...pools.keys()].map((pool) => pool.grown()));
      for (const pool of pools.keys()) pool.retireIdle(0);
      await closeDone();
      // Only what calls in flight may use is left to the sweep.
      await Promise.all([...pools.keys()].map((pool) => pool.giveBack()));
      await queue.flush();
    },
  };
}

function needOf(item: Reservation): Slice {
  return { nanoUsd: item.reserveNanoUsd, tokens: BigInt(item.tokens ?? 0) };
}
