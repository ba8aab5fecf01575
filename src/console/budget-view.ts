// Shows a budget: a bar for each limit, its state, and its forecast.
import type { BudgetView } from "../contract/admin/budgets.ts";
import type { SpentBudget } from "../contract/usage.ts";
import { element } from "../page/element.ts";
import { countText, hoursText, mark, momentView, percentText, type Tone, usdText } from "./words.ts";

export type Period = BudgetView["period"];
export const PERIOD_WORDS: Readonly<Record<Period, string>> = {
  day: "each day",
  month: "each month",
  total: "in total",
};

type Amount = string | number;

/** One limit of a budget, from either of two answers. */
interface Limit {
  readonly text: (amount: Amount) => string;
  /** Unit of the amount. Money contains its own. */
  readonly what: string;
  readonly limit: Amount;
  readonly spent: Amount;
  /** Reserved for calls in flight. */
  readonly held: Amount | null;
  /** Limit minus spent and held amounts. */
  readonly left: Amount | null;
  /** Forecast of the spend at the end of the window. */
  readonly atEnd: Amount | null;
}

export interface ShownBudget {
  readonly period: Period;
  readonly limits: readonly Limit[];
  readonly softLimit: number | null;
  readonly isSoftLimitReached: boolean;
  readonly resetsAt: string | null;
  readonly forecast: SpentBudget["forecast"];
}

/** From the usage answer. */
export function spentBudget(budget: SpentBudget): ShownBudget {
  const {
    period,
    soft_limit: softLimit,
    soft_limit_reached: isSoftLimitReached,
    resets_at: resetsAt,
    forecast,
  } = budget;
  const limits = UNITS.map(({ unit, ...words }) => ({
    ...words,
    limit: budget[`limit_${unit}`],
    spent: budget[`spent_${unit}`],
    held: null,
    left: budget[`remaining_${unit}`],
    atEnd: forecast?.[`spent_${unit}`] ?? null,
  }));
  return { period, limits: limits.flatMap(limitIn), softLimit, isSoftLimitReached, resetsAt, forecast };
}

/** From the budget's own answer. */
export function ownBudget({ period, soft_limit: softLimit, usage, ...limited }: BudgetView): ShownBudget {
  const { soft_limit_reached: isSoftLimitReached, resets_at: resetsAt, forecast } = usage;
  const limits = UNITS.map(({ unit, ...words }) => ({
    ...words,
    limit: limited[`limit_${unit}`],
    spent: usage[`spent_${unit}`],
    held: usage[`reserved_${unit}`],
    left: null,
    atEnd: forecast?.[`spent_${unit}`] ?? null,
  }));
  return { period, limits: limits.flatMap(limitIn), softLimit, isSoftLimitReached, resetsAt, forecast };
}

const UNITS = [
  { unit: "usd", what: "", text: (usd: Amount) => usdText(`${usd}`) },
  { unit: "audio_seconds", what: " of audio", text: (seconds: Amount) => hoursText(Number(seconds)) },
  { unit: "tokens", what: " tokens", text: (tokens: Amount) => countText(Number(tokens)) },
] as const;

/** An unset limit is null. */
function limitIn({ limit, ...rest }: Omit<Limit, "limit"> & { readonly limit: Amount | null }): readonly Limit[] {
  return limit === null ? [] : [{ ...rest, limit }];
}

/** `[tone, word]`: the worst state that applies. */
export function stateOf({ limits, isSoftLimitReached, forecast }: ShownBudget): readonly [Tone, string] {
  if (limits.some(isSpent)) return ["bad", "exhausted"];
  if (limits.some((limit) => takenOf(limit) >= exact(limit.limit))) return ["bad", "nothing remaining"];
  if (isSoftLimitReached) return ["warn", "soft limit reached"];
  if (forecast !== null && forecast.limit_reached_at !== null) return ["warn", "will run out early"];
  return ["good", "within limits"];
}

export const stateView = (budget: ShownBudget): HTMLElement => mark(...stateOf(budget));

export function gaugesView({ limits, softLimit }: ShownBudget): HTMLElement {
  return element("div", {}, ...limits.map((limit) => gauge(limit, softLimit)));
}

