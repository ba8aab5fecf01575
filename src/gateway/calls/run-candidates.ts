// Tries the capable targets in order until one serves. After an unknown outcome no other is tried [routing.no-fallback-unknown], and a doubtful answer is
// confirmed by another target if there is one [routing.empty-transcript].
import { GatewayError } from "../../contract/errors.ts";
import { ProviderError } from "../../providers/io.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { attemptOutcome, LEAST_FOR_ANOTHER_MS, logFailedAttempt } from "./attempt-end.ts";
import { isMoneyRefusal } from "./budget-exceeded.ts";
import { unchargedSettlement } from "./call-accounting.ts";
import { callCandidate } from "./call-candidate.ts";
import type { CandidateRun, RunOutcome, ServedOutcome } from "./candidate-run.ts";
import { type Cutter, createCutter } from "./cutter.ts";
import { createSpeechDetector, EMPTY_TRANSCRIPT, isEmpty } from "../transcription/empty-guard.ts";
import { certaintyOf, type FailedAttempt, failedAttempt } from "./judge-failure.ts";
import { isPausedByNow } from "./resolve-account.ts";
import type { GatewayServices } from "../services.ts";

/** Returns the first answer that is not doubtful. An empty one despite audible speech must be confirmed if possible. */
export async function runCandidates(services: GatewayServices, run: CandidateRun): Promise<RunOutcome> {
  const { candidates, journal, hasBegun } = run;
  const holdsSpeech = createSpeechDetector(services.decoder, run);
  const isDoubtful = async ({ transcript, missedSpeech }: ServedOutcome) =>
    missedSpeech || (isEmpty(transcript) && (await holdsSpeech()));
  await using cutter = createCutter(services, run);
  const serveFirst = (among: readonly Candidate[]) => serveInOrder(services, run, cutter, among);

  const first = await serveFirst(candidates);
  if (first.kind !== "served" || !(await isDoubtful(first))) return first;
  const remaining = candidates.slice(candidates.indexOf(first.candidate) + 1);
  if (remaining.length === 0 || hasBegun?.() === true || !hasTime(services, run)) return withWarning(first);

  await journal.setAside(rejectEmpty(services, run, first));
  const drop = () => journal.drop(unchargedSettlement(first.settlement.attemptId, attemptOutcome("feature_dropped")));
  try {
    const second = await serveFirst(remaining);
    // All others failed definitely, so none of them was paid.
    if (second.kind === "exhausted" && hasBegun?.() !== true) return withWarning(first);
    await drop();
    return second.kind === "served" && (await isDoubtful(second)) ? withWarning(second) : second;
  } catch (error) {
    // The budget does not allow a second call. The first one is paid for.
    if (isMoneyRefusal(error)) return withWarning(first);
    await drop();
    throw error;
  }
}

function hasTime({ now }: GatewayServices, { deadlineAtMs }: CandidateRun): boolean {
  return deadlineAtMs - now().getTime() >= LEAST_FOR_ANOTHER_MS;
}

function withWarning(served: ServedOutcome): ServedOutcome {
  return { ...served, warnings: [...served.warnings, EMPTY_TRANSCRIPT] };
}

function rejectEmpty(
  services: GatewayServices,
  run: CandidateRun,
  { candidate, settlement }: ServedOutcome,
): FailedAttempt {
  const error = new ProviderError("feature_dropped", { reason: "empty_transcript" });
  logFailedAttempt(services, run.payer, { attemptId: settlement.attemptId, target: candidate.target, error });
  return failedAttempt(candidate.target, error);
}

/** Tries targets in order until one serves or no further one may be tried. */
async function serveInOrder(
  services: GatewayServices,
  run: CandidateRun,
  cutter: Cutter,
  candidates: readonly Candidate[],
): Promise<RunOutcome> {
  const failures: FailedAttempt[] = [];
  let unknown: "unknown" | "timeout" | null = null;
  let wasFollowed = false;
  let attemptLimit: number | null = null;
  let refusal: GatewayError | null = null;
  for (const candidate of candidates) {
    if (candidate !== run.candidates[0] && isPausedByNow(services, candidate.target, run.payer)) continue;
    if (!run.allowance.take()) {
      attemptLimit = run.allowance.max;
      break;
    }
    const result = await callCandidate(services, run, cutter, candidate).catch((error: unknown) => {
      if (error instanceof ProviderError)
        return { ok: false as const, failure: failedAttempt(candidate.target, error) };
      // A second call was refused, by its budget for instance. The outcome of the first remains unknown.
      if (unknown !== null && error instanceof GatewayError) return null;
      if (!isMoneyRefusal(error)) throw error;
      refusal ??= error;
      return "unaffordable" as const;
    });
    if (result === null) break;
    if (result === "unaffordable") {
      run.allowance.giveBack();
      continue;
    }
    if (result.ok) return result.served;
    const { kind } = result.failure;
    if (certaintyOf(kind) === "aborted") return { kind: "aborted" };
    const isUnknown = kind === "unknown" || kind === "timeout";
    if (isUnknown) unknown = kind;
    else failures.push(result.failure);
    wasFollowed = unknown !== null && !isUnknown;
    if (run.hasBegun?.() === true || (isUnknown && !run.mayPayTwice) || !hasTime(services, run)) break;
  }
  if (refusal !== null && unknown === null && run.hasBegun?.() !== true) throw refusal;
  return unknown === null
    ? { kind: "exhausted", failures, attemptLimit }
    : { kind: "unknown", how: unknown, wasFollowed };
}
