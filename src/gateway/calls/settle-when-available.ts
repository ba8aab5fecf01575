// Retries the settlement of a received answer until the request's deadline while the database is unavailable.
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { retryUntilDeadline } from "../../storage/retry-until-deadline.ts";
import type { GatewayServices } from "../services.ts";
import { resultNotStored } from "./database-unavailable.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";

/** A failover takes seconds. Waiting answers are held in memory, so none waits for minutes. */
const LONGEST_WAIT_MS = 60_000;

export interface SettleOptions {
  readonly deadlineAtMs: number;
  /** Burned if the outcome cannot be stored: its key must never run again. */
  readonly slot: Pick<ClaimedSlot, "burn"> | null;
}

/** `write` may be called repeatedly. A result without a promise needs no database. Throws PROVIDER_RESULT_UNKNOWN at the deadline. */
export function settleWhenAvailable<T>(
  services: Pick<GatewayServices, "now">,
  options: SettleOptions,
  write: () => MaybePromise<T>,
): MaybePromise<T> {
  const first = write();
  return first instanceof Promise ? retryWrite(services, options, first, write) : first;
}

async function retryWrite<T>(
  { now }: Pick<GatewayServices, "now">,
  { deadlineAtMs, slot }: SettleOptions,
  first: Promise<T>,
  write: () => MaybePromise<T>,
): Promise<T> {
  const deadlineAt = new Date(Math.min(deadlineAtMs, now().getTime() + LONGEST_WAIT_MS));
  let firstWrite: Promise<T> | null = first;
  try {
    return await retryUntilDeadline(
      { signal: new AbortController().signal, deadlineAt, now },
      async () => {
        const answer = firstWrite ?? write();
        firstWrite = null;
        return answer;
      },
      isDatabaseUnavailable,
    );
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    await slot?.burn();
    throw resultNotStored(error);
  }
}
