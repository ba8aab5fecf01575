// Reads jobs for callers: one job, immediately or at its end, a stream of its changes, and a page of jobs.
import { GatewayError } from "../../contract/errors.ts";
import { brand, type WorkspaceId } from "../../contract/ids.ts";
import type { ListedJobView } from "../../contract/admin/job-list.ts";
import type { JobList, JobStatus } from "../../contract/jobs.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import { pageOf } from "../../lib/list-page.ts";
import { type JobOwner, listJobs, readJob, type VisibleJob } from "../store/jobs.ts";
import { asWorkspaceOrSystem } from "../../storage/system.ts";
import { describeJob, describeListed, type JobView, summarise } from "./describe-job.ts";
import type { JobServices } from "../services.ts";
import { jobTopic, progressTopic } from "../topics.ts";
import { isTerminal } from "../states.ts";
import { newsOf } from "./wait.ts";

export type { JobOwner } from "../store/jobs.ts";

/** Interval of the reads that make up for a lost notification. */
const RECHECK_MS = 5_000;

export function noSuchJob(): GatewayError {
  return new GatewayError("JOB_NOT_FOUND", { message: "The job does not exist." });
}

export async function findJob(
  { database }: Pick<JobServices, "database">,
  owner: JobOwner,
  id: string,
): Promise<VisibleJob> {
  const row = await database.inWorkspace(owner.workspaceId, (tx) => readJob(tx, owner, id));
  if (row === null) throw noSuchJob();
  return row;
}

export interface PollOptions {
  readonly milliseconds: number;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  readonly room: AnswerRoom;
}

/** Returns the job when it has ended or the time is up. */
export async function pollJob(
  services: JobServices,
  owner: JobOwner,
  id: string,
  waiting: PollOptions,
): Promise<JobView> {
  return awaitEnd(services, owner, id, waiting, (row) => describeJob(services, row, waiting.room));
}

/** Calls `read` with the row when the job has ended or the time is up. */
export async function awaitEnd<T>(
  services: Pick<JobServices, "database" | "queue">,
  owner: JobOwner,
  id: string,
  waiting: PollOptions,
  read: (row: VisibleJob) => Promise<T>,
): Promise<T> {
  const endsAtMs = performance.now() + waiting.milliseconds;
  const updates = newsOf(services.queue, [jobTopic(id)]);
  try {
    for (;;) {
      const row = await findJob(services, owner, id);
      const isOver = isTerminal(row.status) || performance.now() >= endsAtMs || waiting.signal.aborted;
      if (isOver) return await read(row);
      await updates.next(Math.min(Math.max(0, endsAtMs - performance.now()), RECHECK_MS), waiting.signal);
    }
  } finally {
    updates.stop();
  }
}

/** Yields the job now and after every change until it has ended. The caller has checked that it exists. */
export async function* watchJob(
  services: JobServices,
  owner: JobOwner,
  id: string,
  { signal, room }: Omit<PollOptions, "milliseconds">,
): AsyncGenerator<JobView> {
  const updates = newsOf(services.queue, [jobTopic(id), progressTopic(id)]);
  let previous = "";
  try {
    while (!signal.aborted) {
      const row = await findJob(services, owner, id);
      // The summary is enough to detect a change: the result arrives with the status that ends the job.
      const current = JSON.stringify(summarise(row));
      if (current !== previous) yield await describeJob(services, row, room);
      previous = current;
      if (isTerminal(row.status)) return;
      await updates.next(RECHECK_MS, signal);
    }
  } finally {
    updates.stop();
  }
}

export interface ListRequest {
  readonly status: JobStatus | null;
  readonly limit: number;
  readonly cursor: string | null;
}

export async function listOwnJobs(
  { database }: Pick<JobServices, "database">,
  owner: JobOwner,
  { status, limit, cursor }: ListRequest,
): Promise<JobList> {
  const query = { status, id: null, limit: limit + 1, before: cursor };
  const rows = await database.inWorkspace(owner.workspaceId, (tx) => listJobs(tx, owner, query));
  const { page, nextCursor } = pageOf(rows, limit);
  return { object: "list", data: page.map(summarise), has_more: nextCursor !== null, next_cursor: nextCursor };
}

export interface JobQuestion {
  readonly status?: JobStatus | undefined;
  readonly app?: string | undefined;
  readonly job?: string | undefined;
}

export interface ListedJobs {
  readonly data: readonly ListedJobView[];
  /** Cursor of the next page. Null: this is the last page. */
  readonly end: string | null;
}

/** For the admin API: jobs of one workspace or, if `workspaceId` is null, of all. */
export async function listJobsOf(
  database: JobServices["database"],
  workspaceId: WorkspaceId | null,
  { status, app, job }: JobQuestion,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<ListedJobs> {
  const scope = { workspaceId, appId: app === undefined ? null : brand("app", app) };
  const query = { status: status ?? null, id: job ?? null, limit: limit + 1, before: after };
  const rows = await asWorkspaceOrSystem(database, workspaceId, (db) => listJobs(db, scope, query));
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(describeListed), end: nextCursor };
}
