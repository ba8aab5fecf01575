// Looks up API keys in batches: one query at a time for all that wait, because with 10,000 apps nearly each request needs a look-up. While keys are being
// guessed, it starts at most one query per 100 ms, so that a flood of unknown keys costs a bounded share of database and event loop.
import { GatewayError } from "../contract/errors.ts";

export interface BatchLookUps<Found> {
  /** Null: there is no such key. Rejects with OVERLOADED when too many requests wait. */
  find(secretHash: Buffer): Promise<Found | null>;
}

export interface BatchLookUpServices<Found> {
  /** Returns keys by hash in base64. */
  readonly findKeys: (secretHashes: readonly Buffer[]) => Promise<ReadonlyMap<string, Found>>;
  readonly monotonicMs: () => number;
  readonly schedule?: (run: () => void, ms: number) => void;
  /** Whether callers may be guessing keys here, so that queries are paced after one that found none. */
  readonly isPaced: boolean;
}

/** A key's first use waits at most this long for its look-up, and only while keys are being guessed. */
const PACE_MS = 100;
/** Keys are considered as being guessed for this long after an unknown one. */
const GUESSING_MS = 1_000;
/** A query that takes longer, on a connection that no longer answers for instance, does not delay those behind it. */
const ALONE_MS = 20;
const MAX_RUNNING = 4;
const MAX_BATCH = 500;
const MAX_WAITING = 5_000;

interface Waiting<Found> {
  readonly secretHash: Buffer;
  readonly resolve: (found: Found | null) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatchLookUps<Found>(services: BatchLookUpServices<Found>): BatchLookUps<Found> {
  const { findKeys, monotonicMs, schedule = unrefTimeout, isPaced } = services;
  const waiting: Waiting<Found>[] = [];
  let running = 0;
  let isCollecting = false;
  let isScheduled = false;
  let lastStartMs = Number.NEGATIVE_INFINITY;
  let lastMissMs = Number.NEGATIVE_INFINITY;

  const runBatch = async (): Promise<void> => {
    running += 1;
    lastStartMs = monotonicMs();
    const hasMiss = await lookUpAll(waiting.splice(0, MAX_BATCH), findKeys);
    if (hasMiss) lastMissMs = monotonicMs();
    running -= 1;
    startNext();
  };
  const startNext = (): void => {
    if (running >= MAX_RUNNING || waiting.length === 0) return;
    const nowMs = monotonicMs();
    const pauseMs = isPaced && nowMs - lastMissMs < GUESSING_MS ? PACE_MS : 0;
    const waitMs = lastStartMs + Math.max(pauseMs, running === 0 ? 0 : ALONE_MS) - nowMs;
    if (waitMs <= 0) return void runBatch();
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      startNext();
    }, waitMs);
  };
  /** All look-ups that begin in one tick share a query. */
  const startSoon = (): void => {
    if (isCollecting) return;
    isCollecting = true;
    setImmediate(() => {
      isCollecting = false;
      startNext();
    });
  };
  return {
    find: (secretHash) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= MAX_WAITING) return reject(tooManyUnknownKeys());
        waiting.push({ secretHash, resolve, reject });
        return startSoon();
      }),
  };
}

/** Returns whether one of the keys is unknown. */
async function lookUpAll<Found>(
  batch: readonly Waiting<Found>[],
  findKeys: BatchLookUpServices<Found>["findKeys"],
): Promise<boolean> {
  try {
    const found = await findKeys(batch.map(({ secretHash }) => secretHash));
    for (const { secretHash, resolve } of batch) resolve(found.get(secretHash.toString("base64")) ?? null);
    return batch.some(({ secretHash }) => !found.has(secretHash.toString("base64")));
  } catch (error) {
    for (const { reject } of batch) reject(error);
    return false;
  }
}

function unrefTimeout(run: () => void, ms: number): void {
  setTimeout(run, ms).unref();
}

function tooManyUnknownKeys(): GatewayError {
  return new GatewayError("OVERLOADED", {
    message: "Too many requests with API keys that are not cached yet are waiting. Retry in a moment.",
    retryAfterSeconds: 2,
  });
}
