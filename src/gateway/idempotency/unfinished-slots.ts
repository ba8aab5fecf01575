// Retries in the background the ends of idempotency slots that could not be written while the database was unavailable, so that a key is free before its lease
// lapses.
import { setTimeout as wait } from "node:timers/promises";
import type { SystemHandle } from "../../storage/database.ts";
import { burnSlots, releaseSlots, type SlotRef } from "../../storage/idempotency-slots.ts";

export type SlotEnding = "release" | "burn";

export interface UnfinishedSlots {
  add(ref: SlotRef, ending: SlotEnding): void;
  /** Resolves at once if nothing is pending for this key. Rejects while the database is unavailable. */
  finish(key: Pick<SlotRef, "appId" | "keySha256">): Promise<void>;
  close(): void;
}

const RETRY_MS = 200;
/** Above it the oldest are dropped and lapse with their leases: an outage under load must not fill the memory. */
const MAX_UNFINISHED = 20_000;
const BATCH_SIZE = 500;

interface Unfinished {
  readonly ref: SlotRef;
  readonly ending: SlotEnding;
}

/** The owner is a fencing token: a late end does not change a slot that another request has taken over. */
export function createUnfinishedSlots(db: SystemHandle, retryMs = RETRY_MS): UnfinishedSlots {
  const unfinished = new Map<string, Unfinished>();
  const closed = new AbortController();
  let retrying: Promise<void> | null = null;
  let flushing: Promise<void> | null = null;

  const writeAll = async (): Promise<void> => {
    while (unfinished.size > 0) {
      const batch = [...unfinished.values()].slice(0, BATCH_SIZE);
      const refsOf = (wanted: SlotEnding) => batch.flatMap(({ ref, ending }) => (ending === wanted ? [ref] : []));
      await burnSlots(db, refsOf("burn"));
      await releaseSlots(db, refsOf("release"));
      for (const each of batch) if (unfinished.get(each.ref.owner) === each) unfinished.delete(each.ref.owner);
    }
  };
  const flush = (): Promise<void> => {
    flushing ??= writeAll().finally(() => {
      flushing = null;
    });
    return flushing;
  };
  const retry = async (): Promise<void> => {
    while (unfinished.size > 0 && !closed.signal.aborted) {
      await wait(retryMs, undefined, { ref: false });
      if (!closed.signal.aborted) await flush().catch(() => undefined);
    }
  };

  return {
    add: (ref, ending) => {
      if (unfinished.size >= MAX_UNFINISHED) unfinished.delete(unfinished.keys().next().value ?? "");
      unfinished.set(ref.owner, { ref, ending });
      retrying ??= retry().finally(() => {
        retrying = null;
      });
    },
    finish: async ({ appId, keySha256 }) => {
      for (const { ref } of unfinished.values())
        if (ref.appId === appId && ref.keySha256.equals(keySha256)) return flush();
    },
    close: () => closed.abort(),
  };
}
