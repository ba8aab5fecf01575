// Retries a write while the database is unavailable, until a deadline. Only for idempotent writes.
import { setTimeout as wait } from "node:timers/promises";
import { isServerUnavailable } from "./database-faults.ts";

export interface RetryPolicy {
  /** Aborts when the result is no longer useful, or the process must stop waiting. */
  readonly signal?: AbortSignal;
  readonly deadlineAt: Date;
  readonly now: () => Date;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export async function retryUntilDeadline<T>(
  { signal, deadlineAt, now }: RetryPolicy,
  write: () => Promise<T>,
  isTransient: (error: unknown) => boolean = isServerUnavailable,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      if (signal?.aborted === true || now() >= deadlineAt || !isTransient(error)) throw error;
    }
    await wait(pauseMs, undefined, { ...(signal === undefined ? {} : { signal }), ref: false }).catch(() => undefined);
  }
}
