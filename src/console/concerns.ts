// What may need somebody: a table of its own where it does, a line in one list where it does not.
import type { AppView } from "../contract/apps.ts";
import type { ProviderHealth } from "../contract/provider-health.ts";
import type { ListedRequestView } from "../contract/request-list.ts";
import type { WorkspaceUsage } from "../contract/usage.ts";
import type { DeliveryView } from "../contract/webhook.ts";
import type { Outcome } from "../page/ask.ts";
import { element, table } from "../page/element.ts";
import { outcomeWords } from "../page/outcome-words.ts";
import { failureLine } from "./tried.ts";
import type { Page, Visit } from "./visit.ts";
import { link, mark, orNone, part, secondsText, timeView, usdText } from "./words.ts";

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
    orNone(
      attempts.map(({ connection, model, outcome }) => `${connection}: ${model}, ${outcomeWords(outcome)}`).join("; "),
    ),
  ]);
  return part(
    "Failed requests",
    table("The latest five at most", ["When", "Request", "Ended with", "Calls"], rows),
    element("p", {}, link(visit.link("requests", [], { outcome: "failed" }), "All failed requests")),
  );
}

type Attempt = DeliveryView["attempts"][number];
/** What a receiver answered with is its workspace's alone. */
export type Delivery = Omit<DeliveryView, "attempts"> & { readonly attempts: readonly Omit<Attempt, "response">[] };

export function failedDeliveries(visit: Visit, { data }: Page<Delivery>): Concern {
  if (data.length === 0) return "No webhook delivery of the last seven days was given up.";
  const rows = data.map(({ created_at: at, event, attempts, ended_by: why }) => {
    const last = attempts.at(-1);
    return [
      timeView(at),
      element("code", {}, event.job_id),
      mark("bad", last === undefined ? "never sent" : (WORDS[last.outcome] ?? `answered ${orNone(last.status_code)}`)),
      why === null ? "–" : ENDS[why],
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

const WORDS: Readonly<Partial<Record<Attempt["outcome"], string>>> = {
  timeout: "no answer in time",
  connection: "not reached",
  tls: "no valid certificate",
  address_not_allowed: "address not allowed",
};
const ENDS: Readonly<Record<NonNullable<DeliveryView["ended_by"]>, string>> = {
  attempts: "all attempts used",
  gone: "the receiver answered 410",
  disabled: "the webhook was switched off",
  deleted: "the webhook was removed",
};

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
    link(visit.link("budgets"), apps.find(({ id }) => id === budget.app)?.slug ?? budget.app),
    budget.period,
    spentText(budget),
    stateOf(budget),
    timeView(budget.resets_at),
  ]);
  return part("Budgets near their end", table("Of their window that runs now", HEADS, rows));
}

const HEADS = ["App", "Period", "Spent", "State", "Begins anew"];

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
    ...(audio === null ? [] : [`${secondsText(budget.spent_audio_seconds)} of ${secondsText(audio)}`]),
    ...(tokens === null ? [] : [`${budget.spent_tokens} of ${tokens} tokens`]),
  ].join(", ");
}
