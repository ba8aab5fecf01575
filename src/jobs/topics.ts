// The topics of jobs' changes. They are only hints, so every waiter also reads the job again from time to time.
import { type RawBuilder, sql } from "kysely";

const ENDS = "job:";
const PROGRESS = "job.progress:";

/** Topic of a job's end, and of its cancellation. Earlier versions publish every change here. */
export function jobTopic(jobId: string): string {
  return ENDS + jobId;
}

/** The same as an expression. */
export function jobTopicOf(jobId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${sql.lit(ENDS)} || ${jobId}`;
}

/** Topic of all other changes, which do not concern a caller who waits for the end. */
export function progressTopic(jobId: string): string {
  return PROGRESS + jobId;
}

/** The same as an expression. */
export function progressTopicOf(jobId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${sql.lit(PROGRESS)} || ${jobId}`;
}

/** Topic of cancellations, for the job's worker. Separate from its progress, which would cut short each of the worker's own pauses. */
export function cancelTopic(jobId: string): string {
  return `job.cancel:${jobId}`;
}
