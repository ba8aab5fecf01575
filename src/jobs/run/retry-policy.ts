// The policy for writing a paid result while the database or the object store is unavailable [jobs.database-outage]: retried until it succeeds, another
// worker has the job, or the time is over. Only for idempotent writes.
import type { RetryPolicy } from "../../storage/retry-until-deadline.ts";

export { type RetryPolicy, retryUntilDeadline } from "../../storage/retry-until-deadline.ts";

/** Retries until the job's deadline, while this attempt has the job. `signal` aborts when the lease is lost or this process can wait no longer. */
export function retryPolicyFor(
  { deadlineAt }: { readonly deadlineAt: Date },
  { gateway }: { readonly gateway: { readonly now: () => Date } },
  signal: AbortSignal,
): RetryPolicy {
  return { signal, deadlineAt, now: gateway.now };
}
