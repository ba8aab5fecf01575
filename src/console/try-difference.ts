// Describes the outcome of a dry run, and what a draft would change, in one sentence each. Pure.
import type { JudgedRequest, RouteExplanation } from "../contract/admin/route-explanation.ts";

type Compared = NonNullable<RouteExplanation["compared"]>;
type Candidate = NonNullable<JudgedRequest["trace"]["candidates"]>[number];

/** Name of the version within a sentence. */
export function versionText({ version, state }: Compared): string {
  return state === "draft" ? `the draft, version ${version}` : `version ${version}`;
}

/** The first target to be called. Null: the request is refused. */
export function chosenOf({ trace, decision }: JudgedRequest): Candidate | null {
  const { position } = decision.outcome;
  return position === null ? null : (trace.candidates?.find((each) => each.position === position) ?? null);
}

export function becomesText(request: JudgedRequest): string {
  const target = chosenOf(request);
  return target === null ? `It is rejected: ${refusalText(request)}.` : `It goes to ${nameOf(target)}.`;
}

export function differenceText(live: JudgedRequest, draft: JudgedRequest, compared: Compared): string {
  const name = compared.state === "draft" ? "The draft" : `Version ${compared.version}`;
  const [before, after] = [chosenOf(live), chosenOf(draft)];
  if (before !== null && after === null) return `Only ${lower(name)} rejects it: ${refusalText(draft)}.`;
  if (before === null && after !== null)
    return `Only the live version rejects it: ${refusalText(live)}. ${name} sends it to ${nameOf(after)}.`;
  if (before === null || after === null) {
    const [liveRefusal, whyThen] = [refusalText(live), refusalText(draft)];
    return liveRefusal === whyThen
      ? `Both reject it: ${liveRefusal}.`
      : `Both reject it: the live version because ${liveRefusal}, ${lower(name)} because ${whyThen}.`;
  }
  if (nameOf(before) !== nameOf(after)) return `${name} sends this to ${nameOf(after)} instead of ${nameOf(before)}.`;
  if (tellsOf(live) === tellsOf(draft)) return "No difference for this request.";
  const others = "fallback targets or parameters differ";
  return `Both send it to ${nameOf(after)}; ${others}.`;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const nameOf = ({ connection, model }: Candidate): string => `${connection}: ${model}`;

/** Everything except the version. */
function tellsOf({ trace, decision }: JudgedRequest): string {
  return JSON.stringify([{ ...trace, route_version: null }, decision]);
}

const REFUSALS: Readonly<Record<string, string>> = {
  purpose_unavailable: "its purpose cannot be used and the policy is strict",
  profile_not_allowed: "the route does not let requests select a profile",
  no_model: "the route has no suitable model",
  unsupported: "no target supports all features",
  model_retired: "the providers have ended every suitable model",
  unhealthy: "every suitable target is unavailable",
};
/** Checks after the routing. */
const COSTS: Readonly<Record<string, string>> = {
  BUDGET_EXCEEDED: "its budget is exhausted",
  CREDITS_REQUIRED: "its credits are exhausted",
  RATE_LIMITED: "its quota is exhausted",
};

function refusalText({ trace, decision }: JudgedRequest): string {
  const { code, status } = decision.outcome;
  const explanation = trace.refusal === null ? COSTS[code ?? ""] : REFUSALS[trace.refusal];
  return `${explanation ?? "it is invalid"} (${code ?? status})`;
}
