// `node test/scoring/write-fixture.ts` writes test/fixtures/word-errors/sclite.json: pairs with the counts of sclite, so that the comparison needs no sclite.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { wordPairs } from "./pairs.ts";
import { findSclite, runSclite } from "./sclite.ts";

export const FIXTURE_PAIRS = 390;
export const FIXTURE = join(import.meta.dirname, "../fixtures/word-errors/sclite.json");

if (import.meta.main) {
  const program = findSclite();
  if (program === null) throw new Error("sclite is not installed: apt-get install sctk");
  const pairs = wordPairs(FIXTURE_PAIRS);
  const counts = runSclite(program, pairs);
  const rows = pairs.map((pair, index) => JSON.stringify({ ...pair, counts: counts[index] }));
  writeFileSync(FIXTURE, `[\n${rows.join(",\n")}\n]\n`);
}
