// `npm run check`: all checks of CI, each with its output and duration. `--static` skips the tests.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

type Step = readonly [name: string, command: readonly string[]];

/** In the order that fails fastest. */
const STATIC: readonly Step[] = [
  ["format", ["biome", "format", "."]],
  ["types", ["tsc", "--noEmit"]],
  ["types in the browser", ["tsc", "--noEmit", "-p", "src/page"]],
  ["types in web", ["tsc", "--noEmit", "-p", "web"]],
  ["lint", ["oxlint", "--type-aware", "--deny-warnings"]],
  ["imports", ["node", "scripts/check-imports.ts"]],
  ["import cycles", ["node", "scripts/check-cycles.ts"]],
  ["rules", ["node", "scripts/check-rules.ts"]],
  ["links in documents", ["node", "scripts/check-links.ts"]],
  ["sentences of documents", ["node", "scripts/check-prose.ts"]],
  ["generated docs", ["node", "scripts/write-docs.ts", "--check"]],
  ["schema dump", ["node", "scripts/dump-schema.ts", "--check"]],
];
/** Has one thread and takes as long as all the others: runs next to them. */
const SPELLING: Step = ["spelling", ["cspell", "lint", "--no-progress", "--no-summary"]];
const TESTS: Step = ["tests", ["npm", "test"]];

const started = performance.now();
const spelling = startQuietly(SPELLING);
for (const step of STATIC) await runVisibly(step);
const spelled = await spelling;
printStart(SPELLING);
process.stdout.write(spelled.output);
finish(SPELLING, spelled);
const isStatic = process.argv.includes("--static");
if (!isStatic) await runVisibly(TESTS);
const count = STATIC.length + (isStatic ? 1 : 2);
console.log(`\ncheck: all ${count} steps passed in ${((performance.now() - started) / 1000).toFixed(0)} s`);

interface Ended {
  readonly code: number | null;
  readonly seconds: number;
}

/** Its output is kept until it can be printed as a whole. */
async function startQuietly([, [command = "", ...args]]: Step): Promise<Ended & { readonly output: string }> {
  const stepStarted = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  process.once("exit", () => child.kill());
  const [code, ...outputs] = await Promise.all([exitCodeOf(child), text(child.stdout), text(child.stderr)]);
  return { code, seconds: (performance.now() - stepStarted) / 1000, output: outputs.join("") };
}

async function runVisibly(step: Step): Promise<void> {
  const [, [command = "", ...args]] = step;
  printStart(step);
  const stepStarted = performance.now();
  const code = await exitCodeOf(spawn(command, args, { stdio: "inherit" }));
  finish(step, { code, seconds: (performance.now() - stepStarted) / 1000 });
}

function printStart([name, command]: Step): void {
  console.log(`\n== ${name}: ${command.join(" ")}`);
}

function finish([name]: Step, { code, seconds }: Ended): void {
  if (code !== 0) {
    console.error(`\ncheck: ${name} failed after ${seconds.toFixed(1)} s`);
    process.exit(1);
  }
  console.log(`== ${name}: ok, ${seconds.toFixed(1)} s`);
}

async function exitCodeOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}
