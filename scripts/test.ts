// `npm test`: every test on the embedded engine, then those that touch the database again on a real PostgreSQL server.
// `npm test -- pattern…` takes the files whose path contains a pattern; `--engine=pglite|postgres` takes one engine.
// Beside them all runs a canary on loopback: one connection to it, and the run has failed (reliability 4).
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { CANARY_PORT, startCanary } from "../test/harness/canary.ts";
import { startPostgresServer } from "../test/harness/postgres-server.ts";

/** Only by their whole path. */
const LEFT_OUT = /^test\/(sdk-oracle|faults|fixtures)\//u;
const TIMEOUT_MS = 180_000;
/** Every file is a process that loads the same few hundred modules: their types are stripped, and they are compiled, once. */
const COMPILED = join(tmpdir(), `patchbay-test-${process.getuid?.() ?? 0}`, "compiled");

const args = process.argv.slice(2);
const engines = args.filter((arg) => arg.startsWith("--engine=")).map((arg) => arg.slice("--engine=".length));
const patterns = args.filter((arg) => !arg.startsWith("--"));
const unknown = args.filter((arg) => arg.startsWith("--") && !/^--engine=(pglite|postgres)$/u.test(arg));
if (unknown.length > 0) {
  console.error(`unknown option ${unknown.join(" ")}: there is --engine=pglite and --engine=postgres`);
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
let interrupted = false;
let running: ChildProcess | null = null;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    interrupted = true;
    running?.kill(signal);
  });
}

const canary = await startCanary();
await canary.prove();
if (wants("pglite")) await runOn("pglite", files, {});
if (wants("postgres")) {
  const touching = files.filter((file) => reaches(file, "test/harness/database.ts"));
  if (touching.length === 0) summaries.push("postgres: no test of these touches the database");
  else {
    const server = await startPostgresServer();
    try {
      await runOn("postgres", touching, { DATABASE_URL: server.url });
    } finally {
      await server.stop();
    }
  }
}
summaries.push(`canary: ${canary.connections.length} connections at ${canary.listening.length} addresses`);
for (const connection of canary.connections) summaries.push(`  somebody reached ${connection}`);
if (canary.connections.length > 0) failed = true;
console.log(`\n${summaries.join("\n")}`);
process.exitCode = failed || interrupted ? 1 : 0;

function wants(engine: string): boolean {
  return engines.length === 0 || engines.includes(engine);
}

async function runOn(
  engine: string,
  chosen: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  if (interrupted) return;
  console.log(`\n== ${engine}: ${chosen.length} files`);
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      "--test",
      // A test file lives too briefly to earn back what optimising the embedded engine costs: a fifth less CPU, half the memory.
      "--liftoff-only",
      "--test-concurrency=2",
      `--test-timeout=${TIMEOUT_MS}`,
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      "--test-reporter=./scripts/slowest-files.ts",
      "--test-reporter-destination=stdout",
      ...chosen,
    ],
    {
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: COMPILED,
        PATCHBAY_TEST_ENGINE: engine,
        [CANARY_PORT]: String(canary.port),
        ...variables,
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  running = child;
  let tail = "";
  child.stdout.on("data", (chunk: Buffer) => {
    process.stdout.write(chunk);
    tail = (tail + chunk.toString()).slice(-2_000_000);
  });
  const [code] = (await once(child, "close")) as [number | null];
  const counted = (name: string) => Number(new RegExp(`^ℹ ${name} (\\d+)`, "mu").exec(tail)?.[1] ?? Number.NaN);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  summaries.push(
    `${engine}: ${counted("pass")} passed, ${counted("fail")} failed, ${counted("skipped")} skipped, ${chosen.length} files, ${seconds} s`,
  );
  // No test at all is a failure too: it would look like success.
  if (code !== 0 || !(counted("pass") > 0)) failed = true;
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
