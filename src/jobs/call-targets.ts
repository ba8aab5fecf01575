// Calls a job's targets in order, each announced in the row before its first byte [jobs.fallback]. A run at a provider is followed from
// where the previous attempt stopped [jobs.resume].
import type { Execute } from "../gateway/calls/attempt.ts";
import { createAttemptAllowance } from "../gateway/calls/attempt-allowance.ts";
import { quoteFor } from "../gateway/calls/quote.ts";
import { recordCandidates } from "../gateway/request-record.ts";
import { audioAmount } from "../gateway/calls/call-accounting.ts";
import type { CandidateRun, Served } from "../gateway/calls/candidate-run.ts";
import { runCandidates } from "../gateway/calls/run-candidates.ts";
import { assertNever } from "../lib/assert-never.ts";
import { allFailed, chooseTargets, judgeTargets, requestWithTimes, waitsForPaused } from "./choose-targets.ts";
import { enterStage } from "./enter-stage.ts";
import { deadlinePassed, jobOutcomeUnknown } from "./job-error.ts";
import type { OpenJob } from "./job-request.ts";
import { atPricesOf } from "./job-prices.ts";
import { createJobCallJournal } from "./call-journal.ts";
import type { Lease } from "./leases.ts";
import type { ReadyAudio } from "./open-audio.ts";
import { followRun } from "./poll-run.ts";
import { cancelTopic, type WorkerServices } from "./services.ts";
import { JobStop } from "./stop.ts";
import { newsOf } from "./wait.ts";

export async function callTargets(
  services: WorkerServices,
  job: OpenJob,
  { speech, measured }: ReadyAudio,
  lease: Lease,
  { signal, holds }: Pick<CandidateRun, "signal" | "holds">,
): Promise<Served> {
  const gateway = atPricesOf(job, services.gateway);
  const { request, payer, deadlineAt, failures } = job;
  const judged = judgeTargets(gateway, job, measured);
  const recorded = recordCandidates(request.route.targets, judged, "audio_input");
  await enterStage(services, job, { stage: "transcribing", fraction: null }, recorded);
  const used = calledBefore(job);
  const { maxAttemptsPerRequest } = gateway.limits;
  // Not to wait for a paused target that could not be called any more.
  if (used >= maxAttemptsPerRequest && job.call === null)
    throw allFailed(gateway, failures, judged, maxAttemptsPerRequest);
  const candidates = chooseTargets(gateway, job, judged);
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
    allowance: createAttemptAllowance(maxAttemptsPerRequest, used),
    journal: createJobCallJournal(
      services,
      job,
      quotes.reduce((a, b) => (a > b ? a : b), 0n),
      signal,
    ),
    holds,
    requestOf: requestWithTimes(gateway.decoder, measured),
    execute: executeFor(services, job, lease),
  });
  switch (outcome.kind) {
    case "served":
      return outcome;
    case "exhausted": {
      if (gateway.now() >= deadlineAt) throw deadlinePassed(null);
      const all = [...failures, ...outcome.failures];
      if (outcome.attemptLimit === null && waitsForPaused(gateway, payer, judged, all)) throw new JobStop("paused");
      throw allFailed(gateway, all, judged, outcome.attemptLimit);
    }
    case "unknown":
      throw gateway.now() >= deadlineAt
        ? deadlinePassed("submitted")
        : jobOutcomeUnknown(outcome.how, outcome.wasFollowed);
    case "aborted":
      throw new JobStop("lost");
    default:
      return assertNever(outcome);
  }
}

/** Over all attempts of the job: the targets that have failed. One whose run goes on is called, and counted, again. */
function calledBefore({ failures }: OpenJob): number {
  return new Set(failures.map(({ position }) => position)).size;
}

/** In one go; or submitted, kept and followed, from where the attempt before left off. */
function executeFor(services: WorkerServices, job: OpenJob, lease: Lease): Execute {
  return async ({ provider, candidate, audio }, plan, openIo) => {
    const { remote } = provider;
    const isBegun = job.call?.state === "submitted" && job.call.position === candidate.target.position;
    let run = isBegun ? job.remoteRun : null;
    if (remote === undefined || (run === null && remote.takes?.(plan) === false))
      return provider.transcribe(plan, audio, openIo());
    if (run === null) {
      const io = openIo();
      run = await remote.submit(plan, audio, io);
      await io.onRemoteRun(run);
    }
    const news = newsOf(services.queue, cancelTopic(job.id));
    const wake = AbortSignal.any([lease.lost, services.stopping]);
    try {
      return await followRun({
        remote,
        run,
        openIo,
        deadlineAtMs: job.deadlineAt.getTime(),
        nowMs: () => services.gateway.now().getTime(),
        onPoll: async (fraction) => {
          await enterStage(services, job, { stage: "transcribing", fraction });
          if (services.stopping.aborted) throw new JobStop("handed_back");
        },
        pause: (milliseconds) => news.next(milliseconds, wake),
      });
    } finally {
      news.stop();
    }
  };
}
