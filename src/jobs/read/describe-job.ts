// Converts a job's database row to the job in API responses, and to the entries of lists.
import type { ListedJobView } from "../../contract/admin/job-list.ts";
import type { Job, JobError, SubmittedJob } from "../../contract/jobs.ts";
import type { PurposeFields, TranscriptionEnvelope } from "../../contract/transcription/transcription-envelope.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { JobSummary, VisibleJob } from "../store/jobs.ts";
import { loadEnvelope } from "./load-result.ts";
import type { JobServices } from "../services.ts";

export function pollUrl(jobId: string): string {
  return `/v1/transcription/jobs/${jobId}`;
}

export function describeSubmitted(jobId: string, createdAt: Date): SubmittedJob {
  return {
    object: "transcription.job",
    job_id: jobId,
    status: "queued",
    poll_url: pollUrl(jobId),
    created_at: createdAt.toISOString(),
  };
}

/** A job and its result as JSON text, which is not parsed on its way to the caller. */
export interface JobView {
  /** Its `result` is always null: the envelope is inserted into the response text. */
  readonly job: Job;
  readonly envelope: Buffer | null;
}

/** Includes the result inline if it is in the row, otherwise as a freshly signed URL. */
export async function describeJob(
  services: Pick<JobServices, "seal" | "objects" | "tokens" | "limits" | "gateway" | "database" | "resultReads">,
  row: VisibleJob,
  room: AnswerRoom,
): Promise<JobView> {
  const envelope = row.result_bytes === null ? null : await loadEnvelope(services, row, room);
  return { job: { ...summarise(row), result_url: resultUrl(services, row) }, envelope };
}

/** The casts are safe: only this folder writes the JSON columns. */
export function summarise(row: JobSummary): Job {
  return {
    object: "transcription.job",
    job_id: row.id,
    status: row.status,
    poll_url: pollUrl(row.id),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    cancel_requested: row.cancel_requested,
    attempts: row.attempt,
    progress: { stage: row.stage, fraction: row.fraction === null ? null : Math.round(row.fraction * 1000) / 1000 },
    metadata: row.metadata as Record<string, string>,
    result: null,
    result_url: null,
    result_expired: row.purged_at !== null,
    error: row.error as JobError | null,
    usage: row.usage as TranscriptionEnvelope["usage"] | null,
    provider_deletion: row.provider_deletion,
    simulated: row.simulated,
    ...(row.purpose as PurposeFields),
  };
}

/** For the admin API: without the caller's metadata and result. */
export function describeListed(row: JobSummary): ListedJobView {
  const { poll_url: _poll, metadata: _metadata, result: _result, result_url: _url, ...job } = summarise(row);
  return {
    ...job,
    workspace: row.workspace_id,
    app: row.app_id,
    key: row.key_id,
    request_id: row.request_id,
    task: row.task,
    deadline_at: row.deadline_at.toISOString(),
  };
}

function resultUrl(
  { tokens, limits, gateway }: Pick<JobServices, "tokens" | "limits" | "gateway">,
  row: VisibleJob,
): string | null {
  if (row.result_key === null) return null;
  const expiresAt = new Date(gateway.now().getTime() + limits.resultUrlTtlSeconds * 1000);
  return `/v1/transcription/results/${tokens.sign({ workspaceId: row.workspace_id, jobId: row.id }, expiresAt)}`;
}
