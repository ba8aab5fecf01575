// Which targets a job tries, and what it requests of them: the route as of its submission, health and order as of now
// [jobs.fixed-at-submission]. Times are requested wherever a target has them, so that a result can be exported in every form [jobs.export].
import type { GatewayError } from "../contract/errors.ts";
import { audioFacts } from "../gateway/transcription/audio-call.ts";
import { type FailedAttempt, exhausted, outcomeUnknown } from "../gateway/calls/judge-failure.ts";
import { refusalError } from "../gateway/calls/refuse-route.ts";
import { hasAccount, isPausedByNow, type RestServices, restsFor } from "../gateway/calls/resolve-account.ts";
import type { GatewayServices } from "../gateway/services.ts";
import { speechRequest } from "../gateway/transcription/speech-request.ts";
import type { Feature } from "../contract/features.ts";
import type { SpeechRequest } from "../providers/provider.ts";
import { audioJudge } from "../routing/decide-route.ts";
import { judgeTarget } from "../routing/judge-target.ts";
import { type Candidate, lacksPriceAlone, pickCandidates } from "../routing/pick-candidates.ts";
import type { Requirements } from "../routing/required-features.ts";
import type { JobAudio, OpenJob } from "./job-request.ts";
import { JobStop } from "./stop.ts";

export function judgeTargets(
  services: RestServices & Pick<GatewayServices, "decoder">,
  { request: { route, profile, wanted }, payer }: OpenJob,
  measured: JobAudio,
): readonly Candidate[] {
  const facts = audioFacts(services.decoder, measured.facts);
  return pickCandidates(route, "audio_input", profile, audioJudge(wanted, facts), restsFor(services, payer)).candidates;
}

/** At least one of those judged; what has failed is not tried again. Throws the refusal, or that there is nothing to do but wait. */
export function chooseTargets(
  services: Pick<GatewayServices, "directory">,
  job: OpenJob,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const { failures } = job;
  const capable = capableOf(candidates);
  if (capable.length === 0) {
    const missing = [...new Set(candidates.flatMap(({ verdict }) => verdict.missing))];
    const refusal = candidates.some(lacksPriceAlone)
      ? ({ kind: "credits_required" } as const)
      : ({ kind: "unsupported", missing } as const);
    throw refusalError(refusal, candidates, job.request.showNames);
  }
  const left = notFailed(services, capable, failures);
  // A run that was begun is polled on, whatever became of its target since.
  const begun = left.filter(({ target }) => job.call?.state === "submitted" && job.call.position === target.position);
  const callable = left.filter(({ rest }) => rest?.kind !== "paused");
  // A job can wait no better than by trying: where all rest after failures, they are tried all the same.
  const healthy = callable.filter(({ rest }) => rest === null);
  const chosen = healthy.length > 0 ? healthy : callable;
  if (chosen.length === 0 && begun.length === 0)
    throw left.length > 0 ? new JobStop("paused") : allFailed(services, failures, candidates);
  return [...begun, ...chosen.filter((candidate) => !begun.includes(candidate))];
}

/** Of those that have not failed one was passed over because it was paused, when they were chosen or since. */
export function waitsForPaused(
  services: RestServices,
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

/** None is left: what became of one that may have been paid is what there is to say. */
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
  return exhausted(
    failures,
    considered.filter(({ target }) => hasAccount(services, target)),
    attemptLimit,
  );
}

export function unknownOf(failures: readonly FailedAttempt[]): "unknown" | "timeout" | null {
  for (const { kind } of failures) if (kind === "unknown" || kind === "timeout") return kind;
  return null;
}

/** With times, where asking for them costs no feature that is wanted. */
export function requestWithTimes(
  decoder: GatewayServices["decoder"],
  measured: JobAudio,
): (candidate: Candidate, wanted: Requirements) => SpeechRequest {
  const facts = audioFacts(decoder, measured.facts);
  return (candidate, wanted) => {
    const asked = speechRequest(candidate, wanted);
    const { speech } = candidate.target;
    if (speech === null) return asked;
    const extra: Feature[] = [];
    for (const feature of ["timestamps.segment", "timestamps.word"] as const) {
      if (wanted.features.includes(feature) || speech.features[feature]?.support === "weak") continue;
      const features = [...wanted.features, ...extra, feature];
      const allowed = { acceptWeak: wanted.features, splitLongAudio: candidate.verdict.cut !== null };
      const { missing, cut } = judgeTarget(speech, { ...wanted, features }, facts, allowed);
      // More pieces, for times that nobody asked for, would be more cuts.
      if (missing.length === 0 && cut?.maxFrames === candidate.verdict.cut?.maxFrames) extra.push(feature);
    }
    return {
      ...asked,
      segments: asked.segments || extra.includes("timestamps.segment"),
      words: asked.words || extra.includes("timestamps.word"),
    };
  };
}
