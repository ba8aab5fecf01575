// Runs a claimed job, one named step per line. A worker reads from the row how far the job has come, and never repeats a call that may already have been made
// [jobs.resume].
import type { KeptAudio } from "../../audio/spool.ts";
import { brand } from "../../contract/ids.ts";
import { GatewayError } from "../../contract/errors.ts";
import { answerOf } from "../../gateway/transcription/answer.ts";
import type { FailedAttempt } from "../../gateway/calls/judge-failure.ts";
import { unchargedSettlement } from "../../gateway/billing/call-accounting.ts";
import { hasAccount } from "../../gateway/calls/resolve-account.ts";
import type { ServedOutcome } from "../../gateway/calls/run-outcome.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { releaseJob, type JobCall, parkJob, postpone, writeFailure, writeProgress } from "../store/claimed-jobs.ts";
import { awaitRecording } from "./await-recording.ts";
import { callTargets } from "./call-targets.ts";
import { unknownOf } from "./choose-targets.ts";
import { endJob } from "../end-job.ts";
import { deadlinePassed, JobFailure, jobErrorOf, jobOutcomeUnknown } from "../job-error.ts";
import { type OpenJob, openJob } from "../job-request.ts";
import { retryUntilDeadline, retryPolicyFor } from "./retry-policy.ts";
import type { Lease } from "../leases.ts";
import { openAudio, type ReadyAudio } from "./open-audio.ts";
import type { RecordingFault } from "./recording.ts";
import { type JobResult, storeResult } from "./store-result.ts";
import { enqueueJob, type WorkerServices } from "../services.ts";
import { cancelledAfterCall, cancelledEnd, failedEnd } from "./settle-open.ts";
import {
  isJobInterruption,
  JobCancelledError,
  type JobInterruption,
  LeaseLostError,
  WorkerStoppingError,
} from "../interruptions.ts";
import { withAppMutex } from "./app-mutex.ts";
import { bypassRls } from "../../storage/system.ts";

/** How long a claim is retried while the database is unavailable. A claim that is given up delays the job until it is offered again. */
const CLAIM_WITHIN_MS = 10_000;
/** Sealed, of a job without a slot that waits for its end: in memory its transcript is many times as large, and there may be four times as many as slots. */
const MAX_WAITING_RESULT_BYTES = 65_536;

/** `graceOver` aborts when the process can no longer wait for calls in flight. */
export async function runJob(services: WorkerServices, jobId: string, graceOver: AbortSignal): Promise<void> {
  const { now } = services.gateway;
  const deadlineAt = new Date(now().getTime() + CLAIM_WITHIN_MS);
  const row = await retryUntilDeadline({ signal: graceOver, deadlineAt, now }, () =>
    services.writes.claim(bypassRls(services.database, "claim").db, jobId),
  );
  if (row === null) return;
  await runClaimed(services, openJob(services.seal, row), graceOver, null);
}

/** `kept`: the recording, if it is in memory. It is released when the calls have ended. */
export async function runClaimed(
  services: WorkerServices,
  job: OpenJob,
  graceOver: AbortSignal,
  kept: KeptAudio | null,
): Promise<void> {
  using releasing = new DisposableStack();
  if (kept !== null) releasing.defer(() => kept.release());
  const lease = services.leases.hold(job);
  services.gateway.logger.info({ job_id: job.id, attempt: job.attempt, event: "job.claimed" });
  const signal = AbortSignal.any([lease.lost, graceOver]);
  try {
    await work(services, job, lease, signal, kept);
  } catch (error) {
    if (isJobInterruption(error)) await interruptJob(services, job, causeOf(error, lease, graceOver), signal);
    else if (isFinalError(error)) {
      if (error.code === "INTERNAL")
        services.gateway.logger.error({ job_id: job.id, err: error.cause, ...error.details, event: "job.fault" });
      await failJob(services, job, error, signal);
    }
    // An internal error, or no capacity: the lease lapses and another attempt follows, up to the maximum.
    else throw error;
  } finally {
    lease.release();
  }
}

