// The figures of usage as table columns. Billing classes are never added up: each has its own table.
import type { BillingClass } from "../contract/billing-class.ts";
import type { UsageTable } from "../contract/usage.ts";
import { element, table } from "../page/element.ts";
import { countText, hoursText, usdText } from "./words.ts";

type Amounts = Omit<UsageTable["totals"][number], "billing_class">;
type Row = UsageTable["data"][number];

interface Column {
  readonly name:
    | "charge_usd"
    | "list_usd"
    | "audio_seconds"
    | "input_tokens"
    | "output_tokens"
    | "estimated"
    | "attempts";
  readonly head: string;
  readonly text: (amounts: Amounts) => string;
  /** Notes below it. */
  readonly notes?: (amounts: Amounts) => readonly (string | null)[];
  /** Columns without any value are hidden. */
  readonly isSaid: (amounts: Amounts) => boolean;
}

const COLUMNS: readonly Column[] = [
  {
    name: "charge_usd",
    head: "Charged",
    text: ({ charge_usd: usd }) => usdText(usd),
    isSaid: ({ charge_usd: usd }) => Number(usd) > 0,
  },
  {
    name: "list_usd",
    head: "At list prices",
    text: listText,
    notes: ({ unpriced }) => [countNote(unpriced, "without a known price")],
    isSaid: ({ list_usd: list, charge_usd: charge, unpriced }) => list !== charge || unpriced > 0,
  },
  {
    name: "audio_seconds",
    head: "Audio",
    text: ({ audio_seconds: seconds }) => hoursText(seconds),
    notes: ({ audio_seconds: audio, billable_audio_seconds: billable }) => [
      billable > 0 && billable !== audio ? `${hoursText(billable)} billable` : null,
    ],
    isSaid: ({ audio_seconds: seconds }) => seconds > 0,
  },
  {
    name: "input_tokens",
    head: "Tokens in",
    text: ({ input_tokens: tokens }) => countText(tokens),
    notes: ({ cached_input_tokens: cached }) => [countNote(cached, "cached")],
    isSaid: hasTokens,
  },
  {
    name: "output_tokens",
    head: "Tokens out",
    text: ({ output_tokens: tokens }) => countText(tokens),
    isSaid: hasTokens,
  },
  {
    name: "estimated",
    head: "Estimated tokens",
    text: ({ estimated_input_tokens: tokensIn, estimated_output_tokens: tokensOut }) =>
      `${countText(tokensIn)} in, ${countText(tokensOut)} out`,
    isSaid: ({ estimated_input_tokens: tokensIn, estimated_output_tokens: tokensOut }) => tokensIn + tokensOut > 0,
  },
  {
    name: "attempts",
    head: "Calls",
    text: ({ attempts }) => countText(attempts),
    notes: ({ failed, unresolved }) => [countNote(failed, "failed"), countNote(unresolved, "unresolved after a crash")],
    isSaid: () => true,
  },
];

/** A call with an unknown price is not free. */
export function listText({ list_usd: usd, unpriced }: Pick<Amounts, "list_usd" | "unpriced">): string {
  return `${unpriced > 0 ? "at least " : ""}${usdText(usd)}`;
}

function hasTokens({ input_tokens: tokensIn, output_tokens: tokensOut }: Amounts): boolean {
  return tokensIn + tokensOut > 0;
}

const countNote = (count: number, what: string): string | null => (count > 0 ? `${countText(count)} ${what}` : null);

export const CLASS_WORDS: Readonly<Record<BillingClass, readonly [name: string, what: string]>> = {
  metered: ["Metered", "Charged to apps at this gateway's prices."],
  provider_billed: [
    "Provider-billed",
    "Not charged by this gateway: the providers bill the connected accounts. The amount is an estimate at list prices.",
  ],
  simulated: ["Simulated", "Answered by the sandbox, free of charge."],
};

/** One row per billing class. */
export function totalsTable(totals: UsageTable["totals"]): HTMLElement {
  const columns = COLUMNS.filter(({ isSaid }) => totals.some(isSaid));
  const rows = totals.map((total) => [
    CLASS_WORDS[total.billing_class][0],
    ...columns.map((column) => figure(column, total, null)),
  ]);
  return table("By billing class. The classes are never added together.", ["Billing", ...heads(columns)], rows);
}

/** Rows shown at once; the file contains all. */
const MOST_ROWS = 300;

/** Rows of one class, each with a bar: by charge, or by audio if nothing is charged. */
export function classTable(
  rows: readonly Row[],
  caption: string,
  groupHeads: readonly string[],
  groupCells: (row: Row) => readonly (Node | string)[],
): HTMLElement {
  const columns = COLUMNS.filter(({ name, isSaid }) => rows.some(isSaid) && isOf(name, rows));
  const scale = scaleOf(rows);
  const tableRows = rows
    .slice(0, MOST_ROWS)
    .map((row) => [...groupCells(row), ...columns.map((column) => figure(column, row, scale))]);
  const view = table(caption, [...groupHeads, ...heads(columns)], tableRows);
  if (rows.length <= MOST_ROWS) return view;
  const rest = `These are ${MOST_ROWS} of ${countText(rows.length)} rows. The CSV file contains all. Use a shorter period or another grouping for fewer rows.`;
  return element("div", {}, view, element("p", { class: "soft" }, rest));
}

const heads = (columns: readonly Column[]): readonly Node[] =>
  columns.map(({ head }) => element("span", { class: "figure" }, head));

/** A class without charges has no charge column, because zeros would mislead. */
function isOf(name: Column["name"], [first]: readonly Row[]): boolean {
  if (name === "charge_usd") return first?.billing_class === "metered";
  return name !== "list_usd" || first?.billing_class !== "simulated";
}

interface Scale {
  readonly name: Column["name"];
  readonly of: (amounts: Amounts) => number;
  readonly most: number;
}

const MEASURES: readonly Omit<Scale, "most">[] = [
  { name: "charge_usd", of: ({ charge_usd: usd }) => Number(usd) },
  { name: "list_usd", of: ({ list_usd: usd }) => Number(usd) },
  { name: "audio_seconds", of: ({ audio_seconds: seconds }) => seconds },
  { name: "input_tokens", of: ({ input_tokens: tokens }) => tokens },
  { name: "attempts", of: ({ attempts }) => attempts },
];

function scaleOf(rows: readonly Row[]): Scale | null {
  const scales = MEASURES.filter(({ name }) => isOf(name, rows)).map((measure) => ({
    ...measure,
    most: rows.reduce((most, row) => Math.max(most, measure.of(row)), 0),
  }));
  return scales.find(({ most }) => most > 0) ?? null;
}

/** In descending order of the bars. */
export function mostFirst(rows: readonly Row[]): readonly Row[] {
  const scale = scaleOf(rows);
  return scale === null ? rows : rows.toSorted((one, other) => scale.of(other) - scale.of(one));
}

function figure({ name, text, notes }: Column, amounts: Amounts, scale: Scale | null): Node {
  const view = element("span", { class: "figure" }, text(amounts));
  if (name === "audio_seconds") view.title = `${amounts.audio_seconds} s`;
  for (const note of notes?.(amounts) ?? []) if (note !== null) view.append(element("small", {}, note));
  if (scale?.name !== name) return view;
  const track = element("span", { class: "track", "aria-hidden": "true" });
  const part = scale.of(amounts) / scale.most;
  if (part > 0) {
    const bar = element("span", { class: "bar" });
    bar.style.width = `${100 * part}%`;
    track.append(bar);
  }
  return element("div", { class: "time" }, view, track);
}
