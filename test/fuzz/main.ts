// `npm run fuzz -- [name…] [--seconds 30] [--seed S]`: feeds each property for so long, and stops at the first failure with what
// brings it back.
import { parseArgs } from "node:util";
import * as fc from "fast-check";
import { FUZZES } from "./all.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "30" }, seed: { type: "string" } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(FUZZES, name));
if (unknown.length > 0) {
  console.error(`there is no ${unknown.join(", ")}; there is ${Object.keys(FUZZES).join(", ")}`);
  process.exit(2);
}
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
for (const name of positionals.length === 0 ? Object.keys(FUZZES) : positionals) {
  const fuzz = FUZZES[name];
  if (fuzz === undefined) continue;
  const { property, close } = await fuzz.open();
  try {
    const found = await fc.check(property, {
      seed,
      numRuns: Number.MAX_SAFE_INTEGER,
      interruptAfterTimeLimit: Number(values.seconds) * 1_000,
      markInterruptAsFailure: false,
    });
    console.log(
      `fuzz ${name}: ${found.numRuns} runs, ${found.failed ? "FAILED" : "no failure"}; seed ${seed}, ${values.seconds} s`,
    );
    if (!found.failed) continue;
    console.log(await fc.asyncDefaultReportMessage(found), found.errorInstance);
    process.exitCode = 1;
  } finally {
    await close();
  }
}
