// Generates a value that matches a JSON Schema from its own constants and bounds, for simulated tool calls and JSON answers.
type Schema = Readonly<Record<string, unknown>>;

const DEEPEST = 12;

export function sampleOf(schema: unknown): unknown {
  const root = asSchema(schema);
  // A function without parameters is called without arguments.
  return Object.keys(root).length === 0 ? {} : sample(root, root, 0);
}

function sample(unresolved: Schema, root: Schema, depth: number): unknown {
  if (depth > DEEPEST) return null;
  const schema = resolve(unresolved, root);
  if ("const" in schema) return schema["const"];
  const [first] = asList(schema["enum"]);
  if (first !== undefined) return first;
  if ("default" in schema) return schema["default"];
  const [either] = [...asList(schema["anyOf"]), ...asList(schema["oneOf"])];
  if (either !== undefined) return sample(asSchema(either), root, depth + 1);
  const type = typeOf(schema);
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(asSchema(schema["properties"])).map(([name, member]) => [
          name,
          sample(asSchema(member), root, depth + 1),
        ]),
      );
    case "array":
      return Array.from({ length: number(schema["minItems"]) ?? 1 }, () =>
        sample(asSchema(schema["items"]), root, depth + 1),
      );
    case "integer":
    case "number":
      return numberIn(schema, type);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return stringIn(schema);
  }
}

/** Resolves references inside the document, and merges the parts of an `allOf`. */
function resolve(schema: Schema, root: Schema): Schema {
  const reference = schema["$ref"];
  const target =
    typeof reference === "string" && reference.startsWith("#/")
      ? reference
          .slice(2)
          .split("/")
          .reduce<Schema>((inner, name) => asSchema(inner[name]), root)
      : {};
  return Object.assign(
    {},
    target,
    ...asList(schema["allOf"]).map((part) => resolve(asSchema(part), root)),
    schema,
  ) as Schema;
}

function typeOf(schema: Schema): unknown {
  const [type] = asList(schema["type"]);
  if (type !== undefined) return type;
  return schema["type"] ?? ("properties" in schema ? "object" : "items" in schema ? "array" : "string");
}

function numberIn(schema: Schema, type: "integer" | "number"): number {
  const step = number(schema["multipleOf"]) ?? (type === "integer" ? 1 : 0.5);
  const above = number(schema["exclusiveMinimum"]);
  const least = number(schema["minimum"]) ?? (above === undefined ? undefined : above + step);
  const below = number(schema["exclusiveMaximum"]);
  const most = number(schema["maximum"]) ?? (below === undefined ? undefined : below - step);
  const start = least ?? Math.min(0, most ?? 0);
  return Math.ceil(start / step) * step;
}

const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-01-01",
  "date-time": "2026-01-01T00:00:00Z",
  time: "00:00:00Z",
  email: "simulated@example.invalid",
  uri: "https://example.invalid/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function stringIn(schema: Schema): string {
  const formatted = FORMATS[String(schema["format"])];
  if (formatted !== undefined) return formatted;
  return "simulated".padEnd(number(schema["minLength"]) ?? 0, ".").slice(0, number(schema["maxLength"]) ?? undefined);
}

const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);
const asSchema = (value: unknown): Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
