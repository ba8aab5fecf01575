// `npm run faults -- [name …] [options]`: crash, race and fault trials, too long for `npm test`, with their results (docs/faults.md). With DATABASE_URL set,
// trials that do not require their own server use that one.
import { parseArgs } from "node:util";
import { commitOf } from "../../bench/measure/report.ts";
import { COMPILED } from "../harness/compile-cache.ts";
import type { Fault } from "./fault.ts";
import { say } from "./progress.ts";
import { boundOf, type FaultReport, printReport, printTable } from "./report.ts";
import { runInProcesses } from "./run-in-processes.ts";
import { FAULTS } from "./trials.ts";

const USAGE = `npm run faults -- [name …] [options]     every trial, unless named

--short        the form for every run of CI
--n N          trials, instead of those of the form
--seed S       1 unless said; a seed repeats what a run drew
--workers W    processes of the trials that have several; 3 unless said
--at-once A    trials in parallel, when there are several; 1 unless said
--minutes M    of soak
--out FILE     where soak keeps its samples; printed unless given
--pooler       failover through PgBouncer
--embedded     soak with embedded storage
--json         one JSON object a line
--list         the trials and their promises, and nothing is run

Exit code 1: a violation, or a trial that did not finish.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    n: { type: "string" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "3" },
    "at-once": { type: "string", default: "1" },
    short: { type: "boolean", default: false },
    minutes: { type: "string" },
    out: { type: "string" },
    pooler: { type: "boolean", default: false },
    embedded: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const names = positionals.length === 0 ? Object.keys(FAULTS) : positionals;
const seed = Number(values.seed);
const n = values.n === undefined ? null : Number(values.n);
const minutes = values.minutes === undefined ? null : Number(values.minutes);
const out = values.out ?? null;
const workers = Number(values.workers);
const atOnce = Number(values["at-once"]);
const isCount = (number: number) => Number.isSafeInteger(number) && number > 0;
const isUsable =
  names.every((name) => FAULTS[name] !== undefined) &&
  Number.isSafeInteger(seed) &&
  isCount(workers) &&
  isCount(atOnce) &&
  (n === null || isCount(n)) &&
  (minutes === null || minutes > 0);
if (!isUsable || values.help) {
  console.error(`${USAGE}\n`);
  list(console.error);
  process.exit(values.help ? 0 : 2);
}
if (values.list) {
  list(console.log);
  process.exit(0);
}
// An interrupt exits normally, which ends all child processes.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
// For the processes that trials start.
process.env["NODE_COMPILE_CACHE"] ??= COMPILED;
const commit = commitOf();
const [only, ...others] = names;
const fault = only === undefined ? undefined : FAULTS[only];
if (only !== undefined && fault !== undefined && others.length === 0) tell(await runHere(only, fault));
else await runSeveral();

function list(print: (text: string) => void): void {
  for (const [name, { about, promises, defaultN, shortN }] of Object.entries(FAULTS)) {
    if (values.json) print(JSON.stringify({ name, about, promises, n: defaultN, short_n: shortN }));
    else print(`${name.padEnd(20)} ${promises.join(" ").padEnd(14)} ${about} (N ${defaultN}, short ${shortN})`);
  }
}

async function runSeveral(): Promise<void> {
  const reports = new Map<string, FaultReport>();
  await runInProcesses({
    names,
    atOnce,
    options: handedOn(),
    onEnd: (name, report, seconds) => {
      const outcome = settled(name, report, seconds);
      reports.set(name, outcome);
      tell(outcome);
    },
  });
  if (!values.json) printTable(names.flatMap((name) => reports.get(name) ?? []));
}

async function runHere(name: string, fault: Fault): Promise<FaultReport> {
  const { promises, shortN, defaultN } = fault;
  const isShort = values.short;
  const { pooler, embedded } = values;
  const trialsOf = n ?? (isShort ? shortN : defaultN);
  const trials = await fault.run({ n: trialsOf, seed, workers, isShort, minutes, out, pooler, embedded, say });
  say("");
  return { name, promises, seed, commit, ...trials, bound: boundOf(trials) };
}

function settled(name: string, report: FaultReport | string, seconds: number): FaultReport {
  if (typeof report !== "string") return report;
  const violations = [`it did not finish: ${report}`];
  const promises = FAULTS[name]?.promises ?? [];
  return { name, promises, seed, commit, engine: null, n: 0, violations, seconds, bound: null };
}

function tell(report: FaultReport): void {
  printReport(report, values.json);
  if (report.violations.length > 0) process.exitCode = 1;
}

function handedOn(): readonly string[] {
  return [
    ...(n === null ? [] : ["--n", String(n)]),
    "--seed",
    String(seed),
    "--workers",
    String(workers),
    ...(values.short ? ["--short"] : []),
    ...(minutes === null ? [] : ["--minutes", String(minutes)]),
    ...(out === null ? [] : ["--out", out]),
    ...(values.pooler ? ["--pooler"] : []),
    ...(values.embedded ? ["--embedded"] : []),
  ];
}
