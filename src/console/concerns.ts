// The alerts of the overview: a table for each kind that needs attention, and one common list for the others.
import type { AppView } from "../contract/admin/apps.ts";
import type { ListedJobView } from "../contract/admin/job-list.ts";
import type { ProviderDeletionView } from "../contract/admin/provider-deletions.ts";
import type { ProviderHealth } from "../contract/admin/provider-health.ts";
import type { ListedRequestView } from "../contract/admin/request-list.ts";
import type { RetirementView } from "../contract/admin/retirements.ts";
import type { WorkspaceUsage } from "../contract/usage.ts";
import type { Outcome } from "../page/ask.ts";
import { element, table } from "../page/element.ts";
import { outcomeWords } from "../page/outcome-words.ts";
import { outlookView, PERIOD_WORDS, spentBudget, spentText, stateOf, stateView } from "./budget-view.ts";
import { type Delivery, endText, outcomeText } from "./delivery-attempts.ts";
import type { Names } from "./names.ts";
import { failureLine } from "./tried.ts";
import type { Page, Visit } from "./visit.ts";
import { link, mark, orNone, part, timeView } from "./words.ts";

/** A text: no alert, with these words. */
type Concern = Node | string;

export function concern<T>(title: string, outcome: Outcome<T>, judge: (data: T) => Concern): Concern {
  return outcome.ok ? judge(outcome.data) : part(title, failureLine(outcome));
}

export function concernsView(concerns: readonly Concern[]): readonly Node[] {
  const isQuiet = (each: Concern): each is string => typeof each === "string";
  const quiet = concerns.filter(isQuiet).map((text) => element("li", {}, mark("good", text)));
  return [
    ...concerns.filter((each): each is Node => !isQuiet(each)),
    ...(quiet.length === 0 ? [] : [part("No problems", element("ul", { class: "steps" }, ...quiet))]),
  ];
}

export function failedRequests(visit: Visit, { data }: Page<ListedRequestView>): Concern {
  if (data.length === 0) return "No failed requests.";
  const rows = data.map(({ created_at: at, id, endpoint, code, status, attempts }) => [
    timeView(at),
    link(visit.link("requests", [id]), endpoint),
    mark("bad", code ?? `${status}`),
    orNone(
      attempts.map(({ connection, model, outcome }) => `${connection}: ${model}, ${outcomeWords(outcome)}`).join("; "),
    ),
  ]);
  return part(
    "Failed requests",
    table("Latest five", ["When", "Request", "Error code", "Calls"], rows),
    element("p", {}, link(visit.link("requests", [], { outcome: "failed" }), "All failed requests")),
  );
}

export function failedDeliveries(visit: Visit, { data }: Page<Delivery>): Concern {
  if (data.length === 0) return "No failed webhook deliveries in the last seven days.";
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
    "Failed webhook deliveries",
    table("Latest five", ["Event", "Job", "Last attempt", "Reason"], rows),
    element("p", {}, link(visit.link(visit.scope.workspace === null ? "deliveries" : "webhook"), "All deliveries")),
  );
}

/** The submission was answered successfully, so the failure of the job is reported here. */
export function failedJobs(visit: Visit, { data }: Page<ListedJobView>): Concern {
  if (data.length === 0) return "No failed jobs in the last 30 days.";
  const rows = data.map(({ finished_at: at, job_id: id, request_id: request, error }) => [
    timeView(at),
    link(visit.link("jobs", [], { job: id }), element("code", {}, id)),
    mark("bad", error?.code ?? "failed"),
    link(visit.link("requests", [request]), "Trace"),
  ]);
  return part(
    "Failed jobs",
    table("Latest five", ["Ended", "Job", "Error code", "Reason"], rows),
    element("p", {}, link(visit.link("jobs", [], { status: "failed" }), "All failed jobs")),
  );
}

