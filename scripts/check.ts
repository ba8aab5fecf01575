// `npm run check`: all checks of CI in the order that fails fastest, each with its duration. `--static` skips the tests.
import { spawnSync } from "node:child_process";

const STATIC: readonly (readonly [string, readonly string[]])[] = [
  ["format", ["biome", "format", "."]],
  ["types", ["tsc", "--noEmit"]],
  ["types in the browser", ["tsc", "--noEmit", "-p", "src/page"]],
  ["types in web", ["tsc", "--noEmit", "-p", "web"]],
  ["lint", ["oxlint", "--type-aware", "--deny-warnings"]],
  ["spelling", ["cspell", "lint", "--no-progress", "--no-summary"]],
  ["imports", ["node", "scripts/check-imports.ts"]],
  ["import cycles", ["node", "scripts/check-cycles.ts"]],
  ["rules", ["node", "scripts/check-rules.ts"]],
  ["links in documents", ["node", "scripts/check-links.ts"]],
  ["sentences of documents", ["node", "scripts/check-prose.ts"]],
  ["generated docs", ["node", "scripts/write-docs.ts", "--check"]],
  ["schema dump", ["node", "scripts/dump-schema.ts", "--check"]],
];
const TESTS: readonly (readonly [string, readonly string[]])[] = [["tests", ["npm", "test"]]];

const steps = process.argv.includes("--static") ? STATIC : [...STATIC, ...TESTS];
const started = performance.now();
for (const [name, [command, ...args]] of steps) {
  if (command === undefined) continue;
  const stepStarted = performance.now();
  console.log(`\n== ${name}: ${[command, ...args].join(" ")}`);
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  const seconds = ((performance.now() - stepStarted) / 1000).toFixed(1);
  if (status !== 0) {
    console.error(`\ncheck: ${name} failed after ${seconds} s`);
    process.exit(1);
  }
  console.log(`== ${name}: ok, ${seconds} s`);
}
console.log(`\ncheck: all ${steps.length} steps passed in ${((performance.now() - started) / 1000).toFixed(0)} s`);
