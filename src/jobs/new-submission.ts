// Builds what a submission stores: the row of its job with the sealed request, and the same job opened, for the process that begins it at once.
import type { KeptAudio } from "../audio/spool.ts";
import type { JobId } from "../contract/ids.ts";
import type { JobRequestFields } from "../contract/jobs.ts";
import { appOf } from "../gateway/account/app-of.ts";
import { payerOf } from "../gateway/account/payer.ts";
import { billingClassOf } from "../gateway/billing/billing-class.ts";
import { canSeeNames } from "../gateway/calls/routing-errors.ts";
import type { ClaimedSlot } from "../gateway/idempotency/with-slot.ts";
import type { AudioCall } from "../gateway/transcription/audio-call.ts";
import type { MeasuredAudio } from "../gateway/transcription/measure-audio.ts";
import type { Reservation } from "../metering/ledger-entries.ts";
import type { RouteDecision } from "../routing/decide-route.ts";
import { jobAudio, type JobRequest, type OpenJob, sealRequest } from "./job-request.ts";
import { pricesFor } from "./job-prices.ts";
import type { JobServices } from "./services.ts";
import type { PendingSubmission, Submission } from "./submission.ts";

export interface JobCall extends AudioCall {
  /** The fields that only jobs have, as they were sent: the idempotency key compares them, without defaults. */
  readonly ownFields: Pick<JobRequestFields, "task" | "metadata">;
}

export type SuccessfulDecision = Extract<RouteDecision, { ok: true }>;

export interface Acceptance {
  readonly jobId: JobId;
  readonly decision: SuccessfulDecision;
  readonly audio: { readonly measured: MeasuredAudio; readonly sha256: string } | null;
  readonly audioKey: string | null;
  readonly slot: ClaimedSlot | null;
}

/** The submission for each reservation that may be made for it. */
export function submissionsOf(
  { gateway, seal }: Pick<JobServices, "gateway" | "seal">,
  call: JobCall,
  { jobId, decision, audio, audioKey, slot }: Acceptance,
  replyAt: Submission["replyAt"],
): (reservation: Reservation | null) => Omit<PendingSubmission, "onBegin"> {
  const owner = { workspaceId: call.principal.workspace.id, appId: appOf(call.principal).id };
  const request = requestOf(gateway, call, decision);
  const sealedRequest = sealRequest(seal, owner.workspaceId, jobId, request);
  const measured = audio === null ? null : jobAudio(audio.measured, audio.sha256);
  const openAt = (reservation: Reservation | null, deadlineAt: Date): OpenJob => ({
    id: jobId,
    attempt: 1,
    laidAside: 0,
    ...owner,
    payer: payerOf(call, decision.purpose),
    request,
    audio: measured,
    audioKey,
    call:
      reservation === null
        ? null
        : { attemptId: reservation.attemptId, position: reservation.position, state: "reserved" },
    remoteRun: null,
    failures: [],
    cancelRequested: false,
    deadlineAt,
  });
  return (reservation) => ({
    owner,
    reservation,
    slot: slot?.ref ?? null,
    replyAt,
    openAt: (deadlineAt) => openAt(reservation, deadlineAt),
    keepAudio: (): KeptAudio | null => (call.audio.kind === "spooled" ? call.audio.spooled.keep() : null),
    job: {
      id: jobId,
      keyId: call.principal.key.id,
      requestId: call.requestId,
      task: call.task,
      request: sealedRequest,
      audio: measured,
      audioKey,
      reserved: reservation,
      purpose: decision.purpose,
      metadata: call.ownFields.metadata ?? {},
      slotKey: slot?.ref.keySha256 ?? null,
      beginsSimulated: beginsSimulated(call, decision),
    },
  });
}

/** True for a test key, or if the first target is the sandbox. */
function beginsSimulated({ principal }: JobCall, { candidates }: SuccessfulDecision): boolean {
  const [first] = candidates;
  return first !== undefined && billingClassOf(principal, first.target, null) === "simulated";
}

function requestOf(gateway: JobServices["gateway"], call: JobCall, decision: SuccessfulDecision): JobRequest {
  const { principal, audio } = call;
  const app = appOf(principal);
  return {
    ...(audio.kind === "url"
      ? { url: audio.url, hints: { mediaType: audio.mediaTypeHint, fileName: audio.fileNameHint } }
      : { url: null }),
    endpoint: call.endpoint,
    testMode: principal.testMode,
    hasPlan: principal.workspace.plan !== null,
    showNames: canSeeNames(principal),
    holders: {
      key: { id: principal.key.id, quota: principal.key.quota },
      app: { id: app.id, quota: app.quota },
    },
    route: decision.route,
    prices: pricesFor(gateway, decision.route),
    profile: call.fields.response_profile ?? null,
    wanted: decision.wanted,
    purpose: decision.purpose,
    warnings: decision.warnings,
  };
}
