// `npm run bench -- goals`: measures every goal of speed and memory, the whole list and then again, and keeps each step as a line of JSON, so that an interrupted
// run loses one step at most.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { commitOf, type Report, round } from "../measure/report.ts";
import { readCircumstances, runStep } from "./run-step.ts";
import { STEPS } from "./steps.ts";
import { goalRows, newestOf, otherRows, type StepLine, stepRows } from "./summary.ts";

export interface GoalsBench {
  readonly runs: number;
  /** Null: all. */
  readonly only: readonly string[] | null;
  /** Receives a line for each step; lines that it has are part of the tables. */
  readonly file: string;
}

export const STEP_NAMES = Object.keys(STEPS);

/** `runs` 0: only the tables of what the file has. */
export async function benchGoals({ runs, only, file }: GoalsBench): Promise<readonly Report[]> {
  const startedAt = new Date().toISOString();
  const names = STEP_NAMES.filter((name) => only === null || only.includes(name));
  for (let run = 0; run < runs; run += 1)
    for (const step of names) {
      const line = await measureStep({ step, run, startedAt });
      appendFileSync(file, `${JSON.stringify(line)}\n`);
      console.error(`run ${run + 1} of ${runs}, ${step}: ${"fault" in line ? line.fault : `${line.seconds} s`}`);
    }
  const lines = newestOf(linesOf(file));
  const notes = [
    `${new Date().toISOString().slice(0, 16)} UTC, commit ${commitOf()}, ${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"}), ${round(totalmem() / 2 ** 30, 0)} GiB, Linux ${release()}, Node.js ${process.version}`,
    "median and range of the runs; n: requests, jobs, texts, processes or samples of all runs together, in the order of the columns",
    "a goal that depends on the bare forwarder is that of the same run, and the table has the median of such goals; a verdict has the median of the runs, and how many of them met their goal",
  ];
  const reports: readonly Report[] = [
    { name: "goals", rows: goalRows(lines), notes, data: { startedAt, runs, file } },
    { name: "figures without a goal", rows: otherRows(lines), notes: [], data: {} },
    {
      name: "steps of the goals",
      rows: stepRows(lines),
      notes: [
        "load average of a minute, which the step before belongs to; cores that other programs used in the second before the step; and what the cores were worth then",
        "a noisy step is measured again with --only, into the same --out: its new lines replace the old ones",
      ],
      data: {},
    },
  ];
  return reports.filter(({ rows }) => rows.length > 0);
}

async function measureStep(order: {
  readonly step: string;
  readonly run: number;
  readonly startedAt: string;
}): Promise<StepLine> {
  const { step, run } = order;
  const circumstances = { commit: commitOf(), at: new Date().toISOString(), ...(await readCircumstances()) };
  const { loadAverage, otherCores, worthOfCores } = circumstances;
  console.error(
    `${step}: load ${loadAverage}, other programs use ${otherCores} cores, cores are worth ${worthOfCores}`,
  );
  const startedMs = performance.now();
  const common = { ...order, ...circumstances };
  try {
    const result = await runStep({ step, run }, STEPS[step]?.limitSeconds ?? 0);
    return { ...common, seconds: secondsSince(startedMs), ...result };
  } catch (error) {
    return {
      ...common,
      seconds: secondsSince(startedMs),
      fault: error instanceof Error ? error.message : String(error),
    };
  }
}

function secondsSince(startedMs: number): number {
  return round((performance.now() - startedMs) / 1000, 1);
}

function linesOf(file: string): readonly StepLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as StepLine);
}
