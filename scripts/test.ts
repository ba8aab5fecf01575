// `npm test`: runs every test on PostgreSQL 18 from npm, and at the same time the core of them (test/core.ts) on the oldest supported server as distributed, if
// installed. `npm test -- pattern…` selects files by path; `--engine=postgres|postgres-oldest` selects one server. A few processes share the files and their
// loaded modules and databases. A canary on loopback observes the whole run: one connection to it fails the run [logs.network-canary].
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { PassThrough, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { CANARY_PORT, startCanary } from "../test/harness/canary.ts";
import { COMPILED, pruneCompiled } from "../test/harness/compile-cache.ts";
import { MODELS_DIR } from "../test/harness/models-dir.ts";
import { startFlags } from "../test/harness/node-flags.ts";
import { CORE } from "../test/core.ts";
import { OLDEST_MISSING, oldestServerBin } from "../test/harness/postgres/oldest-server.ts";
import { type PostgresOptions, startPostgresServer } from "../test/harness/postgres/postgres-server.ts";
import type { Took } from "./test-worker.ts";

/** Run only if named by their whole path. */
const LEFT_OUT = /^test\/(sdk-oracle|faults|fixtures)\//u;
const DATABASE = "test/harness/postgres/database.ts";
/** With real models where there are some. */
const HUMAN_SPEECH = "test/http/transcription/human-speech.test.ts";
/** Names the folder from which scripts/test-worker.ts takes its files. */
const QUEUE = "PATCHBAY_TEST_QUEUE";
const ENGINES = ["postgres", "postgres-oldest"] as const;
/** For the two cores of CI: each process waits half of its time for a browser, a clock or the server. */
const PROCESSES = 4;
/** For the core next to a run of all tests: it ends before them, and loads the modules once. */
const PROCESSES_ALONGSIDE = 1;
type Engine = (typeof ENGINES)[number];
const SHOWN = 12;
/** Of one test: only a hanging one reaches it, even on a busy machine. */
const TIMEOUT_MS = 600_000;
/** The slowest files by measured duration start first: one that starts last would keep a single process busy at the end. */
const FIRST = [
  "test/guides/guides.test.ts",
  "test/up/embedded.test.ts",
  "test/up/processes.test.ts",
  "test/operations/backup.test.ts",
  "test/storage/embedded/server.test.ts",
  "test/providers/local/process.test.ts",
  "test/operations/pooled-gateways.test.ts",
  "test/http/transcription/kill-points.test.ts",
  "test/playground/page.test.ts",
  "test/console/routes.test.ts",
  "test/conformance/conformance.test.ts",
  "test/jobs/crash.test.ts",
  "test/up/first-start-local.test.ts",
  "test/explain/fresh-process.test.ts",
  "test/audio/decoder-as-judge.test.ts",
  "test/operations/backup-versions.test.ts",
  "test/http/transcription/limits/limits.test.ts",
  "test/http/admin/tenancy.test.ts",
  "test/up/npm.test.ts",
  "test/audio/decode/decode.test.ts",
  "test/console/session.test.ts",
  "test/operations/doctor.test.ts",
  "test/cli/gateway-commands.test.ts",
  "test/http/transcription/local.test.ts",
  "test/http/transcription/bad-input.test.ts",
  "test/queue/queue.test.ts",
  "test/storage/pooler.test.ts",
];

const args = process.argv.slice(2);
const engines = args.filter((arg) => arg.startsWith("--engine=")).map((arg) => arg.slice("--engine=".length));
const patterns = args.filter((arg) => !arg.startsWith("--"));
const unknown = [
  ...args.filter((arg) => arg.startsWith("--") && !arg.startsWith("--engine=")),
  ...engines.filter((engine) => !ENGINES.some((known) => known === engine)),
];
if (unknown.length > 0) {
  console.error(`unknown option ${unknown.join(" ")}: there is --engine=${ENGINES.join("|")}`);
  process.exit(2);
}
process.chdir(join(import.meta.dirname, ".."));
const renamed = FIRST.filter((file) => !existsSync(file));
if (renamed.length > 0) {
  console.error(`there is no ${renamed.join(", ")}: FIRST in scripts/test.ts names it`);
  process.exit(2);
}

const files = globSync("test/**/*.test.ts", { exclude: ["**/node_modules/**"] })
  .map((path) => path.replaceAll("\\", "/"))
  .filter(
    (path) =>
      patterns.includes(path) ||
      (!LEFT_OUT.test(path) && (patterns.length === 0 || patterns.some((pattern) => path.includes(pattern)))),
  )
  .toSorted();
if (files.length === 0) {
  console.error(`no test file matches ${patterns.join(" ")}`);
  process.exit(2);
}

const summaries: string[] = [];
let failed = false;
// An interrupt ends the tests and then the server.
const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupt.abort());

pruneCompiled();
const canary = await startCanary();
await canary.prove();
const isAlongside = wants("postgres") && wants("postgres-oldest");
await Promise.all([
  wants("postgres") && runOnServer("postgres", files, { processes: PROCESSES, output: process.stdout }),
  wants("postgres-oldest") && runCore(),
]);
if (files.includes(HUMAN_SPEECH) && (process.env[MODELS_DIR] ?? "") === "")
  summaries.push(`real speech models: SKIPPED, ${MODELS_DIR} names no directory of models (patchbay models pull)`);
summaries.push(`canary: ${canary.connections.length} connections at ${canary.listening.length} addresses`);
for (const connection of canary.connections) summaries.push(`  somebody reached ${connection}`);
if (canary.connections.length > 0) failed = true;
console.log(`\n${summaries.join("\n")}`);
process.exitCode = failed || interrupt.signal.aborted ? 1 : 0;

