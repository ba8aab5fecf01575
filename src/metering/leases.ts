// Chat is paid from leases: this process holds a durable slice of an app's budgets, spends it in memory, and settles in batches, so that
// no chat waits for a commit of its own. A budget is never exceeded [metering.lease-hard-limit]: what is held here is reserved there. After
// a crash the sweeper counts what was not settled as spent, and marks it [metering.lease-crash].
import { randomUUID } from "node:crypto";
import type { AppId, LeaseId, WorkspaceId } from "../contract/ids.ts";
import type { MaybePromise } from "../lib/concurrency/maybe-promise.ts";
import type { Database } from "../storage/database.ts";
import { closeHeld, type Slice } from "./grow-lease.ts";
import type { Lease } from "./lease.ts";
import { createLeasePool, type LeasePool, type Taken } from "./lease-pool.ts";
import type { Funding } from "./ledger.ts";
import type { Reservation, Reserved, Settled, Settlement } from "./ledger-entries.ts";
import { createLeaseReclaimer, type LeaseReclaimer } from "./lease-reclaimer.ts";
import { renewLeases } from "../storage/budget-leases.ts";
import { spentTokens } from "./settle-batch.ts";
import { createWording } from "../storage/insert-deduplicated.ts";
import { leasedAttempt } from "./settle-leased.ts";
import { createSettleQueue } from "./settle-queue.ts";
import { sweepLeases } from "./sweep-leases.ts";
import { batches, sweeps } from "../storage/system.ts";

export interface Leases {
  /** What is held already is reserved at once. */
  reserve(item: Reservation): MaybePromise<Reserved>;
  settle(item: Settlement): Settled;
  /** Everything settled so far is durable when it resolves. */
  flush(): Promise<void>;
  /** What this request has used so far is durable when it resolves. */
  written(requestId: string): Promise<void>;
  /** Renews what is in use and gives back what is not; the timer calls it. */
  renew(): Promise<void>;
  /** What reservations by rows are made with, so that none is refused for what leases hold and do not use. */
  readonly reclaimer: Pick<LeaseReclaimer, "reserve">;
  /** Gives back at once what is not in use of this workspace's budgets, or of all (null): somebody else's chat was refused for want of it. */
  giveBack(workspaceId: string | null): Promise<void>;
  /** Of processes that died. Answers how many. */
  sweep(): Promise<number>;
  /** Settles and gives back everything. */
  close(): Promise<void>;
}

export interface LeaseOptions {
  readonly database: Database;
  readonly nowMs?: () => number;
  /** 150 ms unless said: so long other processes have to give back what they were asked for. */
  readonly waitForOthers?: () => Promise<unknown>;
  /** A batch that could not be written, or a lease that could not be renewed; both are tried again. */
  readonly onError?: (error: unknown) => void;
}

const RENEW_EVERY_MS = 10_000;
/** A lease nobody spent from for so long goes back to its budgets. */
const IDLE_MS = 10_000;
/** With so many settlements unwritten, the next reservation waits for a batch: memory is bounded, and a crash loses no more. */
const MAX_UNWRITTEN = 20_000;
const OK = { ok: true } as const;

export function createLeases({ database, nowMs = Date.now, waitForOthers, onError }: LeaseOptions): Leases {
  const holder = randomUUID();
  const tell = (error: unknown) => onError?.(error);
  const queue = createSettleQueue(database, nowMs, tell);
  const word = createWording();
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
    const ofApp = poolsOf.get(appId) ?? new Map<Funding, LeasePool>();
    const known = ofApp.get(funding);
    if (known !== undefined) return known;
    const owner = { workspaceId, appId, funding };
    const pool = createLeasePool({ database, owner, holder, reclaimer: reclaimerOf(workspaceId), nowMs });
    poolsOf.set(appId, ofApp.set(funding, pool));
    pools.set(pool, workspaceId);
    return pool;
  };

  /** Only after what was settled from them is written. */
  const closeDone = async (): Promise<void> => {
    const done = [...pools.keys()].flatMap((pool) => pool.done());
    if (done.length === 0) return;
    await queue.flush();
    const ids = done.map((lease) => lease.id);
    await closeHeld(database, ids);
    forget(new Set(ids));
  };

  const forget = (ids: ReadonlySet<string>): void => {
    for (const pool of pools.keys()) pool.forget(ids);
  };

  const held = (): readonly LeaseId[] => [...pools.keys()].flatMap((pool) => pool.leases().map((lease) => lease.id));

  /** What takes long, or fails, comes after: whoever is not renewed is taken for dead. */
  const renew = async (): Promise<void> => {
    const ids = held();
    const ours = await renewLeases(batches(database).db, holder, ids);
    forget(new Set(ids.filter((id) => !ours.has(id))));
    for (const pool of pools.keys()) pool.retireIdle(IDLE_MS);
    await closeDone();
    await Promise.all([...pools.keys()].map((pool) => pool.giveBackRetired()));
  };

  const timer = setInterval(() => void renew().catch(tell), RENEW_EVERY_MS);
  timer.unref();

  const reserved = (item: Reservation, taken: Taken): Reserved => {
    if (!taken.ok) return taken;
    open.set(item.attemptId, { reservation: item, lease: taken.lease, reservedAtMs: nowMs() });
    return OK;
  };
  const reserveWhenWritten = async (item: Reservation): Promise<Reserved> => {
    while (queue.size() >= MAX_UNWRITTEN) await queue.nextWrite();
    return reserved(item, await poolOf(item).take(needOf(item)));
  };

  return {
    reserve: (item) => {
      if (queue.size() >= MAX_UNWRITTEN) return reserveWhenWritten(item);
      const taken = poolOf(item).take(needOf(item));
      return taken instanceof Promise ? taken.then((more) => reserved(item, more)) : reserved(item, taken);
    },
    settle: (item) => {
      const held = open.get(item.attemptId);
      if (held === undefined) return { changed: false, slotEnded: false };
      open.delete(item.attemptId);
      const { reservation, lease, reservedAtMs } = held;
      const need = needOf(reservation);
      const counts = item.outcome === "succeeded" || item.outcome === "aborted";
      const tokens = counts ? spentTokens(item.usage, need.tokens) : 0n;
      lease.put({ nanoUsd: need.nanoUsd - item.chargeNanoUsd, tokens: need.tokens - tokens });
      queue.push(leasedAttempt(reservation, item, { leaseId: lease.id, tokens, reservedAtMs }, word));
      return { changed: true, slotEnded: false };
    },
    flush: () => queue.flush(),
    written: async (requestId) => {
      if (queue.has((item) => item.requestId === requestId)) await queue.flush();
    },
    renew,
    reclaimer: { reserve: (payer, ...attempt) => reclaimerOf(payer.workspaceId).reserve(payer, ...attempt) },
    giveBack: async (workspaceId) => {
      const asked = [...pools].filter(([, owner]) => workspaceId === null || owner === workspaceId);
      await Promise.all(asked.map(([pool]) => pool.giveBack())).catch(tell);
    },
    sweep: () => sweeps(database).transaction((tx) => sweepLeases(tx, held())),
    close: async () => {
      clearInterval(timer);
      await Promise.all([...pools.keys()].map((pool) => pool.grown()));
      for (const pool of pools.keys()) pool.retireIdle(0);
      await closeDone();
      // Of calls that outlive it only what they may use is left to the sweeper.
      await Promise.all([...pools.keys()].map((pool) => pool.giveBack()));
      await queue.flush();
    },
  };
}

function needOf(item: Reservation): Slice {
  return { nanoUsd: item.reserveNanoUsd, tokens: BigInt(item.tokens ?? 0) };
}
