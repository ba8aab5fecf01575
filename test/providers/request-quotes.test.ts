// Quotations of a request in a message, at random: what is left holds no long part of a text, and a message that quotes nothing is unchanged.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { withoutQuotes } from "../../src/providers/wire/request-quotes.ts";

/** Letters and digits alone, as the eye reads them. */
const letters = (text: string): string =>
  Array.from(text.normalize("NFKD").toUpperCase().toLowerCase())
    .filter((each) => /[\p{L}\p{N}]/u.test(each))
    .join("");

const PIECES = [
  "a",
  "B",
  "z9",
  "É",
  "ß",
  "ﬁ",
  "日",
  "本",
  "ก",
  "👋",
  " ",
  "\n",
  "\t",
  "'",
  '"',
  ".",
  "-",
  "\u0301",
  "Ω",
  "k",
];
const text = fc.array(fc.constantFrom(...PIECES), { minLength: 0, maxLength: 120 }).map((pieces) => pieces.join(""));
const disguise = fc.constantFrom<(quoted: string) => string>(
  (quoted) => quoted,
  (quoted) => quoted.toUpperCase(),
  (quoted) => quoted.normalize("NFKD"),
  (quoted) => Array.from(quoted).join(" "),
  (quoted) => quoted.replaceAll(/\s/gu, "_"),
);

test("providers.failure-quotes: at random, nothing of 12 letters in a row that a text has is left", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), disguise, (prompt, from, length, as) => {
      const characters = Array.from(prompt);
      const start = characters.length === 0 ? 0 : from % characters.length;
      const quoted = characters.slice(start, start + (length % 60)).join("");
      const clean = withoutQuotes(`Refused: ${as(quoted)} (policy 4)`, [prompt, "other text"]) ?? "";
      const left = letters(clean.replaceAll("[request text]", "\u0000"));
      const written = Array.from(letters(prompt));
      for (let at = 0; at + 12 <= written.length; at += 1) {
        const part = written.slice(at, at + 12).join("");
        assert.ok(!left.includes(part), `${part} in ${clean}`);
      }
      assert.ok(clean.isWellFormed());
    }),
    { numRuns: 2_000 },
  );
});

test("providers.failure-quotes: at random, a message is unchanged if no text shares letters with it", () => {
  fc.assert(
    fc.property(text, (message) => {
      assert.equal(withoutQuotes(message, ["x".repeat(40)]), message);
    }),
    { numRuns: 1_000 },
  );
});

test("providers.failure-quotes, providers.bounded-work: long words, and short texts that occur often, are compared in linear time", () => {
  const long = "a".repeat(20_000);
  const often = "abc ".repeat(5_000);
  const startedAtMs = performance.now();
  assert.equal(withoutQuotes(long, [long]), "[request text]");
  assert.equal(withoutQuotes(often, ["abc"]), "[request text] ");
  // Quadratic work takes five seconds.
  assert.ok(performance.now() - startedAtMs < 2_000);
});
