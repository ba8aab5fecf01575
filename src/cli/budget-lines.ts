// Budgets for people (contract 9): a bar for each limit, what is spent of it, and where the present pace leads.
import type { SpentBudget } from "../contract/usage.ts";
import { facts } from "./print.ts";

/** An app's own, or with `app` those of a workspace's apps. */
type Shown = SpentBudget & { readonly app?: string };

interface Limit {
  readonly spent: string | number;
  readonly limit: string | number;
  readonly unit: string;
  /** At the window's end; null: nothing is forecast. */
  readonly atEnd: string | null;
}

const BAR_WIDTH = 20;

export function budgetLines(budgets: readonly Shown[]): string {
  return facts(
    budgets.flatMap((budget) =>
      limitsOf(budget).map((limit, index) => [nameOf(budget), lineOf(budget, limit, index === 0)] as const),
    ),
  );
}

function nameOf({ app, period }: Shown): string {
  return app === undefined ? `budget (${period})` : `budget (${period}) of ${app}`;
}

/** What is true of the whole budget stands in the first of its lines. */
function lineOf(budget: Shown, { spent, limit, unit, atEnd }: Limit, isFirst: boolean): string {
  const part = Number(limit) === 0 ? 0 : Number(spent) / Number(limit);
  const { resets_at: end, forecast, soft_limit: soft, soft_limit_reached: isSoftlyReached } = budget;
  return [
    `${bar(part)} ${percent(part, 0)} ${spent} of ${limit} ${unit}`,
    ...(atEnd === null || end === null ? [] : [`at this pace ${atEnd} by ${minute(end)}`]),
    ...(isFirst && typeof forecast?.limit_reached_at === "string"
      ? [`its limit is met ${minute(forecast.limit_reached_at)}`]
      : []),
    ...(isFirst && soft !== null && isSoftlyReached ? [`its soft limit of ${percent(soft, 1)} is reached`] : []),
  ].join("; ");
}

function limitsOf(budget: Shown): readonly Limit[] {
  const { forecast } = budget;
  const limits = [
    ["USD", budget.spent_usd, budget.limit_usd, forecast === null ? null : cents(forecast.spent_usd)],
    [
      "s of audio",
      budget.spent_audio_seconds,
      budget.limit_audio_seconds,
      forecast === null ? null : String(Math.round(forecast.spent_audio_seconds)),
    ],
    ["tokens", budget.spent_tokens, budget.limit_tokens, forecast === null ? null : String(forecast.spent_tokens)],
  ] as const;
  return limits.flatMap(([unit, spent, limit, atEnd]) => (limit === null ? [] : [{ unit, spent, limit, atEnd }]));
}

function bar(part: number): string {
  const full = Math.min(BAR_WIDTH, Math.floor(part * BAR_WIDTH));
  return `[${"#".repeat(full)}${".".repeat(BAR_WIDTH - full)}]`;
}

/** Rounded down: 100 % is all of it. */
function percent(part: number, places: 0 | 1): string {
  const scale = 10 ** places;
  return `${Math.floor(part * 100 * scale + 1e-9) / scale} %`;
}

/** A forecast is not known finer than that; of less than a dollar every digit is shown. */
function cents(usd: string): string {
  const [whole = "0", fraction = ""] = usd.split(".");
  return whole === "0" ? usd : `${whole}.${fraction.slice(0, 2)}`;
}

function minute(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
}
