// JSON parsed in steps is what JSON.parse makes of it, and what is none is none (reliability R9).
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { atOnce } from "../../src/lib/steps.ts";
import { parsing } from "../../src/lib/parse-in-steps.ts";

type Outcome = { readonly value: unknown } | "refused";

function outcomeOf(parse: () => unknown): Outcome {
  try {
    return { value: parse() };
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return "refused";
  }
}

function sameAsAtOnce(text: string, stretch: number): void {
  const expected = outcomeOf(() => JSON.parse(text) as unknown);
  const made = outcomeOf(() => atOnce(parsing(text, stretch)));
  assert.deepEqual(made, expected, text);
  // The order of members too.
  assert.equal(JSON.stringify(made), JSON.stringify(expected), text);
}

const stretches = fc.integer({ min: 0, max: 24 });

test("R9: any JSON, however short the stretches, is what JSON.parse makes of it", () => {
  const written = fc
    .tuple(fc.jsonValue({ maxDepth: 4, noUnicodeString: false }), fc.constantFrom("", " ", "\t", "\n  "))
    .map(([value, indent]) => JSON.stringify(value, null, indent));
  fc.assert(fc.property(written, stretches, sameAsAtOnce), { numRuns: 300 });
});

const MARKS = ["[", "]", "{", "}", ",", ":", '"', "\\", " ", "\n", "\u00a0", "1", "a"];
const PIECES = [...MARKS, "null", '"k":', '"__proto__":[1,2],', "[],", "[1,2]", '{"a":[1,2],"b":0}'];

test("R9: what is almost JSON is refused or taken as JSON.parse does", () => {
  const piece = fc.constantFrom(...PIECES);
  const spoilt = fc
    .tuple(fc.jsonValue({ maxDepth: 4 }), fc.nat(), piece, fc.constantFrom(0, 1, 3))
    .map(([value, place, put, gone]) => {
      const text = JSON.stringify(value);
      const at = place % (text.length + 1);
      return text.slice(0, at) + put + text.slice(at + gone);
    });
  fc.assert(fc.property(spoilt, stretches, sameAsAtOnce), { numRuns: 2_000 });
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }).map((list) => list.join("")),
      stretches,
      sameAsAtOnce,
    ),
    {
      numRuns: 2_000,
    },
  );
});

test("R9: depth without end is parsed in one step", () => {
  const text = `${"[".repeat(1_000)}${"]".repeat(1_000)}`;
  assert.equal(JSON.stringify(atOnce(parsing(text, 4))), text);
});

test("R9: a long list far inside is parsed in steps", () => {
  const words = Array.from({ length: 10_000 }, (_, at) => ({ word: `"w${at}\\`, start: at }));
  const value = { results: { channels: [{ alternatives: [{ words, confidence: 1 }] }] }, words };
  const steps = parsing(JSON.stringify(value));
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count += 1;
  assert.deepEqual(step.value, value);
  assert.ok(count > 6, `${count}`);
});
