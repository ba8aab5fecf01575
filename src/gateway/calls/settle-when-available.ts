// A provider's answer in hand waits for a database that is unavailable: the settlement is repeated until the request's deadline.
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { retryUntilDeadline } from "../../storage/retry-until-deadline.ts";
import type { GatewayServices } from "../services.ts";
import { resultNotStored } from "./database-unavailable.ts";
import type { HeldSlot } from "../idempotency/with-slot.ts";

/** A failover takes seconds. Answers that wait are held in memory, so none waits for minutes. */
const LONGEST_WAIT_MS = 60_000;

export interface SettleOptions {
  readonly deadlineAtMs: number;
  /** Burned when the outcome cannot be stored: its key must never run again. */
  readonly slot: Pick<HeldSlot, "burn"> | null;
}

/** `write` may be repeated. What answers at once needs no database. Throws PROVIDER_RESULT_UNKNOWN when the time is over. */
export function settleWhenAvailable<T>(
  services: Pick<GatewayServices, "now">,
  options: SettleOptions,
  write: () => MaybePromise<T>,
): MaybePromise<T> {
  const first = write();
  return first instanceof Promise ? repeated(services, options, first, write) : first;
}

async function repeated<T>(
  { now }: Pick<GatewayServices, "now">,
  { deadlineAtMs, slot }: SettleOptions,
  first: Promise<T>,
  write: () => MaybePromise<T>,
): Promise<T> {
  const deadlineAt = new Date(Math.min(deadlineAtMs, now().getTime() + LONGEST_WAIT_MS));
  let begun: Promise<T> | null = first;
  try {
    return await retryUntilDeadline(
      { signal: new AbortController().signal, deadlineAt, now },
      async () => {
        const answer = begun ?? write();
        begun = null;
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
