// The short form of every fuzz property [api.fuzzed]. `npm run fuzz` feeds them for as long as it is asked to.
import { test } from "node:test";
import * as fc from "fast-check";
import { FUZZES } from "./all.ts";

for (const [name, { about, shortRuns, open }] of Object.entries(FUZZES)) {
  test(`api.fuzzed: ${name}: ${about}`, async (t) => {
    const { property, close } = await open();
    t.after(close);
    // The same every time: what another seed would find must not fail an unrelated change.
    const found = await fc.check(property, { seed: 20_261_121, numRuns: shortRuns });
    if (found.failed) throw new Error(await fc.asyncDefaultReportMessage(found), { cause: found.errorInstance });
  });
}
