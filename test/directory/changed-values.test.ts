import assert from "node:assert/strict";
import { test } from "node:test";
import { changedValues } from "../../src/directory/changed-values.ts";

test("cli.apply-values: each leaf that differs is named as in the file; null is as good as absent", () => {
  const before = {
    timeoutSeconds: 60,
    models: { "Nova Two": { limits: { maxBytes: 1 } } },
    targets: [{ connection: "dg" }, { connection: "oa" }],
    same: [1, { a: null }],
    gone: "x",
    kind: { nested: 1 },
  };
  const after = {
    timeoutSeconds: 90,
    models: { "Nova Two": { limits: { maxBytes: 2 } }, other: {} },
    targets: [{ connection: "oa" }],
    same: [1, {}],
    gone: null,
    kind: "flat",
  };
  const found = changedValues(before, after).map((each) => [each.path, each.before, each.after]);
  assert.deepEqual(found, [
    ["gone", "x", null],
    ["kind", { nested: 1 }, "flat"],
    ["models.Nova Two.limits.max_bytes", 1, 2],
    ["models.other", undefined, {}],
    ["targets[0].connection", "dg", "oa"],
    ["targets[1]", { connection: "oa" }, undefined],
    ["timeout_seconds", 60, 90],
  ]);
  assert.deepEqual(changedValues(before, before), []);
});
