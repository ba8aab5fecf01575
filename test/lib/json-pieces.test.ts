// JSON cut into pieces for another thread and joined again is what JSON.parse makes of it, and no piece is large.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createJsonJoiner, cutJson, type JsonPiece } from "../../src/lib/json/json-pieces.ts";

function joined(pieces: readonly JsonPiece[]): unknown {
  const joiner = createJsonJoiner();
  // As they arrive from another thread.
  for (const piece of pieces) joiner.add(structuredClone(piece));
  return joiner.value();
}

test("api.json-exact: R17, any JSON that is cut and joined is the same, the order of its members too", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 12 }), (value, pieceValues) => {
      const text = JSON.stringify(value);
      const made = joined(cutJson(JSON.parse(text), pieceValues));
      assert.deepEqual(made, JSON.parse(text));
      assert.equal(JSON.stringify(made), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 500 },
  );
});

test("api.json-exact: R17, a member called __proto__ stays a member", () => {
  const text = `{"__proto__":{"a":[1,2,3,4,5,6]},"b":[{"__proto__":[1,2,3]},2,3,4,5,6]}`;
  const made = joined(cutJson(JSON.parse(text), 2));
  assert.equal(JSON.stringify(made), text);
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
});

test("api.event-loop: R17, no piece of a long list or a wide object has many more values than asked for", () => {
  const words = Array.from({ length: 50_000 }, (_, at) => ({ word: `w${at}`, start: at, end: at + 1 }));
  const wide = Object.fromEntries(words.map((word, at) => [`k${at}`, word]));
  for (const value of [{ results: [{ words }] }, { wide }]) {
    const pieces = cutJson(structuredClone(value));
    assert.ok(pieces.length > 50);
    for (const piece of pieces) assert.ok(JSON.stringify(piece).split(/[,:[{]/u).length < 20_000);
    assert.deepEqual(joined(pieces), value);
  }
});
