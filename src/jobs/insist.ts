// A paid answer is not lost because the database or the object store is unavailable for a moment [jobs.database-outage]: its write is
// repeated until it succeeds, the job is another worker's, or its time is over. Only for writes that are idempotent.
import type { RetryPolicy } from "../storage/retry-until-deadline.ts";

export { retryUntilDeadline as insist } from "../storage/retry-until-deadline.ts";

/** `signal` aborts when the job is lost, or this process can wait no longer. */
export type Insistence = RetryPolicy;

/** For as long as the job has time, and this attempt has the job. */
export function insistenceOn(
  { deadlineAt }: { readonly deadlineAt: Date },
  { gateway }: { readonly gateway: { readonly now: () => Date } },
  signal: AbortSignal,
): Insistence {
  return { signal, deadlineAt, now: gateway.now };
}
