// Calls the capable targets of an audio request in order. The first answer counts unless it is a doubtful empty transcript: then another target confirms it,
// if there is one [routing.empty-transcript].
import { ProviderError } from "../../providers/io.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { GatewayServices } from "../services.ts";
import { createSpeechDetector, EMPTY_TRANSCRIPT, isEmpty } from "../transcription/empty-guard.ts";
import { attemptOutcome, logFailedAttempt } from "./attempt-end.ts";
import { isMoneyRefusal } from "../billing/budget-exceeded.ts";
import { unchargedSettlement } from "../billing/call-accounting.ts";
import type { CandidateRun, RunOutcome, ServedOutcome } from "./run-outcome.ts";
import { createCutter } from "./cutter.ts";
import { hasTimeForAnother } from "../deadline.ts";
import { failedAttempt } from "./judge-failure.ts";
import { serveInOrder } from "./serve-in-order.ts";

/** Returns the first answer that is not doubtful. An empty one despite audible speech must be confirmed if possible. */
export async function runCandidates(services: GatewayServices, run: CandidateRun): Promise<RunOutcome> {
  const { candidates, journal, hasBegun } = run;
  const holdsSpeech = createSpeechDetector(services, run);
  const isDoubtful = async ({ transcript, missedSpeech }: ServedOutcome) =>
    missedSpeech || (isEmpty(transcript) && (await holdsSpeech()));
  await using cutter = createCutter(services, run);
  const serveFirst = (among: readonly Candidate[]) => serveInOrder(services, run, cutter, among);

  const first = await serveFirst(candidates);
  if (first.kind !== "served" || !(await isDoubtful(first))) return first;
  const remaining = candidates.slice(candidates.indexOf(first.candidate) + 1);
  if (remaining.length === 0 || hasBegun?.() === true || !hasTimeForAnother(services, run.deadlineAtMs))
    return withWarning(first);

  const { attemptId } = first.settlement;
  const { target } = first.candidate;
  const doubt = new ProviderError("feature_dropped", { reason: "empty_transcript" });
  logFailedAttempt(services, run.payer, { attemptId, target, error: doubt });
  await journal.setAside(failedAttempt(target, doubt));
  const drop = () => journal.drop(unchargedSettlement(attemptId, attemptOutcome("feature_dropped")));
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

function withWarning(served: ServedOutcome): ServedOutcome {
  return { ...served, warnings: [...served.warnings, EMPTY_TRANSCRIPT] };
}
