// Chat is paid from leases (contract 9): this process holds a durable slice of an app's budgets, spends it in memory, and
// settles in batches, so that no chat waits for a commit of its own. A budget is never exceeded: what is held here is reserved
// there. After a crash the sweeper counts what was not settled as spent, and marks it.
import { randomUUID } from "node:crypto";
import type { Database } from "../storage/database.ts";
import { closeHeld, type Slice } from "./grow-lease.ts";
import type { Lease } from "./lease.ts";
import { createLeasePool, type LeasePool } from "./lease-pool.ts";
import type { Ledger, Reservation } from "./ledger.ts";
import { renewLeases } from "../storage/budget-leases.ts";
import { spentTokens } from "./settle-batch.ts";
import { createWording } from "../storage/shared-rows.ts";
import { leasedAttempt } from "./settle-leased.ts";
import { createSettleQueue } from "./settle-queue.ts";
import { sweepLeases } from "./sweep-leases.ts";
import { batches, sweeps } from "../storage/system.ts";

export interface Leases extends Pick<Ledger, "reserve" | "settle"> {
  /** Everything settled so far is durable when it resolves. */
  flush(): Promise<void>;
  /** What this request has used so far is durable when it resolves. */
  written(requestId: string): Promise<void>;
  /** Renews what is in use and gives back what is not; the timer calls it. */
  renew(): Promise<void>;
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
  /** A batch that could not be written, or a lease that could not be renewed; both are tried again. */
  readonly onError?: (error: unknown) => void;
}

const RENEW_EVERY_MS = 10_000;
/** A lease nobody spent from for so long goes back to its budgets. */
const IDLE_MS = 10_000;
/** With so many settlements unwritten, the next reservation waits for a batch: memory is bounded, and a crash loses no more. */
const MAX_UNWRITTEN = 20_000;

export function createLeases({ database, nowMs = Date.now, onError }: LeaseOptions): Leases {
  const holder = randomUUID();
  const tell = (error: unknown) => onError?.(error);
  const queue = createSettleQueue(database, nowMs, tell);
  const word = createWording();
  const pools = new Map<string, LeasePool>();
  const open = new Map<
    string,
    { readonly reservation: Reservation; readonly lease: Lease; readonly reservedAtMs: number }
  >();

  const ownerOf = new Map<LeasePool, string>();
  const poolOf = (item: Reservation): LeasePool => {
    const { workspaceId, appId, funding = "none" } = item;
    const key = `${appId} ${funding}`;
    const pool = pools.get(key) ?? createLeasePool(database, { workspaceId, appId, funding }, holder, nowMs);
    pools.set(key, pool);
    ownerOf.set(pool, workspaceId);
    return pool;
  };

  /** Only after what was settled from them is written. */
  const giveBack = async (): Promise<void> => {
    const done = [...pools.values()].flatMap((pool) => pool.done());
    if (done.length === 0) return;
    await queue.flush();
    const ids = done.map((lease) => lease.id);
    await closeHeld(database, ids);
    forget(new Set(ids));
  };

  const forget = (ids: ReadonlySet<string>): void => {
    for (const pool of pools.values()) pool.forget(ids);
  };

  const renew = async (): Promise<void> => {
    for (const pool of pools.values()) pool.retireIdle(IDLE_MS);
    await giveBack();
    const held = [...pools.values()].flatMap((pool) => pool.leases());
    const ids = held.map((lease) => lease.id);
    const ours = await renewLeases(batches(database).db, holder, ids);
    forget(new Set(ids.filter((id) => !ours.has(id))));
  };

  const timer = setInterval(() => void renew().catch(tell), RENEW_EVERY_MS);
  timer.unref();

  return {
    reserve: async (item) => {
      while (queue.size() >= MAX_UNWRITTEN) await queue.written();
      const taken = await poolOf(item).take(needOf(item));
      if (!taken.ok) return taken;
      open.set(item.attemptId, { reservation: item, lease: taken.lease, reservedAtMs: nowMs() });
      return { ok: true };
    },
    settle: async (item) => {
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
      if (queue.holds((item) => item.requestId === requestId)) await queue.flush();
    },
    renew,
    giveBack: async (workspaceId) => {
      const asked = [...pools.values()].filter((pool) => workspaceId === null || ownerOf.get(pool) === workspaceId);
      await Promise.all(asked.map((pool) => pool.giveBack())).catch(tell);
    },
    sweep: () => sweeps(database).transaction((tx) => sweepLeases(tx)),
    close: async () => {
      clearInterval(timer);
      await Promise.all([...pools.values()].map((pool) => pool.grown()));
      for (const pool of pools.values()) pool.retireIdle(0);
      await giveBack();
      await queue.flush();
    },
  };
}

function needOf(item: Reservation): Slice {
  return { nanoUsd: item.reserveNanoUsd, tokens: BigInt(item.tokens ?? 0) };
}
