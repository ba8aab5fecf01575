// The fewest edits between two sequences: nothing lost of either, as few as the textbook's table counts, and soon enough whatever is given.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type Alignment, editAlignment } from "../../src/lib/text/edit-distance.ts";

function editsOf({ places }: Alignment, left: readonly string[], right: readonly string[]): number {
  const isSame = (one: number | null, other: number | null) =>
    one !== null && other !== null && left[one] === right[other];
  return places.filter((place) => !isSame(place.left, place.right)).length;
}

/** The textbook's table. */
function distance(left: readonly string[], right: readonly string[]): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [above, item] of left.entries()) {
    const next = [above + 1];
    for (const [index, other] of right.entries())
      next.push(
        Math.min((row[index] ?? 0) + (item === other ? 0 : 1), (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Nothing twice, nothing missing, in order. */
function assertWhole({ places }: Alignment, left: readonly string[], right: readonly string[]): void {
  assert.deepEqual(
    places.flatMap((place) => place.left ?? []),
    [...left.keys()],
  );
  assert.deepEqual(
    places.flatMap((place) => place.right ?? []),
    [...right.keys()],
  );
}

const words = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 40 });

test("playground.differences: each side of an alignment is that side, in order, with the fewest possible edits, from either side", () => {
  fc.assert(
    fc.property(words, words, (left, right) => {
      const forth = editAlignment(left, right);
      assertWhole(forth, left, right);
      assert.ok(forth.isLeast);
      assert.equal(editsOf(forth, left, right), distance(left, right));
      const back = editAlignment(right, left);
      assert.deepEqual(
        back.places,
        forth.places.map((place) => ({ left: place.right, right: place.left })),
      );
    }),
  );
});

test("playground.differences: equal texts need no edit", () => {
  fc.assert(fc.property(words, (same) => assert.equal(editsOf(editAlignment(same, [...same]), same, same), 0)));
});

const LONG = 20_000;
/** As good as random, and always the same. */
const longWords = (kinds: number, seed: number): readonly string[] =>
  Array.from({ length: LONG }, (_, index) => `w${Math.imul(index + seed, 2_654_435_761) % kinds}`);

test("playground.differences: 20,000 words a side are aligned within seconds, and figures beyond the limit are marked as upper bounds", () => {
  const said = longWords(2_999, 1);
  const misheard = said.map((word, index) => (index % 10 === 3 ? `not ${word}` : word));
  const cases: readonly (readonly [
    name: string,
    left: readonly string[],
    right: readonly string[],
    least: number | null,
  ])[] = [
    ["a tenth differs", said, misheard, LONG / 10],
    ["the end is missing", said, said.slice(0, LONG - 2_000), 2_000],
    ["one word again and again", Array(LONG).fill("no"), Array(LONG - 1_000).fill("no"), 1_000],
    ["no word in common", said, said.map((word) => `not ${word}`), null],
    ["other words of the same kind", said, longWords(2_999, 77_777), null],
    ["two words in another order", longWords(2, 1), longWords(7, 5), null],
  ];
  for (const [name, left, right, least] of cases) {
    const began = process.threadCpuUsage();
    const alignment = editAlignment(left, right);
    const { user, system } = process.threadCpuUsage(began);
    const tookMs = (user + system) / 1_000;
    assertWhole(alignment, left, right);
    assert.equal(alignment.isLeast, least !== null, name);
    if (least !== null) assert.equal(editsOf(alignment, left, right), least, name);
    assert.ok(tookMs < 10_000, `${name}: ${tookMs} ms`);
  }
});

test("playground.differences: words that both sides share are aligned where edits are not counted to the end", () => {
  const left = [...longWords(2_999, 1).map((word) => `A ${word}`), "the", "end"];
  const right = ["the", "beginning", ...longWords(2_999, 1).map((word) => `B ${word}`), "the", "end"];
  const { places, isLeast } = editAlignment(left, right);
  assert.equal(isLeast, false);
  assert.deepEqual(places.at(-1), { left: left.length - 1, right: right.length - 1 });
});
