// Chooses the targets that a job tries, by the route at submission and current health and order [jobs.fixed-at-submission]. Timestamps are requested wherever
// a target supports them, so that a result can be exported in every format [jobs.export].
import type { GatewayError } from "../../contract/errors.ts";
import { audioFacts } from "../../gateway/transcription/decide-audio.ts";
import { type FailedAttempt, outcomeUnknown } from "../../gateway/calls/judge-failure.ts";
import { exhaustedError } from "../../gateway/calls/exhausted-errors.ts";
import { refusalError } from "../../gateway/calls/routing-errors.ts";
import { hasAccount } from "../../gateway/calls/resolve-account.ts";
import {
  isPausedByNow,
  type UnavailabilityServices,
  unavailabilityFor,
} from "../../gateway/calls/target-unavailability.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { speechRequest } from "../../gateway/transcription/speech-request.ts";
import type { Feature } from "../../contract/features.ts";
import type { SpeechRequest } from "../../providers/provider.ts";
import { audioJudge, featureIndependentRefusal, missingFeatures } from "../../routing/decide-route.ts";
import { judgeTarget } from "../../routing/judge-target.ts";
import { type Candidate, pickCandidates } from "../../routing/pick-candidates.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { Route } from "../../routing/types.ts";
import type { JobAudio, OpenJob } from "../job-request.ts";
import { TargetsPausedError } from "../interruptions.ts";

export function judgeTargets(
  services: UnavailabilityServices & Pick<GatewayServices, "decoder">,
  job: OpenJob,
  measured: JobAudio,
): readonly Candidate[] {
  const { request, payer } = job;
  const { profile, wanted } = request;
  const facts = audioFacts(services.decoder, measured.facts);
  const running = runningPosition(job);
  const route = withCurrentFacts(services, request.route, running);
  const unavailabilityOf = unavailabilityFor(services, payer);
  const { candidates } = pickCandidates(
    route,
    "audio_input",
    profile,
    audioJudge(wanted, facts),
    (target, capability) => {
      const unavailability = unavailabilityOf(target, capability);
      // The provider accepted the run before it ended the model [routing.model-retired].
      return unavailability?.kind === "retired" && target.position === running ? null : unavailability;
    },
  );
  return candidates.map((candidate) => {
    if (candidate.target.position !== running) return candidate;
    const { dataPolicy: _, ...polled } = candidate;
    return polled;
  });
}

/** Of the target whose run is with the provider already and is only polled. Null: there is none. */
function runningPosition({ call }: Pick<OpenJob, "call">): number | null {
  return call?.state === "submitted" ? call.position : null;
}

/** An address or a statement may have changed since the submission, so that proofs are those of now [data-policy.fail-closed]. */
function withCurrentFacts({ directory }: UnavailabilityServices, route: Route, running: number | null): Route {
  if (route.dataPolicy == null) return route;
  const current = directory();
  return {
    ...route,
    targets: route.targets.map((target) =>
      target.position === running ? target : { ...target, dataPolicy: current.dataPolicyOf(target) },
    ),
  };
}

/** Returns at least one of the candidates, without those that failed. Throws a refusal, or a stop if the job can only wait. */
export function chooseTargets(
  services: Pick<GatewayServices, "directory">,
  job: OpenJob,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const { failures } = job;
  const capable = capableOf(candidates);
  if (capable.length === 0) {
    const missing = [...new Set(candidates.flatMap(missingFeatures))];
    const refusal = featureIndependentRefusal(candidates) ?? ({ kind: "unsupported", missing } as const);
    throw refusalError(refusal, candidates, job.request.showNames);
  }
  const remaining = notFailed(services, capable, failures);
  // A run in progress is polled further, even if its target became unavailable or paused.
  const running = runningPosition(job);
  const inProgress = remaining.filter(({ target }) => target.position === running);
  const callable = remaining.filter(({ rest }) => rest?.kind !== "paused");
  // Waiting helps no more than trying: if the circuits of all targets are open, they are tried nevertheless.
  const healthy = callable.filter(({ rest }) => rest === null);
  const chosen = healthy.length > 0 ? healthy : callable;
  if (chosen.length === 0 && inProgress.length === 0)
    throw remaining.length > 0 ? new TargetsPausedError() : allFailed(services, failures, candidates);
  return [...inProgress, ...chosen.filter((candidate) => !inProgress.includes(candidate))];
}

/** Whether a capable target that has not failed was skipped because it was paused, at the choice or since. */
export function waitsForPaused(
  services: UnavailabilityServices,
  payer: OpenJob["payer"],
  candidates: readonly Candidate[],
  failures: readonly FailedAttempt[],
): boolean {
  return notFailed(services, capableOf(candidates), failures).some(
    ({ rest, target }) => rest?.kind === "paused" || isPausedByNow(services, target, payer),
  );
}

function capableOf(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ verdict }) => verdict.missing.length === 0);
}

function notFailed(
  services: Pick<GatewayServices, "directory">,
  capable: readonly Candidate[],
  failures: readonly FailedAttempt[],
): readonly Candidate[] {
  return capable.filter(
    ({ target }) => hasAccount(services, target) && !failures.some(({ position }) => position === target.position),
  );
}

/** The error after the last target failed. A call that may have been paid takes precedence over the other failures. */
export function allFailed(
  services: Pick<GatewayServices, "directory">,
  failures: readonly FailedAttempt[],
  considered: readonly Candidate[],
  attemptLimit: number | null = null,
): GatewayError {
  const unknown = unknownOf(failures);
  if (unknown !== null) {
    const wasFollowed = failures.at(-1)?.kind !== unknown;
    return outcomeUnknown(unknown, { wasFollowed });
  }
  return exhaustedError(
    failures,
    considered.filter(({ target }) => hasAccount(services, target)),
    attemptLimit,
  );
}

export function unknownOf(failures: readonly FailedAttempt[]): "unknown" | "timeout" | null {
  for (const { kind } of failures) if (kind === "unknown" || kind === "timeout") return kind;
  return null;
}

/** Adds timestamps to the request, unless they cost a feature that the caller wants. */
export function requestWithTimes(
  decoder: GatewayServices["decoder"],
  measured: JobAudio,
): (candidate: Candidate, wanted: Requirements) => SpeechRequest {
  const facts = audioFacts(decoder, measured.facts);
  return (candidate, wanted) => {
    const request = speechRequest(candidate, wanted);
    const { speech } = candidate.target;
    if (speech === null) return request;
    const extra: Feature[] = [];
    for (const feature of ["timestamps.segment", "timestamps.word"] as const) {
      if (wanted.features.includes(feature) || speech.features[feature]?.support === "weak") continue;
      const features = [...wanted.features, ...extra, feature];
      const allowed = { acceptWeak: wanted.features, splitLongAudio: candidate.verdict.cut !== null };
      const { missing, cut } = judgeTarget(speech, { ...wanted, features }, facts, allowed);
      // Not if the audio would be cut into more pieces only for timestamps that the caller did not request.
      if (missing.length === 0 && cut?.maxFrames === candidate.verdict.cut?.maxFrames) extra.push(feature);
    }
    return {
      ...request,
      segments: request.segments || extra.includes("timestamps.segment"),
      words: request.words || extra.includes("timestamps.word"),
    };
  };
}
