// What counts as the same data, by which rows that wait share a text: never two that JSON words differently.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isSameData } from "../../src/lib/json/is-same-data.ts";

/** Few and small, so that many pairs are the same. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 0, 1, "", "1"),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b"), tie("value"), { maxKeys: 2, noNullPrototype: true }),
  ),
}));

test("admin.no-change: any two values are the same exactly if they are equal part by part", () => {
  let same = 0;
  fc.assert(
    fc.property(value, value, (one, other) => {
      assert(isSameData(one, structuredClone(one)));
      const isSame = isSameData(one, other);
      assert.equal(isSame, isDeepEqual(one, other));
      if (isSame) same += 1;
    }),
    { numRuns: 5_000, seed: 1 },
  );
  assert(same > 100, `${same} pairs were the same`);
});

test("admin.no-change: a list is no object, a missing member not null, a text not its number; the order of members does not count", () => {
  const different: readonly (readonly [unknown, unknown])[] = [
    [[], {}],
    [{}, []],
    [["a"], { 0: "a" }],
    [{ a: null }, {}],
    [
      { a: undefined, b: 1 },
      { b: 1, c: 2 },
    ],
    [
      { b: 1, c: 2 },
      { a: undefined, b: 1 },
    ],
    [{ a: undefined }, { a: undefined }],
    [{ a: 1 }, { a: "1" }],
    [{ a: { b: [1, 2] } }, { a: { b: [2, 1] } }],
    [[1], [1, 2]],
    [new Date(1), new Date(2)],
    [new Map([[1, 2]]), new Map()],
    [null, {}],
    [null, 0],
  ];
  for (const [one, other] of different) assert(!isSameData(one, other), JSON.stringify([one, other]));
  assert(isSameData({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }));
});

function isDeepEqual(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
