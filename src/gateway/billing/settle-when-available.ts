// Retries the settlement of a received answer until the request's deadline while the database is unavailable.
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { retryUntilDeadline } from "../../storage/retry-until-deadline.ts";
import type { GatewayServices } from "../services.ts";
import { resultNotStored } from "../calls/database-unavailable.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";

/** A failover takes seconds. Waiting answers are held in memory, so none waits for minutes. */
const LONGEST_WAIT_MS = 60_000;

export interface SettleOptions {
  readonly deadlineAtMs: number;
  /** Burned if the outcome cannot be stored: its key must never run again. */
  readonly slot: Pick<ClaimedSlot, "burn"> | null;
}

/** `write` may be called repeatedly. Throws PROVIDER_RESULT_UNKNOWN at the deadline. */
export async function settleWhenAvailable<T>(
  { now }: Pick<GatewayServices, "now">,
  { deadlineAtMs, slot }: SettleOptions,
  write: () => Promise<T>,
): Promise<T> {
  const deadlineAt = new Date(Math.min(deadlineAtMs, now().getTime() + LONGEST_WAIT_MS));
  try {
    return await retryUntilDeadline({ deadlineAt, now }, write, isDatabaseUnavailable);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    await slot?.burn();
    throw resultNotStored(error);
  }
}
