// `npm test`: every test on PostgreSQL 18 from npm, then the core of them (test/core.ts) again on the oldest supported server as distributed,
// where it is installed.
// `npm test -- pattern…` takes the files whose path contains a pattern; `--engine=postgres|postgres-oldest` takes one server.
// A few processes share the files, so that modules are loaded, and databases created, for each of them and not for each file.
// A canary on loopback runs with all of them: one connection to it fails the run [logs.network-canary].
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { CANARY_PORT, startCanary } from "../test/harness/canary.ts";
import { COMPILED, pruneCompiled } from "../test/harness/compile-cache.ts";
import { startFlags } from "../test/harness/node-flags.ts";
import { CORE } from "../test/core.ts";
import { OLDEST_MISSING, oldestServerBin } from "../test/harness/oldest-server.ts";
import { type PostgresOptions, startPostgresServer } from "../test/harness/postgres-server.ts";
import type { Took } from "./test-worker.ts";

/** Only by their whole path. */
const LEFT_OUT = /^test\/(sdk-oracle|faults|fixtures)\//u;
const DATABASE = "test/harness/database.ts";
/** Names the folder that scripts/test-worker.ts takes its files from. */
const QUEUE = "PATCHBAY_TEST_QUEUE";
/** On the two cores of CI: a third process uses what two leave while they wait for a browser, a clock or the server. */
const AT_ONCE = { postgres: 3, "postgres-oldest": 3 };
const ENGINES = Object.keys(AT_ONCE);
const SHOWN = 12;
/** Of one test: only one that hangs reaches it, however busy the machine is. */
const TIMEOUT_MS = 600_000;
/** What takes longest begins first: one that is left for the end keeps one process waiting for the other. */
const FIRST = [
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
// An interrupt ends the tests and, on the way out, the server.
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
    // Asked for by name, it has not been done.
    if (engines.includes("postgres-oldest")) failed = true;
  }
}
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
    .flat()
    .some((path) => file === path || (path.endsWith("/") && file.startsWith(path)));
}

async function runOnServer(
  engine: keyof typeof AT_ONCE,
  chosen: readonly string[],
  installed: Pick<PostgresOptions, "bin">,
): Promise<void> {
  if (interrupt.signal.aborted) return;
  if (!chosen.some((file) => reaches(file, DATABASE))) return runOn(engine, chosen, {});
  const server = await startPostgresServer({ commits: "lost", ...installed });
  try {
    await runOn(engine, chosen, { DATABASE_URL: server.url });
  } finally {
    await server.stop();
  }
}

async function runOn(
  engine: keyof typeof AT_ONCE,
  chosen: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  if (interrupt.signal.aborted) return;
  console.log(`\n== ${engine}: ${chosen.length} files`);
  const started = performance.now();
  const ordered = chosen.toSorted(longestFirst);
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
  // The last one is the whole run's, and names no file.
  events.on("test:summary", ({ success, counts: { tests, passed, skipped, todo }, file }) => {
    if (file !== undefined) return;
    Object.assign(counts, { passed, failed: tests - passed - skipped - todo, skipped });
    if (!success) failed = true;
  });
  await pipeline(events.compose(new spec()), process.stdout, { end: false });
  const unfinished = showSlowest(ordered, queue);
  // After an interrupt its processes may still write there.
  rmSync(queue, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  summaries.push(
    `${engine}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${chosen.length} files, ${seconds} s`,
    ...unfinished.map((file) => `  not finished: ${file}`),
  );
  // No test at all is a failure too: it would look like success.
  if (unfinished.length > 0 || !(counts.passed > 0)) failed = true;
}

/** For whoever makes the tests faster. Returns those that did not end. */
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
  const [own, childrens] = [sum(all.map((each) => each.cpuSeconds)), sum(all.map((each) => each.childrenCpuSeconds))];
  return `${own.toFixed(1)} s of CPU, ${childrens.toFixed(1)} s in their children`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** So that the processes end together: of those not known those with a database, and the big ones before the small ones. */
function longestFirst(one: string, other: string): number {
  return weight(other) - weight(one);
}

function weight(file: string): number {
  const place = FIRST.indexOf(file);
  if (place !== -1) return 1e9 - place;
  return statSync(file).size + (reaches(file, DATABASE) ? 1_000_000 : 0);
}

/** Whether a test file imports the harness's database, itself or through files beside it. */
function reaches(file: string, wanted: string, seen = new Set<string>()): boolean {
  if (file === wanted) return true;
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  const imports = [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/gu)];
  return imports.some(([, specifier = ""]) => {
    const target = normalize(join(dirname(file), specifier)).replaceAll("\\", "/");
    return target.startsWith("test/") && reaches(target, wanted, seen);
  });
}
