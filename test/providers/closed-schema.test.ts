// Schemas for a provider that requires every object closed: what is closed, and what is refused instead, because a required feature
// is never dropped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { closedSchema } from "../../src/providers/chat/closed-schema.ts";

const TEXT = { type: "string" } as const;
const object = (more: object = {}) => ({ type: "object", properties: { a: TEXT }, ...more });
const closed = (more: object = {}) => object({ additionalProperties: false, ...more });

for (const [name, given, expected] of [
  ["silent", object(), closed()],
  ["silent, without its type", { properties: { a: TEXT } }, { properties: { a: TEXT }, additionalProperties: false }],
  [
    "silent, or null",
    { type: ["object", "null"], properties: {} },
    { type: ["object", "null"], properties: {}, additionalProperties: false },
  ],
  ["a property's", closed({ properties: { not: object() } }), closed({ properties: { not: closed() } })],
  ["a list's", { type: "array", items: object() }, { type: "array", items: closed() }],
  ["a tuple's", { prefixItems: [object(), TEXT] }, { prefixItems: [closed(), TEXT] }],
  ["one of several", { anyOf: [object(), { type: "null" }] }, { anyOf: [closed(), { type: "null" }] }],
  [
    "a definition's",
    { $ref: "#/$defs/x", $defs: { x: object({ required: ["a"] }) } },
    { $ref: "#/$defs/x", $defs: { x: closed({ required: ["a"] }) } },
  ],
  ["a constant", { const: object() }, { const: object() }],
  ["closed, whatever it is made of", { oneOf: [closed(), TEXT] }, { oneOf: [closed(), TEXT] }],
  ["open on purpose", object({ additionalProperties: true }), null],
  ["open to a schema", object({ additionalProperties: TEXT }), null],
  ["without properties", { type: "object" }, null],
  ["without properties, inside", closed({ properties: { a: { type: "object" } } }), null],
  ["demanding what it does not name", object({ required: ["b"] }), null],
  ["whose parts demand others", { allOf: [object(), { properties: { b: TEXT } }] }, null],
  ["with alternatives next to it", object({ anyOf: [{ required: ["b"] }] }), null],
  ["of which one alone may fit", { oneOf: [object(), { properties: { b: TEXT } }] }, null],
  ["that must not fit", { not: object() }, null],
] as const) {
  test(`providers.chat-adaptation: an object ${name} is ${expected === null ? "not to be closed" : "closed, or was"}`, () => {
    assert.deepEqual(closedSchema(given), expected);
  });
}
