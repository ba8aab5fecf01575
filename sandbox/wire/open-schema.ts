// Detects whether a JSON Schema allows, anywhere in it, objects with properties that it does not name.
const BY_NAME = new Set(["properties", "$defs", "definitions"]);
const VALUES = new Set(["const", "enum", "default", "examples"]);

export function hasOpenObject(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if (Array.isArray(schema)) return schema.some(hasOpenObject);
  const members = new Map<string, unknown>(Object.entries(schema));
  if (members.get("type") === "object" && members.get("additionalProperties") !== false) return true;
  return [...members].some(([name, value]) => {
    if (VALUES.has(name)) return false;
    return BY_NAME.has(name) ? Object.values(value as object).some(hasOpenObject) : hasOpenObject(value);
  });
}
