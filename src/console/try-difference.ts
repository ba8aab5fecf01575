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
  return target === null ? `It is refused: ${refusalText(request)}.` : `It goes to ${nameOf(target)}.`;
}

export function differenceText(live: JudgedRequest, draft: JudgedRequest, compared: Compared): string {
  const name = compared.state === "draft" ? "The draft" : `Version ${compared.version}`;
  const [before, after] = [chosenOf(live), chosenOf(draft)];
  if (before !== null && after === null) return `Only ${lower(name)} refuses it: ${refusalText(draft)}.`;
  if (before === null && after !== null)
    return `Only what serves refuses it: ${refusalText(live)}. ${name} sends it to ${nameOf(after)}.`;
  if (before === null || after === null) {
    const [liveRefusal, whyThen] = [refusalText(live), refusalText(draft)];
    return liveRefusal === whyThen
      ? `Both refuse it: ${liveRefusal}.`
      : `Both refuse it: what serves because ${liveRefusal}, ${lower(name)} because ${whyThen}.`;
  }
  if (nameOf(before) !== nameOf(after)) return `${name} sends this to ${nameOf(after)} instead of ${nameOf(before)}.`;
  if (tellsOf(live) === tellsOf(draft)) return "Nothing differs for this request.";
  const others = "what else would be tried, or how it is sent, differs";
  return `Both send it to ${nameOf(after)}; ${others}.`;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const nameOf = ({ connection, model }: Candidate): string => `${connection}: ${model}`;

/** Everything except the version. */
function tellsOf({ trace, decision }: JudgedRequest): string {
  return JSON.stringify([{ ...trace, route_version: null }, decision]);
}

const REFUSALS: Readonly<Record<string, string>> = {
  purpose_unavailable: "its purpose cannot be used, and is not gone on without",
  profile_not_allowed: "the route lets no request choose its profile",
  no_model: "the route has no model for this",
  unsupported: "no target can do all of it",
  unhealthy: "every target that could do it rests",
};
/** Checks after the routing. */
const COSTS: Readonly<Record<string, string>> = {
  BUDGET_EXCEEDED: "its budget has not that much left",
  CREDITS_REQUIRED: "its credits do not bear it",
  RATE_LIMITED: "its quota has not that much left",
};

function refusalText({ trace, decision }: JudgedRequest): string {
  const { code, status } = decision.outcome;
  const explanation = trace.refusal === null ? COSTS[code ?? ""] : REFUSALS[trace.refusal];
  return `${explanation ?? "it cannot be made"} (${code ?? status})`;
}
