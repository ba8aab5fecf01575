// What a job stores of its submission: the request, the purpose and the route as they were then [jobs.fixed-at-submission]. Sealed in
// its row, because it can contain a signed URL, a prompt and a caller's vocabulary [jobs.encrypted-at-rest]. The purge removes it.
import type { KeyInfo, AppInfo } from "../auth/principal.ts";
import { brand, type AppId, type JobId, type KeyId, type RequestId, type WorkspaceId } from "../contract/ids.ts";
import type { Profile } from "../contract/features.ts";
import type { PurposeFields, Warning } from "../contract/transcription.ts";
import type { FailedAttempt } from "../gateway/calls/judge-failure.ts";
import type { Payer } from "../gateway/calls/candidate-run.ts";
import type { MeasuredAudio } from "../gateway/transcription/measure-audio.ts";
import type { StoredAudioPrice } from "../metering/price.ts";
import type { RemoteRun } from "../providers/io.ts";
import type { SpeechAudio } from "../providers/provider.ts";
import type { Requirements } from "../routing/required-features.ts";
import type { Route } from "../routing/types.ts";
import type { JobCall } from "../storage/job-work.ts";
import type { Seal } from "../storage/seal.ts";
import type { JobRow } from "../storage/tables.ts";

export interface JobRequest {
  /** Null: it was uploaded. */
  readonly url: string | null;
  /** What its caller says of the audio behind a URL; absent of jobs from before it was kept. */
  readonly hints?: { readonly mediaType: string | null; readonly fileName: string | null };
  readonly endpoint: string;
  readonly testMode: boolean;
  readonly hasPlan: boolean;
  readonly showNames: boolean;
  readonly holders: { readonly key: Pick<KeyInfo, "id" | "quota">; readonly app: Pick<AppInfo, "id" | "quota"> };
  readonly route: Route;
  /** Of its targets that have one; absent of jobs from before they were kept. */
  readonly prices?: readonly StoredAudioPrice[];
  readonly profile: Profile | null;
  readonly wanted: Requirements;
  readonly purpose: PurposeFields;
  readonly warnings: readonly Warning[];
}

/** What was measured; nothing of what was said. */
export interface JobAudio {
  readonly facts: Omit<SpeechAudio, "open">;
  readonly warnings: readonly Warning[];
  /** Of the recording, hexadecimal; absent of jobs from before it was kept. */
  readonly sha256?: string;
}

export function jobAudio({ speech, warnings }: MeasuredAudio, sha256: string): JobAudio {
  const { open: _, ...facts } = speech;
  return { facts, warnings, sha256 };
}

/** A row as its worker understands it. */
export interface OpenJob {
  readonly id: JobId;
  readonly attempt: number;
  /** How many of its attempts only found that it has to wait. */
  readonly laidAside: number;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly payer: Payer;
  readonly request: JobRequest;
  readonly audio: JobAudio | null;
  readonly audioKey: string | null;
  readonly call: JobCall | null;
  readonly remoteRun: RemoteRun | null;
  readonly failures: readonly FailedAttempt[];
  readonly cancelRequested: boolean;
  readonly deadlineAt: Date;
}

export function sealRequest(seal: Seal, workspaceId: string, jobId: string, request: JobRequest): Buffer {
  return seal.seal(Buffer.from(JSON.stringify(request)), place(workspaceId, jobId));
}

/** The JSON columns and the sealed request are written by this room alone. */
export function openJob(seal: Seal, row: JobRow): OpenJob {
  if (row.request === null) throw new Error("the job was purged");
  const request = JSON.parse(seal.open(row.request, place(row.workspace_id, row.id)).toString("utf8")) as JobRequest;
  const call =
    row.call_attempt_id === null || row.call_position === null || row.call_state === null
      ? null
      : { attemptId: row.call_attempt_id, position: row.call_position, state: row.call_state };
  const workspaceId: WorkspaceId = brand("workspace", row.workspace_id);
  const appId: AppId = brand("app", row.app_id);
  const requestId: RequestId = brand("request", row.request_id);
  const keyId: KeyId | null = row.key_id === null ? null : brand("key", row.key_id);
  const { endpoint, testMode, hasPlan } = request;
  const purpose = request.purpose.svc_applied_purpose;
  return {
    id: brand("job", row.id),
    attempt: row.attempt,
    laidAside: row.laid_aside,
    workspaceId,
    appId,
    payer: { requestId, endpoint, workspaceId, appId, keyId, purpose, testMode, hasPlan },
    request,
    audio: row.audio as JobAudio | null,
    audioKey: row.audio_key,
    call,
    remoteRun: row.remote_run as RemoteRun | null,
    failures: row.failures as readonly FailedAttempt[],
    cancelRequested: row.cancel_requested,
    deadlineAt: row.deadline_at,
  };
}

function place(workspaceId: string, jobId: string): readonly string[] {
  return ["jobs.request", workspaceId, jobId];
}
