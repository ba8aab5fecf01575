// Reports budgets that reached their soft limit [alerts.budget-soft-limit], are spent, or could not cover a request [alerts.budget-exhausted].
import { brand } from "../../contract/ids.ts";
import type { RequestRecord } from "../../gateway/request-record.ts";
import { metersOf } from "../../metering/budget.ts";
import { amountText } from "../../metering/amount-text.ts";
import { statesOf } from "../../metering/read-budgets.ts";
import { listReachedBudgets, type ReachedBudget } from "../../metering/store/soft-limits.ts";
import type { SystemHandle } from "../../storage/database.ts";
import type { Alert } from "../alert.ts";

const PAGE = 500;
/** More apps than this are refused at once only if something else is wrong. */
const MAX_REFUSED_APPS = 1_000;

export interface BudgetSource {
  /** Called for each request. Only remembers the app. */
  readonly recorded: (record: Pick<RequestRecord, "code" | "appId">) => void;
  readonly read: (db: SystemHandle) => Promise<readonly Alert[]>;
}

export function createBudgetSource(): BudgetSource {
  const refusedApps = new Set<string>();
  return {
    recorded: ({ code, appId }) => {
      if (code === "BUDGET_EXCEEDED" && appId !== null && refusedApps.size < MAX_REFUSED_APPS) refusedApps.add(appId);
    },
    read: async (db) => {
      const refused = [...refusedApps];
      refusedApps.clear();
      const budgets: ReachedBudget[] = [];
      for (let after: string | null = ""; after !== null; ) {
        const page: readonly ReachedBudget[] = await listReachedBudgets(db, {
          refusedApps: refused,
          after,
          limit: PAGE,
        });
        budgets.push(...page);
        after = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
      }
      return [...budgets.filter(({ is_reached: isReached }) => isReached).map(describe), ...refusing(budgets)];
    },
  };
}

/** Of each app that was refused, the fullest budget, unless it is reported as spent anyway. */
function refusing(budgets: readonly ReachedBudget[]): readonly Alert[] {
  const byApp = Map.groupBy(
    budgets.filter(({ is_refused: isRefused }) => isRefused),
    ({ app_id: appId }) => appId,
  );
  return [...byApp.values()].flatMap((its) => {
    const [fullest] = its.toSorted((left, right) => shareOf(right) - shareOf(left));
    return fullest === undefined || its.some(({ is_exhausted: isSpent }) => isSpent) ? [] : [describeRefusal(fullest)];
  });
}

function describe(budget: ReachedBudget): Alert {
  const event = budget.is_exhausted ? "budget_exhausted" : "budget_soft_limit";
  const summary = budget.is_exhausted
    ? `The ${nameOf(budget)} is spent: ${usageOf(budget)}. Requests of the app are rejected.`
    : `The ${nameOf(budget)} reached its soft limit of ${Math.round(Number(budget.soft_limit) * 100)} %: ${usageOf(budget)}.`;
  return alertOf(budget, event, event, summary);
}

function describeRefusal(budget: ReachedBudget): Alert {
  const summary = `The ${nameOf(budget)} could not cover a request, which was rejected: ${usageOf(budget)}.`;
  return alertOf(budget, "budget_exhausted", "budget_exhausted/refused", summary);
}

/** The cause has the window and the limits: a new window, or a raised limit that is reached again, is reported again. */
function alertOf(budget: ReachedBudget, event: Alert["event"], prefix: string, summary: string): Alert {
  const { workspace, app, period } = budget;
  const [state] = statesOf([budget], [budget]);
  const limits = limitedMeters(budget).map(({ kind, limit }) => `${kind}=${limit}`);
  return {
    event,
    cause: [prefix, workspace, app, period, state?.windowStart.toISOString(), limits.join(",")].join("/"),
    workspace: { id: brand("workspace", budget.workspace_id), slug: workspace },
    summary,
    details: {
      app,
      period,
      soft_limit: budget.soft_limit === null ? null : Number(budget.soft_limit),
      spent: limitedMeters(budget)
        .map(({ kind, spent }) => amountText(kind, spent))
        .join(", "),
      limit: limitedMeters(budget)
        .map(({ kind, limit }) => amountText(kind, limit))
        .join(", "),
      resets_at: state?.resetsAt?.toISOString() ?? null,
    },
    occurredAt: budget.now,
  };
}

function nameOf({ workspace, app, period }: ReachedBudget): string {
  return `budget of app ${workspace}/${app} (${period === "total" ? period : `per ${period}`})`;
}

function usageOf(budget: ReachedBudget): string {
  return limitedMeters(budget)
    .map(({ kind, limit, spent }) => `${amountText(kind, spent)} of ${amountText(kind, limit)}`)
    .join(", ");
}

function limitedMeters(budget: ReachedBudget) {
  return statesOf([budget], [budget])
    .flatMap((state) => metersOf(state))
    .flatMap((meter) => (meter.limit === null ? [] : [{ ...meter, limit: meter.limit }]));
}

function shareOf(budget: ReachedBudget): number {
  return Math.max(
    0,
    ...limitedMeters(budget).map(({ limit, spent, reserved }) =>
      limit === 0n ? 1 : Number(spent + reserved) / Number(limit),
    ),
  );
}
