// `npm run conformance -- [--rounds N] [--seed S] [--only text] [--short]`: the long form; `npm test -- conformance` is the short one.
import { parseArgs } from "node:util";
import { runConformance } from "./run-conformance.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    seed: { type: "string" },
    only: { type: "string", default: "" },
    short: { type: "boolean", default: false },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
const started = performance.now();
const report = await runConformance({ seed, rounds: Number(values.rounds), only: values.only, isShort: values.short });
for (const violation of report.violations) console.log(`${violation}\n`);
for (const name of report.neverGood) console.log(`never a good answer: ${name}`);
console.log(
  `conformance: ${report.requests} requests over ${report.operations} operations, ${report.violations.length} violations; seed ${seed}, ${((performance.now() - started) / 1000).toFixed(1)} s`,
);
console.log(JSON.stringify(report.statuses));
process.exitCode = report.violations.length === 0 ? 0 : 1;
