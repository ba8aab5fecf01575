// Calls a job's targets in order and announces each call in the job's row before its first byte [jobs.fallback]. An asynchronous run is polled from where the
// previous attempt stopped [jobs.resume].
import type { Execute } from "../../gateway/calls/attempt.ts";
import { createAttemptAllowance } from "../../gateway/calls/attempt-allowance.ts";
import { audioAmount, quoteFor } from "../../gateway/billing/audio-quote.ts";
import { recordCandidates } from "../../gateway/request-record.ts";
import type { CandidateRun, ServedOutcome } from "../../gateway/calls/run-outcome.ts";
import { runCandidates } from "../../gateway/calls/run-candidates.ts";
import { assertNever } from "../../lib/assert-never.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { allFailed, chooseTargets, judgeTargets, requestWithTimes, waitsForPaused } from "./choose-targets.ts";
import { enterStage } from "./enter-stage.ts";
import { deadlinePassed, jobOutcomeUnknown } from "../job-error.ts";
import type { OpenJob } from "../job-request.ts";
import { atPricesOf } from "../job-prices.ts";
import { createJobCallJournal, type UnwrittenCandidates } from "./call-journal.ts";
import type { Lease } from "../leases.ts";
import type { ReadyAudio } from "./open-audio.ts";
import { followRun } from "./poll-run.ts";
import type { WorkerServices } from "../services.ts";
import { cancelTopic } from "../topics.ts";
import { LeaseLostError, TargetsPausedError, WorkerStoppingError } from "../interruptions.ts";
import { newsOf } from "../read/wait.ts";

export async function callTargets(
  services: WorkerServices,
  job: OpenJob,
  audio: ReadyAudio,
  lease: Lease,
  run: Pick<CandidateRun, "signal" | "holds">,
): Promise<ServedOutcome> {
  const evaluated = judgeTargets(atPricesOf(job, services.gateway), job, audio.measured);
  const unwritten: UnwrittenCandidates = {
    candidates: recordCandidates(job.request.route.targets, evaluated, "audio_input"),
  };
  const enter = async (): Promise<void> => {
    if (unwritten.candidates === null) return;
    await enterStage(services, job, { stage: "transcribing", fraction: null }, unwritten.candidates);
    unwritten.candidates = null;
  };
  // A claim enters the stage of a job whose audio is stored, and the announcement of its call stores the candidates with it.
  if (job.audio === null || job.call?.state === "submitted") await enter();
  try {
    return await callEvaluated(services, job, audio, lease, run, evaluated, unwritten);
  } finally {
    // No call was announced.
    await enter();
  }
}

async function callEvaluated(
  services: WorkerServices,
  job: OpenJob,
  { speech, measured }: ReadyAudio,
  lease: Lease,
  { signal, holds }: Pick<CandidateRun, "signal" | "holds">,
  evaluated: readonly Candidate[],
  unwritten: UnwrittenCandidates,
): Promise<ServedOutcome> {
  const gateway = atPricesOf(job, services.gateway);
  const { request, payer, deadlineAt, failures } = job;
  const attemptsUsed = countFailedTargets(job);
  const { maxAttemptsPerRequest } = gateway.limits;
  // Checked first, so that the job does not wait for a paused target that it may no longer call.
  if (attemptsUsed >= maxAttemptsPerRequest && job.call === null)
    throw allFailed(gateway, failures, evaluated, maxAttemptsPerRequest);
  const candidates = chooseTargets(gateway, job, evaluated);
  const quotes = candidates.map(
    ({ target, verdict }) => quoteFor(gateway, payer, target, audioAmount(speech, verdict)).chargeNanoUsd,
  );
  const outcome = await runCandidates(gateway, {
    payer,
    audio: speech,
    wanted: request.wanted,
    candidates,
    mayPayTwice: request.route.mayPayTwice,
    deadlineAtMs: deadlineAt.getTime(),
    signal,
    allowance: createAttemptAllowance(maxAttemptsPerRequest, attemptsUsed),
    journal: createJobCallJournal(
      services,
      job,
      quotes.reduce((a, b) => (a > b ? a : b), 0n),
      signal,
      unwritten,
    ),
    holds,
    waitsForRoom: true,
    requestOf: requestWithTimes(gateway.decoder, measured),
    execute: executeFor(services, job, lease),
  });
  switch (outcome.kind) {
    case "served":
      return outcome;
    case "exhausted": {
      if (gateway.now() >= deadlineAt) throw deadlinePassed(null);
      const allFailures = [...failures, ...outcome.failures];
      if (outcome.attemptLimit === null && waitsForPaused(gateway, payer, evaluated, allFailures))
        throw new TargetsPausedError();
      throw allFailed(gateway, allFailures, evaluated, outcome.attemptLimit);
    }
    case "unknown":
      throw gateway.now() >= deadlineAt
        ? deadlinePassed("submitted")
        : jobOutcomeUnknown(outcome.how, outcome.wasFollowed);
    case "aborted":
      throw new LeaseLostError();
    default:
      return assertNever(outcome);
  }
}

/** Counts the targets that failed in any attempt of the job. A target with a continuing run is called, and counted, again. */
function countFailedTargets({ failures }: OpenJob): number {
  return new Set(failures.map(({ position }) => position)).size;
}

/** Transcribes in one call, or submits a run and polls it, continuing the run of a previous attempt. */
function executeFor(services: WorkerServices, job: OpenJob, lease: Lease): Execute {
  return async ({ provider, candidate, audio }, plan, openIo) => {
    const { remote } = provider;
    const hasRun = job.call?.state === "submitted" && job.call.position === candidate.target.position;
    let run = hasRun ? job.remoteRun : null;
    if (remote === undefined || (run === null && remote.takes?.(plan) === false))
      return provider.transcribe(plan, audio, openIo());
    if (run === null) {
      const io = openIo();
      run = await remote.submit(plan, audio, io);
      await io.onRemoteRun(run);
    }
    const updates = newsOf(services.queue, [cancelTopic(job.id)]);
    const stopSignal = AbortSignal.any([lease.lost, services.stopping]);
    try {
      return await followRun({
        remote,
        run,
        openIo,
        deadlineAtMs: job.deadlineAt.getTime(),
        nowMs: () => services.gateway.now().getTime(),
        onPoll: async (fraction) => {
          await enterStage(services, job, { stage: "transcribing", fraction });
          if (services.stopping.aborted) throw new WorkerStoppingError();
        },
        pause: (milliseconds) => updates.next(milliseconds, stopSignal),
      });
    } finally {
      updates.stop();
    }
  };
}
