// The page of one budget of an app: its state, its limits, and its removal.
import type { BudgetView } from "../contract/admin/budgets.ts";
import { element } from "../page/element.ts";
import { appPath } from "./app-form.ts";
import { gaugesView, outlookView, ownBudget, PERIOD_WORDS, type Period, stateView } from "./budget-view.ts";
import { actionView } from "./action-view.ts";
import { type Field, formView } from "./form-view.ts";
import { fileNotice, fileTag, isOfFile } from "./owner-view.ts";
import { Unanswered, type Visit } from "./visit.ts";
import { factList, link, momentView, part } from "./words.ts";

export async function showBudget(visit: Visit, app: string, period: string): Promise<readonly Node[]> {
  const path = `${appPath(app)}/budgets/${encodeURIComponent(period)}`;
  const backLink = link(visit.link("budgets"), "All budgets");
  const outcome = await visit.ask<BudgetView>("GET", path);
  if (outcome.ok) return [backLink, ...one(visit, app, path, outcome.data, outcome.etag)];
  if (outcome.failure.kind !== "refused" || outcome.failure.status !== 404 || !isPeriod(period))
    throw new Unanswered(outcome);
  // A missing app is an error; a missing budget can be created.
  await visit.read(appPath(app));
  return [
    backLink,
    element("p", { class: "empty" }, `${app} has no budget ${PERIOD_WORDS[period]}: this spending is unlimited.`),
    part("Set budget", limitsForm(visit, app, path, null, null)),
  ];
}

const isPeriod = (name: string): name is Period => Object.hasOwn(PERIOD_WORDS, name);

function one(visit: Visit, app: string, path: string, view: BudgetView, etag: string | null): readonly Node[] {
  const budget = ownBudget(view);
  const state = part(
    "Status",
    gaugesView(budget),
    factList([
      ["State", stateView(budget)],
      ["Forecast", outlookView(budget)],
      ["Resets", budget.resetsAt === null ? "never" : momentView(budget.resetsAt)],
    ]),
  );
  if (isOfFile(view)) {
    state.querySelector("h2")?.append(...fileTag(view));
    return [fileNotice("budget"), state];
  }
  return [
    state,
    part("Limits", limitsForm(visit, app, path, view, etag)),
    part("Remove", removal(visit, app, path, view, etag)),
  ];
}

function limitsForm(
  visit: Visit,
  app: string,
  path: string,
  view: BudgetView | null,
  etag: string | null,
): HTMLElement {
  return formView<BudgetView>({
    fields: fieldsOf(view),
    submit: view === null ? "Set budget" : "Save limits",
    send: (body) => visit.ask("PUT", path, { body, ifMatch: etag }),
    done: ({ period }) => {
      visit.say(`The budget of ${app} ${PERIOD_WORDS[period]} applies from its next request on.`);
      return visit.redraw();
    },
    again: () => visit.redraw(),
  });
}

function fieldsOf(view: BudgetView | null): readonly Field[] {
  const inputText = (figure: string | number | null | undefined): string => `${figure ?? ""}`;
  return [
    {
      kind: "text",
      name: "limit_usd",
      label: "US dollars",
      placeholder: "50.00",
      value: inputText(view?.limit_usd),
      hint: "Set at least one of the three limits. The first one reached rejects further spending. A limit below the amount already spent applies immediately.",
    },
    {
      kind: "number",
      name: "limit_audio_seconds",
      label: "Seconds of audio",
      value: inputText(view?.limit_audio_seconds),
      hint: "3600 is one hour.",
    },
    { kind: "number", name: "limit_tokens", label: "Chat tokens", value: inputText(view?.limit_tokens) },
    {
      kind: "number",
      name: "soft_limit",
      label: "Soft limit",
      placeholder: "0.8",
      value: inputText(view?.soft_limit),
      hint: "Fraction of each limit, for example 0.8. Above it, the budget and the log show a warning. Requests are not rejected.",
    },
  ];
}

function removal(visit: Visit, app: string, path: string, { period }: BudgetView, etag: string | null): Node {
  return actionView({
    label: "Remove budget",
    title: "Remove budget?",
    what: `Spending of ${app} ${PERIOD_WORDS[period]} will not be limited. Recorded usage is kept. A new budget starts at zero.`,
    run: () => visit.ask("DELETE", path, { ifMatch: etag }),
    done: () => {
      visit.say(`The budget of ${app} ${PERIOD_WORDS[period]} was removed.`);
      visit.go(visit.link("budgets"));
    },
    again: () => visit.redraw(),
  });
}