function isFinalError(error: unknown): error is GatewayError | JobFailure {
  return error instanceof JobFailure || (error instanceof GatewayError && error.code !== "OVERLOADED");
}

async function work(
  services: WorkerServices,
  claimed: OpenJob,
  lease: Lease,
  signal: AbortSignal,
  kept: KeptAudio | null,
): Promise<void> {
  for (let job = claimed; ; ) {
    const outcome = await workOnce(services, job, lease, signal, kept);
    if (outcome === "ended") return;
    job = await awaitRecording(services, job, outcome.audio, outcome.fault, signal);
  }
}

interface UnreadableRecording {
  readonly audio: ReadyAudio;
  readonly fault: RecordingFault;
}

async function workOnce(
  services: WorkerServices,
  claimed: OpenJob,
  lease: Lease,
  signal: AbortSignal,
  kept: KeptAudio | null,
): Promise<"ended" | UnreadableRecording> {
  if (claimed.cancelRequested) throw new JobCancelledError();
  failIfAttemptsExhausted(services, claimed);
  const job = await resolveOrphanedCall(services, claimed);
  const audio = await openAudio(services, job, signal, kept);
  const { recording } = audio;
  const stopSignal = AbortSignal.any([signal, recording.unreadable]);
  using holds = new DisposableStack();
  const served = await callTargets(services, job, audio, lease, { signal: stopSignal, holds }).catch(
    (error: unknown) => {
      const fault = recording.fault();
      // An unreadable recording takes precedence over the error that it caused.
      if (fault?.mayPass === true) return { audio, fault };
      throw fault?.error ?? error;
    },
  );
  if ("fault" in served) return served;
  kept?.release();
  await storeSuccess(services, job, audio, served, signal);
  return "ended";
}

/** A bug that ends every attempt must not repeat for ever. Polling an existing run is cheap and may. */
const MAX_ATTEMPTS = 5;
const MAX_ATTEMPTS_WITH_RUN = 100;

function failIfAttemptsExhausted({ gateway }: WorkerServices, job: OpenJob): void {
  if (gateway.now() >= job.deadlineAt) throw deadlinePassed(job.call?.state ?? null);
  const maxAttempts = job.call?.state === "submitted" ? MAX_ATTEMPTS_WITH_RUN : MAX_ATTEMPTS;
  if (job.attempt - job.laidAside <= maxAttempts) return;
  throw new JobFailure(
    "ATTEMPTS_EXHAUSTED",
    `The job was claimed ${maxAttempts} times and never completed. Nothing was charged.`,
  );
}

/** The call was announced, and its worker died or its account is gone. It may have been executed and paid, so it is not repeated. */
async function resolveOrphanedCall(services: WorkerServices, claimed: OpenJob): Promise<OpenJob> {
  const { call } = claimed;
  let job = claimed;
  if (call !== null && isUnresolvable(services, claimed, call)) {
    const failure: FailedAttempt = { position: call.position, kind: "unknown", retryAfterSeconds: null };
    await withAppMutex(services, job.appId, async (tx) => {
      if (!(await writeFailure(tx, job, failure))) throw new LeaseLostError();
      await services.gateway.ledger.settleIn(tx, unchargedSettlement(brand("attempt", call.attemptId), "unknown"));
    });
    job = { ...job, call: null, failures: [...job.failures, failure] };
  }
  const unknown = unknownOf(job.failures);
  if (unknown !== null && !job.request.route.mayPayTwice) throw jobOutcomeUnknown(unknown);
  return job;
}

function isUnresolvable({ gateway }: WorkerServices, { request }: OpenJob, { state, position }: JobCall): boolean {
  if (state !== "submitted") return state === "submitting";
  const target = request.route.targets.find((each) => each.position === position);
  return target === undefined || !hasAccount(gateway, target);
}

