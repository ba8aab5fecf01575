// Words to a line as their script writes them, in a time that grows with the line.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { gapBetween, UNSPACED } from "../../src/lib/text/join-words.ts";

test("captions.no-added-spaces: between words of scripts without spaces there is none, punctuation aside; everywhere else there is one", () => {
  for (const [left, right, gap] of [
    ["漢字", "漢字", ""],
    ["漢字。", "漢字", ""],
    ["漢字!?", "「漢字」", ""],
    ["\u{20000}", "\u{2a6d6}…", ""],
    ["コーヒー", "を", ""],
    ["ﾀﾜｰ", "です", ""],
    ["ジョン", "・", ""],
    ["hello", "world", " "],
    ["hello。", "world", " "],
    ["漢字", "world", " "],
    ["漢字 !", "漢字", " "],
    ["", "漢字", ""],
    ["...", "漢字", " "],
  ] as const) {
    assert.equal(gapBetween(left, right), gap, `${left} ${right}`);
  }
});

test("captions.no-added-spaces: whether a line ends in such a script is what a regular expression of one says", () => {
  const pattern = new RegExp(`[${UNSPACED}][^\\p{L}\\p{N}\\s]*$`, "u");
  const text = fc.string({
    unit: fc.constantFrom("漢", "。", "a", "1", " ", "!", "\u{20000}", "\u{1f600}", "\ud840"),
    maxLength: 12,
  });
  fc.assert(
    fc.property(text, (left) => {
      assert.equal(gapBetween(`x ${left}`, "漢"), pattern.test(`x ${left}`) ? "" : " ");
    }),
    { numRuns: 2_000 },
  );
});

test("api.event-loop: a million full stops, which a provider may send, take one look", () => {
  assert.equal(gapBetween(`${"。".repeat(1_000_000)}a`, "漢"), " ");
  assert.equal(gapBetween(`a${"。".repeat(1_000_000)}`, "漢"), "");
});