function wants(engine: string): boolean {
  return engines.length === 0 || engines.includes(engine);
}

function isCore(file: string): boolean {
  return Object.values(CORE)
    .flatMap(({ files }) => files)
    .some((path) => file === path || (path.endsWith("/") && file.startsWith(path)));
}

async function runCore(): Promise<void> {
  const core = files.filter((file) => isCore(file));
  const bin = oldestServerBin();
  if (core.length === 0) summaries.push("postgres-oldest: no test of these is in the core (test/core.ts)");
  else if (bin === null) {
    summaries.push(`postgres-oldest: SKIPPED, ${OLDEST_MISSING}`);
    // A server selected explicitly was not tested.
    if (engines.includes("postgres-oldest")) failed = true;
  } else if (isAlongside) {
    // Printed as a whole, because lines of two runs between each other cannot be read.
    const output = new PassThrough();
    const printed = text(output);
    await runOnServer("postgres-oldest", core, { processes: PROCESSES_ALONGSIDE, output, bin });
    output.end();
    console.log(await printed);
  } else await runOnServer("postgres-oldest", core, { processes: PROCESSES, output: process.stdout, bin });
}

interface RunOptions extends Pick<PostgresOptions, "bin"> {
  readonly processes: number;
  readonly output: Writable;
}

async function runOnServer(
  engine: Engine,
  selection: readonly string[],
  { bin, ...options }: RunOptions,
): Promise<void> {
  if (interrupt.signal.aborted) return;
  if (!selection.some((file) => reaches(file, DATABASE))) return runOn(engine, selection, {}, options);
  const server = await startPostgresServer({ commits: "lost", bin });
  try {
    await runOn(engine, selection, { DATABASE_URL: server.url }, options);
  } finally {
    await server.stop();
  }
}

async function runOn(
  engine: Engine,
  selection: readonly string[],
  variables: Readonly<Record<string, string>>,
  { processes, output }: RunOptions,
): Promise<void> {
  if (interrupt.signal.aborted) return;
  output.write(`\n== ${engine}: ${selection.length} files\n`);
  const started = performance.now();
  const ordered = selection.toSorted(longestFirst);
  const queue = mkdtempSync(join(tmpdir(), "patchbay-test-queue-"));
  writeFileSync(join(queue, "files.json"), JSON.stringify(ordered));
  const workers = Array.from({ length: Math.min(processes, ordered.length) }, () => "scripts/test-worker.ts");
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const events = run({
    files: workers,
    concurrency: processes,
    signal: interrupt.signal,
    execArgv: [...startFlags(), `--test-timeout=${TIMEOUT_MS}`],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: COMPILED,
      [QUEUE]: queue,
      [CANARY_PORT]: String(canary.port),
      ...variables,
    },
  });
  // The last event is the summary of the whole run, and names no file.
  events.on("test:summary", ({ success, counts: { tests, passed, skipped, todo }, file }) => {
    if (file !== undefined) return;
    Object.assign(counts, { passed, failed: tests - passed - skipped - todo, skipped });
    if (!success) failed = true;
  });
  await pipeline(events.compose(new spec()), output, { end: false });
  const { unfinished, slowest } = durations(ordered, queue);
  output.write(`\n${slowest.join("\n")}\n`);
  // After an interrupt its processes may still write to it.
  rmSync(queue, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  summaries.push(
    `${engine}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${selection.length} files, ${seconds} s`,
    ...unfinished.map((file) => `  not finished: ${file}`),
  );
  // A run without any test is a failure too: it would look like a success.
  if (unfinished.length > 0 || !(counts.passed > 0)) failed = true;
}

/** The slowest files, for work on them, and those that did not end. */
function durations(all: readonly string[], queue: string) {
  const finished = all.flatMap((file, index) => {
    const path = join(queue, `${index}.done`);
    if (!existsSync(path)) return [];
    return [{ file, ...(JSON.parse(readFileSync(path, "utf8")) as Took) }];
  });
  const slowest = finished
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, SHOWN)
    .map(({ file, ...took }) => `${took.seconds.toFixed(1).padStart(7)} s (${cpuOf([took])})  ${file}`);
  const done = new Set(finished.map(({ file }) => file));
  return {
    unfinished: all.filter((file) => !done.has(file)),
    slowest: [`slowest of ${finished.length} files, which took ${cpuOf(finished)}:`, ...slowest],
  };
}

function cpuOf(all: readonly Took[]): string {
  const [own, children] = [sum(all.map((each) => each.cpuSeconds)), sum(all.map((each) => each.childrenCpuSeconds))];
  return `${own.toFixed(1)} s of CPU, ${children.toFixed(1)} s in their children`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** So that the processes end together: of files without a known duration, first those with a database, then by size. */
function longestFirst(one: string, other: string): number {
  return weight(other) - weight(one);
}

function weight(file: string): number {
  const place = FIRST.indexOf(file);
  if (place !== -1) return 1e9 - place;
  return statSync(file).size + (reaches(file, DATABASE) ? 1_000_000 : 0);
}

/** Whether a test file imports the harness's database, directly or through neighbouring files. */
function reaches(file: string, importedFile: string, seen = new Set<string>()): boolean {
  if (file === importedFile) return true;
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  const imports = [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/gu)];
  return imports.some(([, specifier = ""]) => {
    const target = normalize(join(dirname(file), specifier)).replaceAll("\\", "/");
    return target.startsWith("test/") && reaches(target, importedFile, seen);
  });
}