async function storeSuccess(
  services: WorkerServices,
  job: OpenJob,
  audio: ReadyAudio,
  served: ServedOutcome,
  signal: AbortSignal,
): Promise<void> {
  const { wanted, purpose, warnings } = job.request;
  const audioSeconds = audio.speech.durationSeconds;
  const envelope = await answerOf(services.gateway, {
    owner: job.workspaceId,
    createdAt: services.gateway.now(),
    wanted,
    purpose,
    warnings: [...warnings, ...audio.measured.warnings],
    audioSeconds,
    served,
  });
  const fullRequest = { ...wanted, responseFormat: "json", wantsSegments: true, wantsWords: true } as const;
  const { content, segments, words } = await services.gateway.transcripts.finish(
    job.workspaceId,
    served.transcript,
    fullRequest,
    audioSeconds,
  );
  const result: JobResult = { envelope, kept: { content, segments, words } };
  const retryPolicy = retryPolicyFor(job, services, signal);
  // The transaction that ends the job decides about a cancellation: whichever commits first counts.
  const stored = await storeResult(services, job, result, retryPolicy, () =>
    writeProgress(bypassRls(services.database, "claim").db, job, { stage: "storing", fraction: null }),
  );
  const resultBytes = stored.result?.length ?? 0;
  // A large result keeps its slot, because ends may wait while further jobs begin.
  if (resultBytes <= MAX_WAITING_RESULT_BYTES) services.freeSlot?.();
  await retryUntilDeadline(retryPolicy, () =>
    endJob(
      services,
      job,
      (locked) =>
        locked.cancel_requested
          ? cancelledAfterCall(services, served)
          : { status: "succeeded", stored, usage: envelope.usage, settlement: served.settlement },
      resultBytes,
    ),
  );
}

/** A call that this process aborted at its shutdown is released to another worker, not lost. */
function causeOf(error: JobInterruption, lease: Lease, graceOver: AbortSignal): JobInterruption {
  const isStopping = error.reason === "lost" && graceOver.aborted && !lease.lost.aborted;
  return isStopping ? new WorkerStoppingError() : error;
}

async function interruptJob(
  services: WorkerServices,
  job: OpenJob,
  interruption: JobInterruption,
  signal: AbortSignal,
): Promise<void> {
  const { reason } = interruption;
  services.gateway.logger.info({ job_id: job.id, attempt: job.attempt, reason, event: "job.left" });
  switch (reason) {
    case "lost":
      return;
    case "handed_back":
      await releaseJob(bypassRls(services.database, "claim").db, job);
      return enqueueJob(services.queue, job, { goesFirst: true });
    case "paused":
      return parkJob(bypassRls(services.database, "claim").db, job);
    case "url_fetches":
      return postpone(bypassRls(services.database, "claim").db, job, interruption.waitSeconds + spreadSeconds(job));
    case "cancelled":
      await retryUntilDeadline(retryPolicyFor(job, services, signal), () =>
        endJob(services, job, (locked) => cancelledEnd(services, locked)),
      );
      return;
    default:
      assertNever(reason);
  }
}

const MAX_SPREAD_SECONDS = 60;

/** Jitter, so that jobs that wait for the same limit are not retried together, and less often the longer they wait. */
function spreadSeconds({ laidAside }: OpenJob): number {
  return Math.random() * Math.min(MAX_SPREAD_SECONDS, 2 ** Math.min(laidAside, 10));
}

async function failJob(
  services: WorkerServices,
  job: OpenJob,
  error: GatewayError | JobFailure,
  signal: AbortSignal,
): Promise<void> {
  services.freeSlot?.();
  await retryUntilDeadline(retryPolicyFor(job, services, signal), () =>
    endJob(services, job, (locked) => failedEnd(services, locked, jobErrorOf(error))),
  );
}
