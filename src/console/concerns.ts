// What may need somebody: a table of its own where it does, a line in one list where it does not.
import type { AppView } from "../contract/apps.ts";
import type { ListedJobView } from "../contract/job-list.ts";
import type { ProviderDeletionView } from "../contract/provider-deletions.ts";
import type { ProviderHealth } from "../contract/provider-health.ts";
import type { ListedRequestView } from "../contract/request-list.ts";
import type { WorkspaceUsage } from "../contract/usage.ts";
import type { Outcome } from "../page/ask.ts";
import { element, table } from "../page/element.ts";
import { PERIOD_WORDS } from "./budget-view.ts";
import { type Delivery, endText, outcomeText } from "./delivery-attempts.ts";
import { failureLine } from "./tried.ts";
import type { Page, Visit } from "./visit.ts";
import { countText, hoursText, link, mark, orNone, part, timeView, usdText } from "./words.ts";

/** A text: nothing is the matter, in these words. */
export type Concern = Node | string;

export function concern<T>(title: string, outcome: Outcome<T>, judge: (data: T) => Concern): Concern {
  return outcome.ok ? judge(outcome.data) : part(title, failureLine(outcome));
}

export function concernsView(concerns: readonly Concern[]): readonly Node[] {
  const isQuiet = (each: Concern): each is string => typeof each === "string";
  const quiet = concerns.filter(isQuiet).map((text) => element("li", {}, mark("good", text)));
  return [
    ...concerns.filter((each): each is Node => !isQuiet(each)),
    ...(quiet.length === 0 ? [] : [part("In order", element("ul", { class: "steps" }, ...quiet))]),
  ];
}

export function failedRequests(visit: Visit, { data }: Page<ListedRequestView>): Concern {
  if (data.length === 0) return "No request on record failed.";
  const rows = data.map(({ created_at: at, id, endpoint, code, status, attempts }) => [
    timeView(at),
    link(visit.link("requests", [id]), endpoint),
    mark("bad", code ?? `${status}`),
    orNone(attempts.map(({ connection, model, outcome }) => `${connection}: ${model}, ${orNone(outcome)}`).join("; ")),
  ]);
  return part(
    "Failed requests",
    table("The latest five at most", ["When", "Request", "Ended with", "Calls"], rows),
    element("p", {}, link(visit.link("requests", [], { outcome: "failed" }), "All failed requests")),
  );
}

export function failedDeliveries(visit: Visit, { data }: Page<Delivery>): Concern {
  if (data.length === 0) return "No webhook delivery of the last seven days was given up.";
  const rows = data.map((delivery) => {
    const { created_at: at, event, attempts } = delivery;
    const last = attempts.at(-1);
    return [
      timeView(at),
      link(visit.link("jobs", [], { job: event.job_id }), element("code", {}, event.job_id)),
      mark("bad", last === undefined ? "never sent" : outcomeText(last)),
      orNone(endText(delivery)),
    ];
  });
  return part(
    "Webhook deliveries that were given up",
    table("The latest five at most", ["Event", "Job", "Last attempt", "Why it ended"], rows),
    element(
      "p",
      {},
      link(visit.link(visit.scope.workspace === null ? "deliveries" : "webhook"), "All deliveries of seven days"),
    ),
  );
}

/** The answer to whoever submitted it was good; that it failed is told here. */
export function failedJobs(visit: Visit, { data }: Page<ListedJobView>): Concern {
  if (data.length === 0) return "No job of the last 30 days failed.";
  const rows = data.map(({ finished_at: at, job_id: id, request_id: request, error }) => [
    timeView(at),
    link(visit.link("jobs", [], { job: id }), element("code", {}, id)),
    mark("bad", error?.code ?? "failed"),
    link(visit.link("requests", [request]), "Trace"),
  ]);
  return part(
    "Failed jobs",
    table("The latest five at most", ["Ended", "Job", "With", "Why"], rows),
    element("p", {}, link(visit.link("jobs", [], { status: "failed" }), "All failed jobs")),
  );
}

/** What stays with a provider until somebody deletes it there. */
export function failedDeletions(visit: Visit, { data }: Page<ProviderDeletionView>): Concern {
  if (data.length === 0) return "No provider keeps what it was to delete.";
  const rows = data.map(({ created_at: at, subject_id: subject, provider, connection, last_failure: why }) => [
    timeView(at),
    element("code", {}, subject),
    `${provider}: ${connection}`,
    why === null ? "–" : why.replaceAll("_", " "),
  ]);
  return part(
    "Providers that still keep what they were to delete",
    table("The latest five at most", ["Since", "Of", "Account", "Last failure"], rows),
    element(
      "p",
      {},
      link(visit.link("deletions", [], { status: "failed" }), "All of them, with the providers' own ids"),
    ),
  );
}

/** What the gateway that answers saw; each process judges for itself. */
export function restingModels(visit: Visit, { circuits }: ProviderHealth): Concern {
  const resting = circuits.filter(({ state }) => state !== "closed");
  if (resting.length === 0) return "No provider rests after failures.";
  const rows = resting.map((circuit) => [
    `${circuit.connection}: ${circuit.model}`,
    circuit.workspace_id === null ? "the platform's" : element("code", {}, circuit.workspace_id),
    circuit.state === "open" ? mark("bad", "rests") : mark("warn", "the next call decides"),
    timeView(circuit.rests_until),
  ]);
  return part(
    "Providers that rest after failures",
    table("As this process sees them", ["Model", "Whose account", "State", "Until"], rows),
    element("p", {}, link(visit.link("health"), "Health of providers")),
  );
}

type Budget = NonNullable<WorkspaceUsage["budgets"]>[number];

export function budgetsNearEnd(visit: Visit, { budgets = [] }: WorkspaceUsage, apps: readonly AppView[]): Concern {
  if (budgets.length === 0) return "No app has a budget that could end.";
  const near = budgets.filter((budget) => budget.soft_limit_reached || limitAt(budget) !== null);
  if (near.length === 0) return "No budget is near its end.";
  const rows = near.map((budget) => [
    budgetLink(visit, budget, apps),
    PERIOD_WORDS[budget.period],
    spentText(budget),
    stateOf(budget),
    timeView(budget.resets_at),
  ]);
  return part("Budgets near their end", table("Of their window that runs now", HEADS, rows));
}

const HEADS = ["App", "Period", "Spent", "State", "Begins anew"];

function budgetLink(visit: Visit, { app, period }: Budget, apps: readonly AppView[]): Node {
  const name = apps.find(({ id }) => id === app)?.slug ?? app;
  return link(visit.link("budgets", [name, period]), name);
}

const limitAt = ({ forecast }: Budget): string | null => forecast?.limit_reached_at ?? null;

function stateOf(budget: Budget): Node {
  const at = limitAt(budget);
  if (at === null) return mark("warn", "soft limit reached");
  if (Date.parse(at) <= Date.now()) return mark("bad", "limit reached");
  const words = budget.soft_limit_reached ? "soft limit reached" : "near its end";
  return element("span", {}, mark("warn", words), "; at this pace its limit is met ", timeView(at));
}

function spentText(budget: Budget): string {
  const { limit_usd: usd, limit_audio_seconds: audio, limit_tokens: tokens } = budget;
  return [
    ...(usd === null ? [] : [`${usdText(budget.spent_usd)} of ${usdText(usd)}`]),
    ...(audio === null ? [] : [`${hoursText(budget.spent_audio_seconds)} of ${hoursText(audio)}`]),
    ...(tokens === null ? [] : [`${countText(budget.spent_tokens)} of ${countText(tokens)} tokens`]),
  ].join(", ");
}
