// `npm test`: runs every test on PostgreSQL 18 from npm, then the core of them (test/core.ts) on the oldest supported server as distributed, if installed. `npm
// test -- pattern…` selects files by path; `--engine=postgres|postgres-oldest` selects one server. A few processes share the files and their loaded modules and
// databases. A canary on loopback observes the whole run: one connection to it fails the run [logs.network-canary].
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
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
/** For the two cores of CI: a third process uses the time in which two wait for a browser, a clock or the server. */
const AT_ONCE = { postgres: 3, "postgres-oldest": 3 };
const ENGINES = Object.keys(AT_ONCE);
const SHOWN = 12;
/** Of one test: only a hanging one reaches it, even on a busy machine. */
const TIMEOUT_MS = 600_000;
/** The slowest files start first: one that starts last would keep a single process busy at the end. */
const FIRST = [
  "test/guides/guides.test.ts",
  "test/http/transcription/kill-points.test.ts",
  "test/operations/backup.test.ts",
  "test/playground/page.test.ts",
  "test/console/routes.test.ts",
  "test/conformance/conformance.test.ts",
  "test/up/processes.test.ts",
  "test/storage/data-dir.test.ts",
  "test/storage/embedded.test.ts",
  "test/explain/fresh-process.test.ts",
  "test/jobs/states.test.ts",
  "test/http/transcription/split.test.ts",
  "test/jobs/crash.test.ts",
  "test/http/transcription/bad-input.test.ts",
  "test/operations/migrate-storage.test.ts",
  "test/secrecy/canaries.test.ts",
  "test/audio/decode/decode.test.ts",
];

const args = process.argv.slice(2);
const engines = args.filter((arg) => arg.startsWith("--engine=")).map((arg) => arg.slice("--engine=".length));
const patterns = args.filter((arg) => !arg.startsWith("--"));
const unknown = [
  ...args.filter((arg) => arg.startsWith("--") && !arg.startsWith("--engine=")),
  ...engines.filter((engine) => !ENGINES.includes(engine)),
];
if (unknown.length > 0) {
  console.error(`unknown option ${unknown.join(" ")}: there is --engine=${ENGINES.join("|")}`);
  process.exit(2);
}
process.chdir(join(import.meta.dirname, ".."));

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
if (wants("postgres")) await runOnServer("postgres", files, {});
if (wants("postgres-oldest")) {
  const core = files.filter((file) => isCore(file));
  const bin = oldestServerBin();
  if (core.length === 0) summaries.push("postgres-oldest: no test of these is in the core (test/core.ts)");
  else if (bin !== null) await runOnServer("postgres-oldest", core, { bin });
  else {
    summaries.push(`postgres-oldest: SKIPPED, ${OLDEST_MISSING}`);
    // A server selected explicitly was not tested.
    if (engines.includes("postgres-oldest")) failed = true;
  }
}
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

async function runOnServer(
  engine: keyof typeof AT_ONCE,
  selection: readonly string[],
  installed: Pick<PostgresOptions, "bin">,
): Promise<void> {
  if (interrupt.signal.aborted) return;
  if (!selection.some((file) => reaches(file, DATABASE))) return runOn(engine, selection, {});
  const server = await startPostgresServer({ commits: "lost", ...installed });
  try {
    await runOn(engine, selection, { DATABASE_URL: server.url });
  } finally {
    await server.stop();
  }
}

async function runOn(
  engine: keyof typeof AT_ONCE,
  selection: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  if (interrupt.signal.aborted) return;
  console.log(`\n== ${engine}: ${selection.length} files`);
  const started = performance.now();
  const ordered = selection.toSorted(longestFirst);
  const queue = mkdtempSync(join(tmpdir(), "patchbay-test-queue-"));
  writeFileSync(join(queue, "files.json"), JSON.stringify(ordered));
  const workers = Array.from({ length: Math.min(AT_ONCE[engine], ordered.length) }, () => "scripts/test-worker.ts");
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const events = run({
    files: workers,
    concurrency: AT_ONCE[engine],
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
  await pipeline(events.compose(new spec()), process.stdout, { end: false });
  const unfinished = showSlowest(ordered, queue);
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

/** For work on slow tests. Returns the files that did not end. */
function showSlowest(all: readonly string[], queue: string): readonly string[] {
  const finished = all.flatMap((file, index) => {
    const path = join(queue, `${index}.done`);
    if (!existsSync(path)) return [];
    return [{ file, ...(JSON.parse(readFileSync(path, "utf8")) as Took) }];
  });
  console.log(`\nslowest of ${finished.length} files, which took ${cpuOf(finished)}:`);
  for (const { file, ...took } of finished.toSorted((one, other) => other.seconds - one.seconds).slice(0, SHOWN))
    console.log(`${took.seconds.toFixed(1).padStart(7)} s (${cpuOf([took])})  ${file}`);
  const done = new Set(finished.map(({ file }) => file));
  return all.filter((file) => !done.has(file));
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
