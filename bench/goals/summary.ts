// The tables of the goals, from the lines that the steps left.
import { DIRECT } from "../latency.ts";
import { median } from "../measure/report.ts";
import { BARE } from "../upstream/contenders.ts";
import type { Goal, Reading, StepResult } from "./reading.ts";
import type { Circumstances } from "./run-step.ts";

interface StepCommon extends Circumstances {
  readonly step: string;
  readonly run: number;
  /** Of the command that measured it. */
  readonly startedAt: string;
  readonly at: string;
  readonly commit: string;
  readonly seconds: number;
}

export type StepLine = StepCommon & (StepResult | { readonly fault: string });

/** In this order; nginx and the peer come first. */
const COLUMNS: readonly string[] = [DIRECT, BARE, "embedded", "PostgreSQL"];

type Row = Readonly<Record<string, string | number>>;

/** Of each step, the lines of the newest command that measured it. */
export function newestOf(lines: readonly StepLine[]): readonly StepLine[] {
  const newest = new Map<string, string>();
  for (const line of lines) if (!("fault" in line)) newest.set(line.step, line.startedAt);
  return lines.filter(({ step, startedAt }) => startedAt >= (newest.get(step) ?? ""));
}

/** Figures of which at least one has a goal. */
export function goalRows(lines: readonly StepLine[]): readonly Row[] {
  return rowsOf(lines, (readings) => readings.some(({ goal }) => goal !== null)).map(({ cells, readings }) => ({
    ...cells,
    goal: goalOf(readings),
    verdict: [...Map.groupBy(readings, ({ of }) => of)]
      .map(([of, own]) => verdictOf(of, own))
      .filter(Boolean)
      .join("; "),
  }));
}

export function otherRows(lines: readonly StepLine[]): readonly Row[] {
  return rowsOf(lines, (readings) => readings.every(({ goal }) => goal === null)).map(({ cells }) => cells);
}

export function stepRows(lines: readonly StepLine[]): readonly Row[] {
  return lines.map((line) => ({
    step: line.step,
    run: line.run + 1,
    began: line.at.slice(0, 19),
    commit: line.commit,
    load: line.loadAverage,
    "other programs, cores": line.otherCores,
    "worth of cores": line.worthOfCores,
    seconds: line.seconds,
    result: "fault" in line ? `FAILED: ${line.fault.replaceAll(/[\n|]+/gu, " ")}` : `${line.readings.length} figures`,
  }));
}

/** A row for each figure, and a column for each storage or baseline that any of them has. */
function rowsOf(lines: readonly StepLine[], isIncluded: (readings: readonly Reading[]) => boolean) {
  const all = lines.flatMap((line) => ("fault" in line ? [] : line.readings));
  const groups = [...Map.groupBy(all, ({ what, unit }) => `${what}, ${unit}`)].filter(([, each]) => isIncluded(each));
  const columns = [...new Set(groups.flatMap(([, readings]) => readings.map(({ of }) => of)))].toSorted(
    (left, right) => COLUMNS.indexOf(left) - COLUMNS.indexOf(right),
  );
  return groups.map(([what, readings]) => {
    const byColumn = columns.map((of) => readings.filter((each) => each.of === of));
    const counts = byColumn.flatMap((own) => (own.length === 0 ? [] : own.reduce((sum, { n }) => sum + n, 0)));
    const cells = {
      what,
      runs: Math.max(...byColumn.map(({ length }) => length)),
      ...Object.fromEntries(columns.map((of, index) => [of, cellOf(byColumn[index] ?? [])])),
      n: counts.join(", "),
    };
    return { cells, readings };
  });
}

/** Median and range. */
function cellOf(readings: readonly Reading[]): string {
  const values = readings.map(({ value }) => value);
  if (values.length === 0) return "";
  return `${shown(median(values))} (${shown(Math.min(...values))} to ${shown(Math.max(...values))})`;
}

function goalOf(readings: readonly Reading[]): string {
  const goals = readings.flatMap(({ goal }) => goal ?? []);
  return `${goals[0]?.kind ?? ""} ${shown(median(goals.map(({ value }) => value)))}`;
}

/** Of one storage: the median compared with the goal, and how many runs met it. Empty without a goal. */
function verdictOf(of: string, readings: readonly Reading[]): string {
  const goals = readings.flatMap(({ goal }) => goal ?? []);
  const kind = goals[0]?.kind;
  if (kind === undefined) return "";
  const goal = { kind, value: median(goals.map(({ value }) => value)) };
  const met = readings.filter((each) => each.goal !== null && shortfall(each.value, each.goal) <= 0).length;
  const short = shortfall(median(readings.map(({ value }) => value)), goal);
  const share = goal.value > 0 ? ` (${((100 * short) / goal.value).toFixed(0)} %)` : "";
  return `${of} ${short <= 0 ? "met" : `MISSED by ${shown(short)}${share}`}, ${met} of ${readings.length}`;
}

/** Above 0: the goal is missed by so much. */
function shortfall(value: number, { kind, value: goal }: Goal): number {
  return kind === "at most" ? value - goal : goal - value;
}

/** Three digits, so that 0.596 is not 0.6. */
function shown(value: number): string {
  return String(Number(Math.abs(value) < 100 ? value.toPrecision(3) : value.toFixed(0)));
}
