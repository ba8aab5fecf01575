// Checks a run of the job trials: how each accepted job ended, which calls its provider received, and which events were delivered.
import type { SubmittedJob } from "./job-client.ts";
import type { Facts } from "./job-history.ts";
import type { WebhookReceiver } from "./webhook-receiver.ts";

/** Allowed failures after a kill during a paid call; any other is an internal error. */
const HONEST_CODES = new Set(["PROVIDER_RESULT_UNKNOWN"]);

export function judgeJobs(
  accepted: readonly SubmittedJob[],
  { jobs }: Facts,
  submissions: ReadonlyMap<string, number>,
): readonly string[] {
  const found: string[] = [];
  const byId = new Map(jobs.map((job) => [job.id, job]));
  if (new Set(accepted.map((job) => job.jobId)).size !== accepted.length) found.push("two keys were given one job");
  if (jobs.length !== accepted.length) found.push(`${jobs.length} jobs for ${accepted.length} accepted keys`);
  for (const { jobId, term } of accepted) {
    const job = byId.get(jobId);
    if (job === undefined) {
      found.push(`${jobId} was accepted and is lost`);
      continue;
    }
    const calls = submissions.get(term) ?? 0;
    const isEnded = ["succeeded", "failed", "cancelled"].includes(job.status);
    if (calls > 1) found.push(`${jobId} was submitted ${calls} times`);
    if (job.status === "succeeded" && calls !== 1) found.push(`${jobId} succeeded with ${calls} submissions`);
    if (job.status === "cancelled") found.push(`${jobId} is cancelled without a request`);
    if (job.status === "failed" && !HONEST_CODES.has(job.code ?? "")) found.push(`${jobId} failed with ${job.code}`);
    if (isEnded && job.events !== 1) found.push(`${jobId} ended with ${job.events} events`);
    if (isEnded && job.ends !== 1) found.push(`${jobId} ended ${job.ends} times`);
    if (job.overwritten.length > 0) found.push(`${jobId} changed after its end: ${job.overwritten.join(", ")}`);
    const charges = job.status === "succeeded" ? 1 : 0;
    if (isEnded && job.chargedAttempts !== charges)
      found.push(`${jobId} is ${job.status} and was charged ${job.chargedAttempts} times`);
  }
  return found;
}

/** At least once, always with the same id and the job's final state. */
export function judgeDeliveries({ jobs }: Facts, { deliveries }: WebhookReceiver): readonly string[] {
  return jobs.flatMap(({ id, status, events }) => {
    const delivered = deliveries.get(id);
    if (events === 0) return delivered === undefined ? [] : [`${id} was delivered without an event`];
    if (delivered === undefined) return [`${id} ended without a webhook delivery`];
    const found: string[] = [];
    if (delivered.ids.size !== 1) found.push(`${id} was delivered under ${delivered.ids.size} ids`);
    if (delivered.statuses.size !== 1 || !delivered.statuses.has(status))
      found.push(`${id} is ${status} and was delivered as ${[...delivered.statuses].join(", ")}`);
    return found;
  });
}