/** `$1.00 of $50.00, 14.4 s of 1 h of audio`. */
export const spentText = ({ limits }: ShownBudget): string =>
  limits.map(({ text, what, spent, limit }) => `${text(spent)} of ${text(limit)}${what}`).join(", ");

function gauge(limit: Limit, softLimit: number | null): HTMLElement {
  const { text, what, spent, held, left } = limit;
  const limitAmount = exact(limit.limit);
  const partOf = (amount: bigint): number =>
    limitAmount === 0n ? 1 : Math.min(1, Number(amount) / Number(limitAmount));
  const [spentPart, takenPart] = [partOf(exact(spent)), partOf(takenOf(limit))];
  const track = element("span", { class: "track", "aria-hidden": "true" });
  track.append(piece("bar", spentPart), piece("bar held", takenPart - spentPart));
  if (softLimit !== null) {
    const sign = element("span", { class: "soft-sign", title: `Soft limit: ${percentText(softLimit)}` });
    sign.style.left = `${100 * softLimit}%`;
    track.append(sign);
  }
  const notes = [
    ...(held === null || exact(held) === 0n ? [] : [`${text(held)} reserved for calls in progress`]),
    ...(left === null ? [] : [`${text(left)} left`]),
    ...(softLimit === null ? [] : [`soft limit at ${percentText(softLimit)}`]),
  ];
  const summary = `${text(spent)} of ${text(limit.limit)}${what}, ${limitAmount === 0n ? "all" : percentText(spentPart)}`;
  return element("div", { class: "gauge" }, summary, track, element("small", {}, notes.join("; ")));
}

function piece(name: string, part: number): HTMLElement {
  const view = element("span", { class: name });
  view.style.width = `${100 * part}%`;
  view.hidden = part <= 0;
  return view;
}

/** The forecast in one sentence. */
export function outlookView(budget: ShownBudget): HTMLElement {
  const { period, limits, resetsAt, forecast } = budget;
  const until = resetsAt === null ? "its limit is raised" : momentView(resetsAt);
  if (limits.some(isSpent)) return element("span", {}, "Further spending is rejected until ", until, ".");
  if (resetsAt === null) return element("span", {}, "It never resets, so there is no forecast.");
  if (forecast === null) return element("span", {}, `No forecast yet: too little of the ${period} has passed.`);
  if (forecast.limit_reached_at !== null)
    return element("span", {}, "At this rate it will be exhausted on ", momentView(forecast.limit_reached_at), ".");
  const atEnd = limits.flatMap(({ text, what, atEnd: amount }) =>
    amount === null || Number(amount) === 0 ? [] : [`${text(roughly(amount))}${what}`],
  );
  if (atEnd.length === 0) return element("span", {}, "Nothing spent yet.");
  return element("span", {}, `At this rate about ${atEnd.join(" and ")} will be spent by `, until, ".");
}

/** Precise to a cent or a second, since a forecast is no better; below one dollar more digits are shown. */
function roughly(amount: Amount): Amount {
  if (typeof amount === "number") return Math.round(amount);
  const [integerPart = "0", fraction = ""] = amount.split(".");
  // Two significant digits, also for very small amounts.
  const places = integerPart === "0" ? Math.max(4, fraction.search(/[1-9]/u) + 2) : 2;
  return `${integerPart}.${fraction.slice(0, places)}`;
}

const isSpent = ({ spent, limit }: Limit): boolean => exact(spent) >= exact(limit);

/** Spent plus held. */
function takenOf({ limit, spent, held, left }: Limit): bigint {
  if (left === null) return exact(spent) + exact(held ?? 0);
  const used = exact(limit) - exact(left);
  return used > exact(spent) ? used : exact(spent);
}

/** Fixed-point with nine decimal places, like stored money: `0.1 + 0.2` is `0.3`. */
function exact(amount: Amount): bigint {
  const [integerPart = "0", fraction = ""] = `${amount}`.split(".");
  return BigInt(`${integerPart}${fraction.padEnd(9, "0")}`);
}
