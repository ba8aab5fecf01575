// An in-process cache for one account's calls, with expiry: tokens that a secret was exchanged for. Nothing is written to disk, and keys are digests, so that
// no list of secrets exists.
import { createHash } from "node:crypto";

export interface CachedValue {
  readonly value: string;
  readonly forMs: number;
}

export interface Memory {
  /** Concurrent callers share one `make`. If it fails, only its own caller fails, and each of the others tries again. */
  get(key: string, make: () => Promise<CachedValue>): Promise<string>;
  forget(key: string): void;
}

const MAX_ENTRIES = 1_000;

export function createMemory(nowMs: () => number = Date.now): Memory {
  const entries = new Map<string, { readonly value: string; readonly untilMs: number }>();
  const flights = new Map<string, Promise<CachedValue>>();

  function keep(digest: string, { value, forMs }: CachedValue): void {
    const now = nowMs();
    for (const [each, { untilMs }] of entries) if (untilMs <= now) entries.delete(each);
    const oldest = entries.keys().next();
    if (entries.size >= MAX_ENTRIES && oldest.done !== true) entries.delete(oldest.value);
    entries.set(digest, { value, untilMs: now + forMs });
  }

  return {
    get: async (key, make) => {
      const digest = digestOf(key);
      const entry = entries.get(digest);
      if (entry !== undefined && entry.untilMs > nowMs()) return entry.value;
      const flight = flights.get(digest);
      if (flight !== undefined) {
        const shared = await flight.catch(() => null);
        if (shared !== null) return shared.value;
      }
      const ownFlight = make();
      flights.set(digest, ownFlight);
      try {
        const result = await ownFlight;
        keep(digest, result);
        return result.value;
      } finally {
        if (flights.get(digest) === ownFlight) flights.delete(digest);
      }
    },
    forget: (key) => void entries.delete(digestOf(key)),
  };
}

function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64");
}
