// What a job's row stores of its submission: request, purpose and route as they were then [jobs.fixed-at-submission]. It is sealed until the purge removes
// it, because it can contain a signed URL, a prompt and a caller's vocabulary [jobs.encrypted-at-rest].
import type { KeyInfo, AppInfo } from "../auth/principal.ts";
import { brand, type AppId, type JobId, type KeyId, type RequestId, type WorkspaceId } from "../contract/ids.ts";
import type { Profile } from "../contract/features.ts";
import type { PurposeFields, Warning } from "../contract/transcription/transcription-envelope.ts";
import type { FailedAttempt } from "../gateway/calls/judge-failure.ts";
import type { Payer } from "../gateway/account/payer.ts";
import type { MeasuredAudio } from "../gateway/transcription/measure-audio.ts";
import type { StoredAudioPrice } from "../metering/price.ts";
import type { RemoteRun } from "../providers/io.ts";
import type { SpeechAudio } from "../providers/provider.ts";
import type { Requirements } from "../routing/required-features.ts";
import type { Route } from "../routing/types.ts";
import type { JobCall } from "./store/claimed-jobs.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { JobRow } from "../storage/schema/tables.ts";

export interface JobRequest {
  /** Null: the audio was uploaded. */
  readonly url: string | null;
  /** The caller's hints about the audio behind a URL. Absent: the job was submitted before hints were stored. */
  readonly hints?: { readonly mediaType: string | null; readonly fileName: string | null };
  readonly endpoint: string;
  readonly testMode: boolean;
  readonly hasPlan: boolean;
  readonly showNames: boolean;
  readonly holders: { readonly key: Pick<KeyInfo, "id" | "quota">; readonly app: Pick<AppInfo, "id" | "quota"> };
  readonly route: Route;
  /** Prices of the targets that have one. Absent: the job was submitted before prices were stored. */
  readonly prices?: readonly StoredAudioPrice[];
  readonly profile: Profile | null;
  readonly wanted: Requirements;
  readonly purpose: PurposeFields;
  readonly warnings: readonly Warning[];
}

/** Measurements of the audio, without any of its content. */
export interface JobAudio {
  readonly facts: Omit<SpeechAudio, "open">;
  readonly warnings: readonly Warning[];
  /** SHA-256 of the recording, hexadecimal. Absent: the job was submitted before hashes were stored. */
  readonly sha256?: string;
}

export function jobAudio({ speech, warnings }: MeasuredAudio, sha256: string): JobAudio {
  const { open: _, ...facts } = speech;
  return { facts, warnings, sha256 };
}

/** A job's row with its request unsealed. */
export interface OpenJob {
  readonly id: JobId;
  readonly attempt: number;
  /** Number of attempts that were parked or postponed without any work. */
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
  return seal.seal(Buffer.from(JSON.stringify(request)), sealContext(workspaceId, jobId));
}

/** The casts are safe: only this folder writes the JSON columns and the sealed request. */
export function openJob(seal: Seal, row: JobRow): OpenJob {
  if (row.request === null) throw new Error("the job was purged");
  const request = JSON.parse(
    seal.open(row.request, sealContext(row.workspace_id, row.id)).toString("utf8"),
  ) as JobRequest;
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

function sealContext(workspaceId: string, jobId: string): readonly string[] {
  return ["jobs.request", workspaceId, jobId];
}
