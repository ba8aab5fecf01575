// Renews the leases of all jobs of this process together every 10 s, a third of their duration [jobs.dead-worker]. A renewal also reports which jobs were
// taken over.
import type { Database, systemAccess } from "../storage/database.ts";
import { type Fence, renewJobLeases } from "./store/claimed-jobs.ts";
import { bypassRls } from "../storage/system.ts";

export interface Lease {
  /** Aborts when another attempt has the job. */
  readonly lost: AbortSignal;
  release(): void;
}

export interface Leases {
  hold(fence: Fence): Lease;
  renew(): Promise<void>;
  close(): void;
}

export interface LeasesOptions {
  readonly database: Pick<Database, typeof systemAccess>;
  /** Called when a renewal failed. The next one may succeed before the lease ends. */
  readonly onError: (error: unknown) => void;
}

const RENEW_EVERY_MS = 10_000;

export function createLeases({ database, onError }: LeasesOptions): Leases {
  const held = new Map<Fence, AbortController>();
  const renew = async (): Promise<void> => {
    const fences = [...held.keys()];
    const renewed = await renewJobLeases(
      bypassRls(database, "claim").db,
      fences.map(({ id, attempt }) => ({ id, attempt })),
    );
    for (const fence of fences) {
      if (renewed.some(({ id, attempt }) => id === fence.id && attempt === fence.attempt)) continue;
      held.get(fence)?.abort(new Error("the lease was lost"));
    }
  };
  const timer = setInterval(() => {
    if (held.size > 0) renew().catch(onError);
  }, RENEW_EVERY_MS);
  timer.unref();
  return {
    hold: (fence) => {
      const controller = new AbortController();
      held.set(fence, controller);
      return { lost: controller.signal, release: () => held.delete(fence) };
    },
    renew,
    close: () => clearInterval(timer),
  };
}
