// What an account's calls share in this process until it expires: tokens that a secret was exchanged for. Nothing is written
// down, and the keys are digests, so that no list of secrets comes to be.
import { createHash } from "node:crypto";

export interface Remembered {
  readonly value: string;
  readonly forMs: number;
}

export interface Memory {
  /** One `make` at a time serves all who ask meanwhile; its failure is its own, and each of the others tries for itself. */
  get(key: string, make: () => Promise<Remembered>): Promise<string>;
  forget(key: string): void;
}

const MAX_ENTRIES = 1_000;

export function createMemory(nowMs: () => number = Date.now): Memory {
  const kept = new Map<string, { readonly value: string; readonly untilMs: number }>();
  const flights = new Map<string, Promise<Remembered>>();

  function keep(digest: string, { value, forMs }: Remembered): void {
    const now = nowMs();
    for (const [each, { untilMs }] of kept) if (untilMs <= now) kept.delete(each);
    const oldest = kept.keys().next();
    if (kept.size >= MAX_ENTRIES && oldest.done !== true) kept.delete(oldest.value);
    kept.set(digest, { value, untilMs: now + forMs });
  }

  return {
    get: async (key, make) => {
      const digest = digestOf(key);
      const known = kept.get(digest);
      if (known !== undefined && known.untilMs > nowMs()) return known.value;
      const flight = flights.get(digest);
      if (flight !== undefined) {
        const shared = await flight.catch(() => null);
        if (shared !== null) return shared.value;
      }
      const own = make();
      flights.set(digest, own);
      try {
        const made = await own;
        keep(digest, made);
        return made.value;
      } finally {
        if (flights.get(digest) === own) flights.delete(digest);
      }
    },
    forget: (key) => void kept.delete(digestOf(key)),
  };
}

function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64");
}
