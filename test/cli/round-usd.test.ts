import assert from "node:assert/strict";
import { test } from "node:test";
import { roundUsd } from "../../src/cli/round-usd.ts";

test("cli.money: four decimals from one dollar on, four significant digits below, and never nothing for something", () => {
  for (const [exact, rounded] of [
    ["0", "0"],
    ["0.000000000", "0.000000000"],
    ["50.00", "50.00"],
    ["1", "1"],
    ["1234.567891234", "1234.5679"],
    ["12.300049", "12.3"],
    ["0.25", "0.25"],
    ["0.123456", "0.1235"],
    ["0.001234567", "0.001235"],
    ["0.000000001", "0.000000001"],
    ["0.99996", "1"],
    ["0.1", "0.1"],
    ["-0.001234567", "-0.001235"],
  ] as const)
    assert.equal(roundUsd(exact), rounded, exact);
});
