// Prints budgets for people [cli.usage]: a bar for each limit, the amount spent, and the forecast.
import type { SpentBudget } from "../../contract/usage.ts";
import { formatFields } from "../print.ts";
import { roundUsd } from "../round-usd.ts";

/** An app's own budget, or with `app` a budget of one of the workspace's apps. */
type Shown = SpentBudget & { readonly app?: string };

interface Limit {
  readonly unit: string;
  readonly spent: string | number;
  readonly limit: string | number;
  /** At the end of the window. Null: no forecast. */
  readonly atEnd: string | number | null;
}

const BAR_WIDTH = 20;

/** `names`: of apps, by id. */
export function budgetLines(budgets: readonly Shown[], names: ReadonlyMap<string, string> = new Map()): string {
  return formatFields(
    budgets.flatMap((budget) => {
      const limits = limitsOf(budget);
      // With a linear projection, the limit that is exceeded furthest is the first to be met.
      const first = Math.max(...limits.map(({ atEnd, limit }) => partOf(atEnd ?? 0, limit)));
      return limits.map((limit) => {
        const isFirst = partOf(limit.atEnd ?? 0, limit.limit) === first;
        return [nameOf(budget, names), lineOf(budget, limit, isFirst)] as const;
      });
    }),
  );
}

function nameOf({ app, period }: Shown, names: ReadonlyMap<string, string>): string {
  return app === undefined ? `budget (${period})` : `budget (${period}) of ${names.get(app) ?? app}`;
}

function lineOf(budget: Shown, { unit, spent, limit, atEnd }: Limit, isFirst: boolean): string {
  const part = partOf(spent, limit);
  const { resets_at: end, forecast, soft_limit: soft } = budget;
  const met = isFirst ? (forecast?.limit_reached_at ?? null) : null;
  return [
    `${bar(part)} ${percent(part, 0)} ${rounded(spent)} of ${limit} ${unit}`,
    ...(atEnd === null || end === null ? [] : [`forecast: ${roughly(atEnd)} ${unit} by ${minute(end)}`]),
    ...(met === null ? [] : [`limit will be reached ${minute(met)}`]),
    ...(soft !== null && part >= soft ? [`soft limit of ${percent(soft, 1)} reached`] : []),
  ].join("; ");
}

function limitsOf(budget: Shown): readonly Limit[] {
  const { forecast } = budget;
  const limits = [
    ["USD", budget.spent_usd, budget.limit_usd, forecast?.spent_usd],
    ["s of audio", budget.spent_audio_seconds, budget.limit_audio_seconds, forecast?.spent_audio_seconds],
    ["tokens", budget.spent_tokens, budget.limit_tokens, forecast?.spent_tokens],
  ] as const;
  return limits.flatMap(([unit, spent, limit, atEnd = null]) =>
    limit === null ? [] : [{ unit, spent, limit, atEnd }],
  );
}

/** Money is text. */
function rounded(amount: string | number): string {
  return typeof amount === "number" ? String(amount) : roundUsd(amount);
}

/** The spent part of a limit of zero is 0. */
function partOf(amount: string | number, limit: string | number): number {
  return Number(limit) === 0 ? 0 : Number(amount) / Number(limit);
}

function bar(part: number): string {
  const full = Math.min(BAR_WIDTH, Math.floor(part * BAR_WIDTH));
  return `[${"#".repeat(full)}${".".repeat(BAR_WIDTH - full)}]`;
}

/** Rounded down: 100 % means all of it. */
function percent(part: number, places: 0 | 1): string {
  const scale = 10 ** places;
  return `${Math.floor(part * 100 * scale + 1e-9) / scale} %`;
}

/** Precise to a cent or a second, since a forecast is no better; below one dollar as other amounts. */
function roughly(atEnd: string | number): string {
  if (typeof atEnd === "number") return String(Math.round(atEnd));
  const [whole = "0", fraction = ""] = atEnd.split(".");
  return whole === "0" ? roundUsd(atEnd) : `${whole}.${fraction.slice(0, 2)}`;
}

function minute(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
}
