// A paid answer is not lost because the database or the object store is unavailable for a moment [jobs.database-outage]: its write is
// repeated until it succeeds, the job is another worker's, or its time is over. Only for writes that are idempotent.
import type { RetryPolicy } from "../storage/retry-until-deadline.ts";

export { type RetryPolicy, retryUntilDeadline } from "../storage/retry-until-deadline.ts";

/** Until the job's deadline, while this attempt holds the job. `signal` aborts when the lease is lost or this process can wait no longer. */
export function retryPolicyFor(
  { deadlineAt }: { readonly deadlineAt: Date },
  { gateway }: { readonly gateway: { readonly now: () => Date } },
  signal: AbortSignal,
): RetryPolicy {
  return { signal, deadlineAt, now: gateway.now };
}
