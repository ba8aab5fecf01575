// JSON Schemas for a provider that wants every object closed ("'additionalProperties' must be explicitly set to false"). What is
// silent about it is closed, so that every answer that fits the tighter schema fits the given one; what is open on purpose stays so.
import { isRecord } from "../lib/json/json-guards.ts";
import type { JsonSchema } from "./chat-provider.ts";

/** Where schemas stand: by name, in a list, alone (or, in older drafts, in a list). */
const BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const IN_LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const ALONE: ReadonlySet<string> = new Set(["items", "contains", "not", "if", "then", "else"]);

/** A part that is tighter makes a whole that is wider, or that nothing fits. */
const ENTANGLED = ["allOf", "oneOf", "not", "if", "then", "else", "contains", "patternProperties", "dependentSchemas"];
/** What stands beside an object's own properties may demand others. */
const BESIDE = ["$ref", "anyOf"];

/** Null: it cannot be closed without refusing what it asks for. */
export function closedSchema(given: JsonSchema): JsonSchema | null {
  let isChanged = false;
  let isOpen = false;
  let isEntangled = false;

  function close(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(close);
    if (!isRecord(schema)) return schema;
    isEntangled ||= ENTANGLED.some((keyword) => keyword in schema);
    const members = Object.entries(schema).map(([keyword, value]) => {
      if (BY_NAME.has(keyword) && isRecord(value))
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, close(each)]))];
      return [keyword, IN_LISTS.has(keyword) || ALONE.has(keyword) ? close(value) : value];
    });
    const closed = Object.fromEntries(members) as JsonSchema;
    if (!isOfObjects(schema) || schema["additionalProperties"] === false) return closed;
    isChanged = true;
    isOpen ||= !isSilent(schema);
    return { ...closed, additionalProperties: false };
  }

  const closed = close(given) as JsonSchema;
  if (!isChanged) return given;
  return isOpen || isEntangled ? null : closed;
}

function isOfObjects({ type, properties }: JsonSchema): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || properties !== undefined;
}

/** It names its properties, demands none that it does not name, and says nothing of others. */
function isSilent(schema: JsonSchema): boolean {
  const { properties, required = [], additionalProperties } = schema;
  if (!isRecord(properties) || additionalProperties !== undefined) return false;
  const isNamed = Array.isArray(required) && required.every((name) => Object.hasOwn(properties, String(name)));
  return isNamed && !BESIDE.some((keyword) => keyword in schema);
}
