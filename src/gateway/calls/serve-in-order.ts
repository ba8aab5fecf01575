// Calls the given targets in order until one serves. After an unknown outcome no other is called, unless the route allows to pay twice
// [routing.fallback-definite] [routing.no-fallback-unknown].
import { GatewayError } from "../../contract/errors.ts";
import { ProviderError } from "../../providers/io.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { GatewayServices } from "../services.ts";
import { isMoneyRefusal } from "../billing/budget-exceeded.ts";
import { callCandidate } from "./call-candidate.ts";
import type { CandidateRun, RunOutcome } from "./run-outcome.ts";
import type { Cutter } from "./cutter.ts";
import { hasTimeForAnother } from "../deadline.ts";
import { certaintyOf, type FailedAttempt, failedAttempt } from "./judge-failure.ts";
import { isPausedByNow } from "./target-unavailability.ts";

export async function serveInOrder(
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
    if (run.hasBegun?.() === true || (isUnknown && !run.mayPayTwice) || !hasTimeForAnother(services, run.deadlineAtMs))
      break;
  }
  if (refusal !== null && unknown === null && run.hasBegun?.() !== true) throw refusal;
  return unknown === null
    ? { kind: "exhausted", failures, attemptLimit }
    : { kind: "unknown", how: unknown, wasFollowed };
}
