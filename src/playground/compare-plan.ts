// Shows the routing of both sides of a comparison by dry runs, before either is paid for.
import type { RoutingDecision, TranscriptionEnvelope } from "../contract/transcription/transcription-envelope.ts";
import type { Outcome } from "../page/ask.ts";
import { button, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import { decisionParts } from "../page/trace-view.ts";
import { purposeWords } from "./compare-side.ts";
import type { Label } from "./comparison.ts";

export interface PlannedSide {
  readonly label: Label;
  readonly purpose: string | null;
  readonly outcome: Outcome<TranscriptionEnvelope | RoutingDecision>;
}

export function planView(sides: readonly PlannedSide[], isTestKey: boolean, run: () => Promise<void>): HTMLElement {
  const stopped = sides.filter(({ outcome }) => !isServed(outcome));
  const box = element("section", { "aria-labelledby": "result-title" });
  box.append(
    element("h2", { id: "result-title", tabindex: "-1" }, "Before you run both"),
    element("p", {}, stopped.length > 0 ? whyNot(stopped) : whatItCosts(isTestKey)),
  );
  const [one, other] = sides.map(servedBy);
  if (stopped.length === 0 && typeof one === "string" && one === other)
    box.append(
      element(
        "p",
        { class: "warning" },
        `Both sides would use the same target, ${one}: they would differ only by its settings or by chance.`,
      ),
    );
  box.append(element("div", { class: "pair" }, ...sides.map(sideView)));
  if (stopped.length === 0) {
    const start = button(isTestKey ? "Run both" : "Run both (two calls)", run);
    start.classList.add("primary");
    box.append(element("div", { class: "row tools" }, start));
  }
  return box;
}

function whyNot(stopped: readonly PlannedSide[]): string {
  const sides = stopped.length > 1 ? "both sides" : `side ${stopped.map(({ label }) => label).join("")}`;
  // No answer, or a cancelled request.
  const isKnown = stopped.every(({ outcome }) => outcome.ok || outcome.failure.kind === "refused");
  return isKnown
    ? `Not run: ${sides} would be rejected for the reason below. Choose another purpose or other options.`
    : `Not run: the plan of ${sides} could not be determined for the reason below. Compare again.`;
}

function whatItCosts(isTestKey: boolean): string {
  return isTestKey
    ? "This is a test key: both calls are simulated, and nothing is charged."
    : "Both calls are charged, each at its own price. Simulated calls are free.";
}

function isServed(outcome: PlannedSide["outcome"]): boolean {
  return outcome.ok && outcome.data.object === "routing.decision" && outcome.data.outcome.position !== null;
}

/** Null: none, or a target that this key sees only as a number. */
function servedBy({ outcome }: PlannedSide): string | null {
  if (!outcome.ok || outcome.data.object !== "routing.decision") return null;
  const { outcome: decided, candidates } = outcome.data;
  const served = candidates.find(({ position }) => position === decided.position);
  return served?.connection === undefined
    ? null
    : `${served.connection}: ${served.provider ?? ""} ${served.model ?? ""}`;
}

function sideView({ label, purpose, outcome }: PlannedSide): HTMLElement {
  const side = element("div", {}, element("h3", {}, `${label}: ${purposeWords(purpose)}`));
  if (!outcome.ok) side.append(failureView(outcome.failure, outcome.requestId));
  else if (outcome.data.object === "routing.decision")
    side.append(...decisionParts(outcome.data, `Judged for ${label}`));
  return side;
}
