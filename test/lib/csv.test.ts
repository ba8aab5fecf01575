// Comma-separated values (RFC 4180) that no program runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText } from "../../src/lib/text/csv.ts";

test("usage.csv-quoting, usage.csv-formula: a cell is quoted where it must be, a formula is made text, and a number stays a number", () => {
  const cases: readonly (readonly [value: string | number | null | undefined, cell: string])[] = [
    ["plain", "plain"],
    ["a,b", '"a,b"'],
    ['say "a"', '"say ""a"""'],
    ["two\r\nlines", '"two\r\nlines"'],
    ["Zoë", "Zoë"],
    ["=1+1", "'=1+1"],
    ["+1 b", "'+1 b"],
    ["-cmd", "'-cmd"],
    ["@sum", "'@sum"],
    ["\t=1", "'\t=1"],
    ['=a("b")', '"\'=a(""b"")"'],
    ["-0.25", "-0.25"],
    ["0.000000001", "0.000000001"],
    [-3, "-3"],
    [0, "0"],
    [null, ""],
    [undefined, ""],
  ];
  for (const [value, cell] of cases) assert.equal(csvText([["x", value]]), `x,${cell}\r\n`);
  assert.equal(csvText([["a"], ["b"]]), "a\r\nb\r\n");
  assert.equal(csvText([]), "");
});
