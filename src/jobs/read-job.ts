// What a caller reads of its jobs: one, at once or when it has ended; its changes as they happen; a page of them.
import { GatewayError } from "../contract/errors.ts";
import { brand, type WorkspaceId } from "../contract/ids.ts";
import type { ListedJobView } from "../contract/job-list.ts";
import type { JobList, JobStatus } from "../contract/jobs.ts";
import type { AnswerRoom } from "../lib/answer-room.ts";
import { pageOf } from "../lib/list-page.ts";
import { type JobOwner, listJobs, readJob, type VisibleJob } from "../storage/jobs.ts";
import { asWorkspaceOrSystem } from "../storage/system.ts";
import { describeJob, describeListed, type JobView, summarise } from "./describe-job.ts";
import { type JobServices, jobTopic } from "./services.ts";
import { isTerminal } from "./states.ts";
import { newsOf } from "./wait.ts";

export type { JobOwner } from "../storage/jobs.ts";

/** For a notification that was lost. */
const LOOK_AGAIN_MS = 5_000;

export function noSuchJob(): GatewayError {
  return new GatewayError("JOB_NOT_FOUND", { message: "There is no such job." });
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

export interface Waiting {
  readonly milliseconds: number;
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  readonly room: AnswerRoom;
}

/** When it has ended, or the time is up. */
export async function pollJob(services: JobServices, owner: JobOwner, id: string, waiting: Waiting): Promise<JobView> {
  return awaitEnd(services, owner, id, waiting, (row) => describeJob(services, row, waiting.room));
}

/** Ended, or the time is up. */
export async function awaitEnd<T>(
  services: Pick<JobServices, "database" | "queue">,
  owner: JobOwner,
  id: string,
  waiting: Waiting,
  read: (row: VisibleJob) => Promise<T>,
): Promise<T> {
  const endsAtMs = performance.now() + waiting.milliseconds;
  const news = newsOf(services.queue, jobTopic(id));
  try {
    for (;;) {
      const row = await findJob(services, owner, id);
      const isOver = isTerminal(row.status) || performance.now() >= endsAtMs || waiting.signal.aborted;
      if (isOver) return await read(row);
      await news.next(Math.min(Math.max(0, endsAtMs - performance.now()), LOOK_AGAIN_MS), waiting.signal);
    }
  } finally {
    news.stop();
  }
}

/** The job as it is, again at every change, until it has ended. The caller has seen that it exists. */
export async function* watchJob(
  services: JobServices,
  owner: JobOwner,
  id: string,
  { signal, room }: Omit<Waiting, "milliseconds">,
): AsyncGenerator<JobView> {
  const news = newsOf(services.queue, jobTopic(id));
  let shown = "";
  try {
    while (!signal.aborted) {
      const row = await findJob(services, owner, id);
      // The result comes with the status that ends the job.
      const seen = JSON.stringify(summarise(row));
      if (seen !== shown) yield await describeJob(services, row, room);
      shown = seen;
      if (isTerminal(row.status)) return;
      await news.next(LOOK_AGAIN_MS, signal);
    }
  } finally {
    news.stop();
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
  const asked = { status, id: null, limit: limit + 1, before: cursor };
  const rows = await database.inWorkspace(owner.workspaceId, (tx) => listJobs(tx, owner, asked));
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
  /** Where this page ends; null: it is the last. */
  readonly end: string | null;
}

/** For whoever administers them: of a workspace or, for the operator, of all (`workspaceId` null). */
export async function listJobsOf(
  database: JobServices["database"],
  workspaceId: WorkspaceId | null,
  { status, app, job }: JobQuestion,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<ListedJobs> {
  const scope = { workspaceId, appId: app === undefined ? null : brand("app", app) };
  const asked = { status: status ?? null, id: job ?? null, limit: limit + 1, before: after };
  const rows = await asWorkspaceOrSystem(database, workspaceId, (db) => listJobs(db, scope, asked));
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(describeListed), end: nextCursor };
}
