// The difference of two versions of a route [console.routes]: exactly what changed, and nothing else.
// Of embedded storage alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Change, routeDiff } from "../../src/console/route-diff.ts";
import type { Definition, Purpose, Target } from "../../src/console/route-shape.ts";

const target = (name: string, more: Partial<Target> = {}): Target => {
  const [connection = "", model = ""] = name.split("/");
  return { connection, model, profiles: [], settings: {}, first_content_timeout_seconds: 300, ...more };
};
const purpose = (label: string, more: Partial<Purpose> = {}): Purpose => ({
  purpose: label,
  description: "",
  route: "speech",
  is_enabled: true,
  is_published: true,
  defaults: {},
  data_policy: null,
  ...more,
});
const route = (targets: readonly (string | Target)[], more: object = {}): Definition => ({
  id: "speech",
  targets: targets.map((each) => (typeof each === "string" ? target(each) : each)),
  purposes: [],
  may_pay_twice: false,
  accept_weak: [],
  ...more,
});
const A = "dg/nova-3";
const B = "oa/whisper-1";
const C = "local/whisper";
const D = "dg/nova-2";

const CASES: readonly (readonly [what: string, before: Definition, after: Definition, expected: readonly Change[]])[] =
  [
    ["the same", route([A, B]), { ...route([A, B]), id: "another" }, []],
    [
      "two that changed places are one move",
      route([A, B]),
      route([B, A]),
      [{ kind: "moved", name: "oa: whisper-1", from: 2, to: 1 }],
    ],
    [
      "the last one that became the first moved, and the others did not",
      route([A, B, C]),
      route([C, A, B]),
      [{ kind: "moved", name: "local: whisper", from: 3, to: 1 }],
    ],
    [
      "a target that is lower because another one was added before it did not move",
      route([A, B]),
      route([C, A, B]),
      [{ kind: "added", part: "target", name: "local: whisper", position: 1 }],
    ],
    [
      "a target that is higher because another one was removed did not move",
      route([A, B, C]),
      route([B, C]),
      [{ kind: "removed", part: "target", name: "dg: nova-3", position: 1 }],
    ],
    [
      "another model in the same place of the same connection",
      route([A, B]),
      route([D, B]),
      [{ kind: "changed", part: "target", name: "dg: nova-3", field: "model", from: "nova-3", to: "nova-2" }],
    ],
    [
      "another connection in its place",
      route([A]),
      route([C]),
      [
        { kind: "removed", part: "target", name: "dg: nova-3", position: 1 },
        { kind: "added", part: "target", name: "local: whisper", position: 1 },
      ],
    ],
    [
      "a model that is named twice is distinguished by its other fields",
      route([target(A, { profiles: ["fast"] }), target(A, { profiles: ["deep"] })]),
      route([target(A, { profiles: ["deep"] })]),
      [{ kind: "removed", part: "target", name: "dg: nova-3", position: 1 }],
    ],
    [
      "each setting by itself, also one that was not there",
      route([target(A, { settings: { smart_format: true, fast: { keep: 1 } } })]),
      route([target(A, { settings: { smart_format: false, fast: { keep: 1, tier: "x" } }, profiles: ["fast"] })]),
      [
        { kind: "changed", part: "target", name: "dg: nova-3", field: "profiles", from: [], to: ["fast"] },
        { kind: "changed", part: "target", name: "dg: nova-3", field: "settings.smart_format", from: true, to: false },
        { kind: "changed", part: "target", name: "dg: nova-3", field: "settings.fast.tier", from: undefined, to: "x" },
      ],
    ],
    [
      "a target that moved and changed has both differences",
      route([A, B, C]),
      route([B, C, target(A, { profiles: ["deep"] })]),
      [
        { kind: "moved", name: "dg: nova-3", from: 1, to: 3 },
        { kind: "changed", part: "target", name: "dg: nova-3", field: "profiles", from: [], to: ["deep"] },
      ],
    ],
    [
      "purposes by their label, in whatever order",
      route([A], { purposes: [purpose("one"), purpose("two"), purpose("three")] }),
      route([A], {
        purposes: [purpose("three"), purpose("two", { defaults: { diarization: true } }), purpose("four")],
      }),
      [
        { kind: "removed", part: "purpose", name: "one" },
        {
          kind: "changed",
          part: "purpose",
          name: "two",
          field: "defaults.diarization",
          from: undefined,
          to: true,
        },
        { kind: "added", part: "purpose", name: "four" },
      ],
    ],
    [
      "fields of the route itself, also unknown ones",
      route([A]),
      route([A], { may_pay_twice: true, accept_weak: ["diarization"], later: 1 }),
      [
        { kind: "changed", part: "route", field: "may_pay_twice", from: false, to: true },
        { kind: "changed", part: "route", field: "accept_weak", from: [], to: ["diarization"] },
        { kind: "changed", part: "route", field: "later", from: undefined, to: 1 },
      ],
    ],
  ];

for (const [what, before, after, expected] of CASES)
  test(`console.routes: ${what}`, () => assert.deepEqual(routeDiff(before, after), expected));

test("console.routes: a version compared with itself never differs, and both directions have the same targets added and removed", () => {
  for (const [, before, after] of CASES) {
    assert.deepEqual(routeDiff(before, before), []);
    const names = (changes: readonly Change[], kind: Change["kind"]) =>
      changes.flatMap((change) => (change.kind === kind && "name" in change ? [change.name] : []));
    const [there, back] = [routeDiff(before, after), routeDiff(after, before)];
    assert.deepEqual(names(there, "added").toSorted(), names(back, "removed").toSorted());
    assert.equal(names(there, "moved").length, names(back, "moved").length);
  }
});
