// Looks up API keys that this process does not know in batches: one query for all that wait. While keys are being guessed, it starts at most one query per
// 100 ms, so that a flood of unknown keys costs a bounded share of database and event loop.
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
}

/** A key's first use waits at most this long for its look-up, and only while keys are being guessed. */
const PACE_MS = 100;
/** Keys are considered as being guessed for this long after an unknown one. */
const GUESSING_MS = 1_000;
const MAX_RUNNING = 4;
const MAX_BATCH = 500;
const MAX_WAITING = 5_000;

interface Waiting<Found> {
  readonly secretHash: Buffer;
  readonly resolve: (found: Found | null) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatchLookUps<Found>(services: BatchLookUpServices<Found>): BatchLookUps<Found> {
  const { findKeys, monotonicMs, schedule = unrefTimeout } = services;
  const waiting: Waiting<Found>[] = [];
  let running = 0;
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
    if (isScheduled || running >= MAX_RUNNING || waiting.length === 0) return;
    const nowMs = monotonicMs();
    const waitMs = nowMs - lastMissMs < GUESSING_MS ? lastStartMs + PACE_MS - nowMs : 0;
    if (waitMs <= 0) return void runBatch();
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      startNext();
    }, waitMs);
  };
  return {
    find: (secretHash) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= MAX_WAITING) return reject(tooManyUnknownKeys());
        waiting.push({ secretHash, resolve, reject });
        return startNext();
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
    return found.size < batch.length;
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
