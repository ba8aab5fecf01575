// The topics of jobs' changes. They are only hints, so nobody who waits relies on them.
import { type RawBuilder, sql } from "kysely";

const CHANGES = "job:";

/** Topic of every change of a job. */
export function jobTopic(jobId: string): string {
  return CHANGES + jobId;
}

/** The same as an expression. */
export function jobTopicOf(jobId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${sql.lit(CHANGES)} || ${jobId}`;
}

/** Topic of cancellations, for the job's worker. Separate from its progress, which would cut short each of the worker's own pauses. */
export function cancelTopic(jobId: string): string {
  return `job.cancel:${jobId}`;
}
