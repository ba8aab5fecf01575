// Shows the routing of a request: every target with its verdict, every call with its duration and cost.
import type { RecordedAttemptView, RecordedCandidateView, RequestRecordView } from "../contract/requests.ts";
import type { RoutingDecision } from "../contract/transcription/transcription-envelope.ts";
import { element, table } from "./element.ts";
import { requestIdLine } from "./error-view.ts";
import { whyNot } from "../contract/lack-text.ts";
import { outcomeWords } from "./outcome-words.ts";
import { targetName } from "./target-name.ts";

export function traceView(record: RequestRecordView): HTMLElement {
  const { summary, attempts, usage, route, purpose, job } = record;
  // A job checks its targets again when it runs.
  const candidates = job === null || job.candidates.length === 0 ? record.candidates : job.candidates;
  const box = element("section", { "aria-labelledby": "trace-title" });
  const facts = [
    `status ${record.status}`,
    `${(record.duration_seconds * 1000).toFixed(0)} ms total`,
    `${usage.billable_audio_seconds} s billable`,
    `$${usage.charge_usd} charged`,
  ];
  if (route !== undefined && route !== null) facts.push(`route ${route}`);
  if (purpose !== null && purpose.requested !== null)
    facts.push(
      purpose.applied === null
        ? `purpose ${purpose.requested} not applied: ${purpose.reason ?? ""}`
        : `purpose ${purpose.applied}`,
    );
  box.append(
    element("h2", { id: "trace-title" }, "Trace"),
    element("p", {}, summary),
    element("p", { class: "facts" }, ...facts.map((fact) => element("span", {}, fact))),
    requestIdLine(record.id),
  );
  if (candidates.length > 0)
    box.append(
      table(
        "Targets, in route order",
        ["Target", "Result", "Reason"],
        candidates.map((each) => [targetName(each), ...verdictOf(each)]),
      ),
    );
  if (attempts.length > 0)
    box.append(
      table(
        "Calls",
        ["Target", "Outcome", "Time", "Audio", "Cost"],
        attempts.map((each) => callRow(each, record)),
      ),
    );
  return box;
}

const OUTCOMES: Readonly<Record<RecordedCandidateView["outcome"], readonly [verdict: string, explanation: string]>> = {
  served: ["served", "first target that succeeded"],
  failed: ["failed", "see the call below"],
  called: ["called", "the call is in progress"],
  not_reached: ["not reached", "the request ended before its turn"],
  left: ["skipped", "unavailable after failures"],
};

function verdictOf({
  outcome,
  missing,
  paused_until: until,
  retired,
}: RecordedCandidateView): readonly [string, string] {
  const [verdict, explanation] = OUTCOMES[outcome];
  if (missing.length > 0) return [verdict, whyNot(missing, retired)];
  return [verdict, outcome === "left" && until !== undefined ? pausedWords(until) : explanation];
}

/** In UTC, as everywhere in the gateway. */
export const pausedWords = (until: string): string => `paused manually until ${until} (no provider failure)`;

function callRow(attempt: RecordedAttemptView, record: RequestRecordView): readonly (Node | string)[] {
  const { outcome, created_at: began, finished_at: endedAt, charge_usd: charge, billing_class: billing } = attempt;
  const ms = endedAt === null ? null : Date.parse(endedAt) - Date.parse(began);
  const totalMs = Math.max(1, record.duration_seconds * 1000, ms ?? 0);
  const bar = element("span", { class: outcome === "succeeded" ? "bar" : "bar failed" });
  bar.style.width = `${(100 * (ms ?? 0)) / totalMs}%`;
  bar.style.marginLeft = `${(100 * Math.max(0, Math.min(totalMs - (ms ?? 0), Date.parse(began) - Date.parse(record.created_at)))) / totalMs}%`;
  const track = element("span", { class: "track" }, bar);
  const time = element("div", { class: "time" }, ms === null ? "in progress" : `${ms} ms`, track);
  return [
    targetName(attempt),
    outcomeWords(outcome),
    time,
    `${attempt.billable_audio_seconds} s, ${billing.replaceAll("_", "-")}`,
    charge === null ? "–" : `$${charge}`,
  ];
}

/** The answer of a dry run. */
export function decisionView(decision: RoutingDecision): HTMLElement {
  const title = element("h2", { id: "result-title", tabindex: "-1" }, "Routing decision");
  return element("section", { "aria-labelledby": "result-title" }, title, ...decisionParts(decision, "Targets"));
}

export function decisionParts(
  { outcome, candidates, estimated_cost_usd: cost, warnings }: RoutingDecision,
  caption: string,
): readonly HTMLElement[] {
  const what =
    outcome.position === null
      ? `It would be rejected with ${outcome.code ?? outcome.status}.`
      : `Target ${outcome.position} would be called.`;
  const rows = candidates.map((each) => {
    const explanation =
      each.missing.length > 0
        ? whyNot(each.missing, each.retired)
        : each.paused_until !== undefined
          ? pausedWords(each.paused_until)
          : each.health === "resting"
            ? "unavailable after failures"
            : "supports the request";
    return [targetName(each), each.eligible ? "eligible" : "skipped", explanation];
  });
  return [
    element("p", {}, `${what} ${priceText(cost)} Nothing was called or charged.`),
    ...warningLines(warnings),
    table(caption, ["Target", "Result", "Reason"], rows),
  ];
}

export const priceText = (cost: string | null): string =>
  cost === null ? "Its list price is unknown." : `Cost at list prices: $${cost}.`;

export const warningLines = (warnings: RoutingDecision["warnings"]): readonly HTMLElement[] =>
  warnings.map(({ code, message }) => element("p", { class: "warning" }, element("code", {}, code), ` ${message}`));