/** Copies that remain at a provider until they are deleted there manually. */
export function failedDeletions(visit: Visit, { data }: Page<ProviderDeletionView>): Concern {
  if (data.length === 0) return "No failed provider deletions.";
  const rows = data.map(({ created_at: at, subject_id: subject, provider, connection, last_failure: why }) => [
    timeView(at),
    element("code", {}, subject),
    `${provider}: ${connection}`,
    why === null ? "–" : why.replaceAll("_", " "),
  ]);
  return part(
    "Failed provider deletions",
    table("Latest five", ["Since", "Source", "Account", "Last failure"], rows),
    element("p", {}, link(visit.link("deletions", [], { status: "failed" }), "All failed deletions")),
  );
}

/** Circuits as the answering process sees them; each process has its own. */
export function restingModels(visit: Visit, { circuits, pauses }: ProviderHealth, owners: Names): Concern {
  const resting = circuits.filter(({ state }) => state !== "closed");
  if (resting.length === 0 && pauses.length === 0) return "All providers are available.";
  const ownerView = (owner: string | null): string => (owner === null ? "shared" : owners.of(owner));
  const rows = [
    ...pauses.map((pause) => [
      `${pause.connection}: ${pause.model ?? "all models"}`,
      ownerView(pause.workspace_id),
      mark("warn", "paused"),
      timeView(pause.until),
    ]),
    ...resting.map((circuit) => [
      `${circuit.connection}: ${circuit.model}`,
      ownerView(circuit.workspace_id),
      circuit.state === "open" ? mark("bad", "unavailable") : mark("warn", "probing"),
      timeView(circuit.rests_until),
    ]),
  ];
  return part(
    "Unavailable providers",
    table("Circuits of this process, and manual pauses", ["Model", "Owner", "State", "Until"], rows),
    element("p", {}, link(visit.link("health"), "Provider health")),
  );
}

/** What routes lose because providers end models, with a target that would keep it [retirement.console]. */
export function nextRetirements(visit: Visit, { data }: Page<RetirementView>): Concern {
  if (data.length === 0) return "No route loses a feature within 90 days.";
  const rows = data.map((retirement) => {
    const { date, days_left: days, evidence, kind, message } = retirement;
    const isUrgent = days <= URGENT_DAYS && evidence === "vendor" && kind === "loss";
    return [
      mark(isUrgent ? "bad" : "warn", date),
      routeName(visit, retirement),
      message.replaceAll("`", ""),
      replacementText(retirement),
    ];
  });
  return part("Model retirements", table("Next five", ["Date", "Route", "Loss", "Replacement"], rows));
}

const URGENT_DAYS = 7;

/** A link where the route is one of this scope. */
function routeName(visit: Visit, { route, route_owner: owner }: RetirementView): Node | string {
  const isHere = owner === (visit.scope.workspace === null ? "platform" : "workspace");
  return isHere ? link(visit.link("routes", [route]), route) : route;
}

function replacementText({ proposal, unavailable_features: unavailable }: RetirementView): string | Node {
  if (proposal === null) return orNone(unavailable.map((feature) => `no model keeps ${feature}`).join("; "));
  const { target, lacks } = proposal;
  return `${target.connection}: ${target.model}${lacks.length === 0 ? "" : ` (without ${lacks.join(", ")})`}`;
}

export function budgetsNearEnd(visit: Visit, { budgets = [] }: WorkspaceUsage, apps: readonly AppView[]): Concern {
  if (budgets.length === 0) return "No budgets.";
  const nearEnd = budgets
    .map((budget) => ({
      app: apps.find(({ id }) => id === budget.app)?.slug ?? budget.app,
      budget: spentBudget(budget),
    }))
    .filter(({ budget }) => stateOf(budget)[0] !== "good");
  if (nearEnd.length === 0) return "No budget is near its limit.";
  const rows = nearEnd.map(({ app, budget }) => [
    link(visit.link("budgets", [app, budget.period]), `${app}, ${PERIOD_WORDS[budget.period]}`),
    spentText(budget),
    stateView(budget),
    outlookView(budget),
  ]);
  return part(
    "Budgets near their limit",
    table("In the current window", ["Budget", "Spent", "State", "Forecast"], rows),
  );
}
