// Closes JSON Schemas for a provider that requires it ("'additionalProperties' must be explicitly set to false"). An object without `additionalProperties` is
// closed, so that every valid answer is valid for the caller's schema. One that is open on purpose stays open.
import { isRecord } from "../../lib/json/json-guards.ts";
import type { JsonSchema } from "./chat-provider.ts";

/** Where subschemas are: by name, in a list, single (or, in older drafts, in a list). */
const BY_NAME: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const IN_LISTS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const ALONE: ReadonlySet<string> = new Set(["items", "contains", "not", "if", "then", "else"]);

/** In these, a stricter part makes a wider whole, or one that nothing satisfies. */
const ENTANGLED = ["allOf", "oneOf", "not", "if", "then", "else", "contains", "patternProperties", "dependentSchemas"];
/** Keywords next to an object's own properties that may require others. */
const SIBLING_KEYWORDS = ["$ref", "anyOf"];

/** Null: it cannot be closed without refusing valid answers. */
export function closedSchema(root: JsonSchema): JsonSchema | null {
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
    const result = Object.fromEntries(members) as JsonSchema;
    if (!isOfObjects(schema) || schema["additionalProperties"] === false) return result;
    isChanged = true;
    isOpen ||= !isSilent(schema);
    return { ...result, additionalProperties: false };
  }

  const result = close(root) as JsonSchema;
  if (!isChanged) return root;
  return isOpen || isEntangled ? null : result;
}

function isOfObjects({ type, properties }: JsonSchema): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || properties !== undefined;
}

/** The object names its properties, requires only those, and does not mention others. */
function isSilent(schema: JsonSchema): boolean {
  const { properties, required = [], additionalProperties } = schema;
  if (!isRecord(properties) || additionalProperties !== undefined) return false;
  const isNamed = Array.isArray(required) && required.every((name) => Object.hasOwn(properties, String(name)));
  return isNamed && !SIBLING_KEYWORDS.some((keyword) => keyword in schema);
}
