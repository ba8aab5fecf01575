// Chat is paid from leases (contract 9): this process holds a durable slice of an app's budgets, spends it in memory, and
// settles in batches, so that no chat waits for a commit of its own. A budget is never exceeded: what is held here is reserved
// there. After a crash the sweeper counts what was not settled as spent, and marks it.
import { randomUUID } from "node:crypto";
import type { LeaseId } from "../contract/ids.ts";
import type { LeaseOwner } from "../storage/budget-leases.ts";
import type { Database } from "../storage/database.ts";
import { closeHeld, type Grown, growLease } from "./grow-lease.ts";
import type { Ledger, Reservation, Reserved, Settled, Settlement } from "./ledger.ts";
import { renewLeases } from "../storage/budget-leases.ts";
import { spentTokens } from "./settle-batch.ts";
import { type LeasedAttempt, settleLeased } from "./settle-leased.ts";
import { sweepLeases } from "./sweep-leases.ts";

export interface Leases extends Pick<Ledger, "reserve" | "settle"> {
  /** Everything settled so far is durable when it resolves. */
  flush(): Promise<void>;
  /** Renews what is in use and gives back what is not; the timer calls it. */
  renew(): Promise<void>;
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
/** Settlements wait this long for company: a batch costs about the same whether it holds 1 or 100. */
const LINGER_MS = 50;
/** Budgets that are set or lowered meanwhile hold within this time for what is paid from leases. */
const MAX_AGE_MS = 60_000;
const MAX_BATCH = 500;
const RETRY_MS = 1_000;
/** With so many settlements unwritten, the next reservation waits: memory is bounded, and a crash loses no more. */
const MAX_UNWRITTEN = 20_000;

/** A slice as this process knows it. */
interface Lease {
  readonly id: LeaseId;
  /** A lease of yesterday's windows is not spent today, and one of yesterday's limits not for long. */
  readonly usableUntilMs: number;
  nanoUsd: bigint;
  tokens: bigint;
  /** Calls under way. */
  running: number;
  lastUsedMs: number;
}

interface Pool {
  readonly owner: LeaseOwner;
  current: Lease | null;
  growing: Promise<unknown> | null;
}

export function createLeases({ database, nowMs = Date.now, onError }: LeaseOptions): Leases {
  const holder = randomUUID();
  const pools = new Map<string, Pool>();
  /** Replaced ones with calls still under way, and ones to be closed. */
  const retired = new Set<Lease>();
  const open = new Map<string, { readonly reservation: Reservation; readonly lease: Lease }>();
  let unwritten: LeasedAttempt[] = [];
  let writing: Promise<void> | null = null;
  let lingering: NodeJS.Timeout | null = null;
  let closed = false;

  const poolOf = (item: Reservation): Pool => {
    const funding = item.funding ?? "none";
    const key = `${item.appId} ${funding}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    const pool: Pool = {
      owner: { workspaceId: item.workspaceId, appId: item.appId, funding },
      current: null,
      growing: null,
    };
    pools.set(key, pool);
    return pool;
  };

  const reserve = async (item: Reservation): Promise<Reserved> => {
    if (unwritten.length >= MAX_UNWRITTEN) await flush();
    const pool = poolOf(item);
    for (;;) {
      const lease = usable(pool);
      if (lease !== null && fits(lease, item)) {
        lease.nanoUsd -= item.reserveNanoUsd;
        lease.tokens -= BigInt(item.tokens ?? 0);
        lease.running += 1;
        lease.lastUsedMs = nowMs();
        open.set(item.attemptId, { reservation: item, lease });
        return { ok: true };
      }
      // Whoever waits for another's growth looks again before asking for more.
      if (pool.growing !== null) await pool.growing;
      else {
        const grown = await grow(pool, item);
        if (!grown.ok) return { ok: false, exceeded: grown.exceeded };
      }
    }
  };

  const usable = (pool: Pool): Lease | null => {
    const lease = pool.current;
    if (lease === null || nowMs() < lease.usableUntilMs) return lease;
    retire(pool);
    return null;
  };

  const retire = (pool: Pool): void => {
    if (pool.current !== null) retired.add(pool.current);
    pool.current = null;
  };

  const grow = async (pool: Pool, item: Reservation): Promise<Grown> => {
    const before = pool.current;
    const growing = growLease(database, {
      owner: pool.owner,
      holder,
      lease: before === null ? null : { id: before.id, nanoUsd: before.nanoUsd, tokens: before.tokens },
      need: { nanoUsd: item.reserveNanoUsd, tokens: BigInt(item.tokens ?? 0) },
    });
    pool.growing = growing.catch(() => undefined);
    try {
      const grown = await growing;
      if (grown.ok) take(pool, before, grown);
      return grown;
    } finally {
      pool.growing = null;
    }
  };

  const take = (pool: Pool, before: Lease | null, grown: Extract<Grown, { ok: true }>): void => {
    if (before !== null && before.id === grown.id) {
      before.nanoUsd += grown.nanoUsd;
      before.tokens += grown.tokens;
      return;
    }
    retire(pool);
    pool.current = {
      id: grown.id,
      usableUntilMs: nowMs() + Math.min(MAX_AGE_MS, grown.usableMs ?? MAX_AGE_MS),
      nanoUsd: grown.nanoUsd,
      tokens: grown.tokens,
      running: 0,
      lastUsedMs: nowMs(),
    };
  };

  const settle = async (item: Settlement): Promise<Settled> => {
    const held = open.get(item.attemptId);
    if (held === undefined) return { changed: false, slotEnded: false };
    open.delete(item.attemptId);
    const { reservation, lease } = held;
    const reservedTokens = BigInt(reservation.tokens ?? 0);
    const counts = item.outcome === "succeeded" || item.outcome === "aborted";
    const tokens = counts ? spentTokens(item.usage, reservedTokens) : 0n;
    lease.nanoUsd += reservation.reserveNanoUsd - item.chargeNanoUsd;
    lease.tokens += reservedTokens - tokens;
    lease.running -= 1;
    unwritten.push({ reservation, settlement: item, leaseId: lease.id, tokens });
    if (unwritten.length >= MAX_BATCH) void write();
    else lingering ??= setTimeout(() => void write(), LINGER_MS).unref();
    return { changed: true, slotEnded: false };
  };

  /** One batch at a time, until nothing is left or one fails; a failed one stays and is tried again later. */
  const write = (): Promise<void> => {
    if (lingering !== null) clearTimeout(lingering);
    lingering = null;
    writing ??= (async () => {
      try {
        while (unwritten.length > 0) {
          const batch = unwritten.slice(0, MAX_BATCH);
          await settleLeased(database, batch);
          unwritten = unwritten.slice(batch.length);
        }
      } catch (error) {
        onError?.(error);
        if (!closed) lingering ??= setTimeout(() => void write(), RETRY_MS).unref();
        throw error;
      } finally {
        writing = null;
      }
    })();
    // Whoever waits sees the fault; the timer's own turns have told `onError`.
    writing.catch(() => undefined);
    return writing;
  };

  const flush = async (): Promise<void> => {
    if (writing !== null) await writing.catch(() => undefined);
    if (unwritten.length > 0) await write();
  };

  const renew = async (): Promise<void> => {
    for (const pool of pools.values()) {
      const lease = pool.current;
      if (lease !== null && lease.running === 0 && nowMs() - lease.lastUsedMs >= IDLE_MS) retire(pool);
    }
    await giveBack();
    const held = [...pools.values()].flatMap((pool) => pool.current ?? []).concat(...retired);
    const ours = await renewLeases(
      database.db,
      holder,
      held.map((lease) => lease.id),
    );
    // A lease that lapsed was counted as spent; nothing more is taken from it.
    for (const pool of pools.values()) if (pool.current !== null && !ours.has(pool.current.id)) pool.current = null;
    for (const lease of retired) if (!ours.has(lease.id)) retired.delete(lease);
  };

  /** Only after what was settled from them is written. */
  const giveBack = async (): Promise<void> => {
    const done = [...retired].filter((lease) => lease.running === 0);
    if (done.length === 0) return;
    await flush();
    await closeHeld(
      database,
      done.map((lease) => lease.id),
    );
    for (const lease of done) retired.delete(lease);
  };

  const timer = setInterval(() => void renew().catch((error: unknown) => onError?.(error)), RENEW_EVERY_MS);
  timer.unref();

  return {
    reserve,
    settle,
    flush,
    renew,
    sweep: () => database.transaction((tx) => sweepLeases(tx)),
    close: async () => {
      closed = true;
      clearInterval(timer);
      await flush();
      for (const pool of pools.values()) retire(pool);
      await giveBack();
    },
  };
}

function fits(lease: Lease, item: Reservation): boolean {
  return lease.nanoUsd >= item.reserveNanoUsd && lease.tokens >= BigInt(item.tokens ?? 0);
}
