// JSON written in steps is the JSON of one step, to the byte, and yields to the event loop where lists are long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countTurns } from "../harness/until.ts";
import { jsonBytes } from "../../src/lib/json/write-json.ts";

const list = (length: number) =>
  Array.from({ length }, (_, at) => ({ at, text: `"${at}\u2028é`, gone: undefined, none: null, odd: Number.NaN }));

const VALUES: readonly (readonly [string, unknown])[] = [
  ["nothing", {}],
  ["a text", "a"],
  ["a short answer", { content: "a", segments: [], words: list(3), usage: { seconds: 1.5 } }],
  ...[1_000, 1_001, 2_000, 2_001, 3_500].map(
    (length) => [`a list of ${length}`, { a: 1, words: list(length) }] as const,
  ),
  ["a list alone", list(1_500)],
  ["a list far inside, next to missing members", { gone: undefined, a: { b: { c: list(1_200) } }, z: [] }],
  ["two lists, the first member not there", { first: undefined, one: list(1_001), other: list(2_500) }],
  ["a list of lists", { lists: [list(1_200)] }],
  ["holes and dates", { words: [...list(1_000), undefined, new Date(0)] }],
];
for (const [what, value] of VALUES) {
  test(`api.event-loop: R9, ${what}, the same bytes`, async () => {
    assert.equal((await jsonBytes(value)).toString("utf8"), JSON.stringify(value));
  });
}

test("api.event-loop: R9, a long list is written in steps", async () => {
  const counted = countTurns();
  await jsonBytes({ words: list(200_000) });
  assert.ok(counted() > 2);
});
