// The budgets of a workspace's apps: spent and held amounts and forecasts; create, change and remove.
import type { WorkspaceUsage } from "../contract/usage.ts";
import { element, table } from "../page/element.ts";
import { showBudget } from "./budget-screen.ts";
import {
  gaugesView,
  outlookView,
  PERIOD_WORDS,
  type ShownBudget,
  spentBudget,
  stateOf,
  stateView,
} from "./budget-view.ts";
import { formView } from "./form-view.ts";
import { type Names, namesAt } from "./names.ts";
import type { Visit } from "./visit.ts";
import { link, part } from "./words.ts";

export function showBudgets(visit: Visit): Promise<readonly Node[]> {
  const [app, period] = visit.path;
  return app === undefined || period === undefined ? all(visit) : showBudget(visit, app, period);
}

interface AppBudget {
  readonly app: string;
  readonly budget: ShownBudget;
}

async function all(visit: Visit): Promise<readonly Node[]> {
  const one = visit.query.get("app") ?? "";
  // The usage answer contains the budgets of all apps; the shortest period and the coarsest grouping suffice.
  const today = new Date().toISOString().slice(0, 10);
  const question = new URLSearchParams({
    from: today,
    to: today,
    group_by: "capability",
    ...(one === "" ? {} : { app: one }),
  });
  const [usage, names] = await Promise.all([visit.read<WorkspaceUsage>(`/usage?${question}`), namesAt(visit, "/apps")]);
  const budgets = (usage.budgets ?? []).map((budget) => ({ app: names.of(budget.app), budget: spentBudget(budget) }));
  const limited = new Set(budgets.map(({ app }) => app));
  const selectedApps = one === "" ? names.known : [names.of(one)];
  const free = selectedApps.filter((app) => !limited.has(app));
  return [
    ...(one === "" ? [] : [link(visit.link("budgets"), "Budgets of all apps")]),
    ...(budgets.length === 0 ? [] : [budgetTable(visit, budgets)]),
    ...(free.length === 0
      ? []
      : [element("p", { class: "empty" }, freeText(free, one === "" && names.choices === null))]),
    ...(selectedApps.length === 0
      ? [element("p", { class: "empty" }, "No apps yet. Budgets belong to apps.")]
      : [part("Set a budget", chooser(visit, names, one === "" ? null : names.of(one)))]),
  ];
}

const freeText = (apps: readonly string[], isCut: boolean): string =>
  `No budget${isCut ? ", of the newest hundred apps" : ""}: ${apps.join(", ")}. ${NO_BUDGET}`;

const NO_BUDGET = "Their spending is not limited.";
const URGENCY = ["bad", "warn", "soft", "good"];

/** The most urgent first. */
function budgetTable(visit: Visit, budgets: readonly AppBudget[]): HTMLElement {
  const urgency = ({ budget }: AppBudget): number => URGENCY.indexOf(stateOf(budget)[0]);
  const sorted = budgets.toSorted((one, other) => urgency(one) - urgency(other) || one.app.localeCompare(other.app));
  return table(
    "Budgets, most urgent first",
    ["Budget", "Spent and forecast"],
    sorted.map(({ app, budget }) => [
      element(
        "div",
        {},
        link(visit.link("budgets", [app, budget.period]), `${app}, ${PERIOD_WORDS[budget.period]}`),
        element("div", {}, stateView(budget)),
      ),
      element("div", {}, gaugesView(budget), outlookView(budget)),
    ]),
  );
}

/** With more than a hundred apps, the app is typed. */
function chooser(visit: Visit, { known, choices }: Names, app: string | null): HTMLElement {
  const field = { name: "app", label: "App", isRequired: true, ...(app === null ? {} : { value: app }) };
  return formView<readonly string[]>({
    fields: [
      choices === null
        ? { kind: "text", ...field, hint: "Slug or id.", suggestions: known }
        : { kind: "select", ...field, choices: known.map((slug) => [slug, slug]) },
      {
        kind: "select",
        name: "period",
        label: "Period",
        isRequired: true,
        value: "month",
        choices: Object.entries(PERIOD_WORDS),
      },
    ],
    submit: "Continue",
    send: ({ app, period }) =>
      Promise.resolve({ ok: true, data: [String(app), String(period)], requestId: null, etag: null }),
    done: (path) => visit.go(visit.link("budgets", path)),
  });
}
