// Rewrites tool schemas for providers that refuse a combiner at the top level ("input_schema does not support oneOf, allOf, or anyOf at the top level"): merges
// it into one object, and appends the caller's schema to the description if the merged one is wider.
import { isRecord } from "../../lib/json/json-guards.ts";
import type { ChatTool, JsonSchema } from "./chat-provider.ts";

export const ANTHROPIC_COMBINERS = ["anyOf", "oneOf", "allOf"] as const;
/** "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level". */
export const OPENAI_COMBINERS = [...ANTHROPIC_COMBINERS, "not", "enum", "const"] as const;

export interface FittedTools {
  readonly tools: readonly ChatTool[];
  /** Indexes of tools with a widened schema. */
  readonly rewritten: readonly number[];
  /** A schema with strict validation cannot be expressed: this target lacks the feature for these tools. */
  readonly isLossy: boolean;
}

export function fitTools(tools: readonly ChatTool[], combiners: readonly string[]): FittedTools {
  if (!tools.some(({ parameters }) => hasCombiner(parameters, combiners)))
    return { tools, rewritten: [], isLossy: false };
  const rewritten: number[] = [];
  const fitted = tools.map((tool, position) => {
    const { parameters } = tool;
    if (parameters === null || !hasCombiner(parameters, combiners)) return tool;
    const { schema, isExact } = mergedSchema(parameters, combiners);
    if (isExact) return { ...tool, parameters: schema };
    rewritten.push(position);
    return { ...tool, parameters: schema, description: describedBy(tool.description, parameters) };
  });
  return { tools: fitted, rewritten, isLossy: rewritten.some((position) => tools[position]?.strict === true) };
}

export function hasCombiner(schema: JsonSchema | null, combiners: readonly string[] = OPENAI_COMBINERS): boolean {
  return schema !== null && combiners.some((keyword) => Object.hasOwn(schema, keyword));
}

/** A longer schema would displace the tool's own description. */
const MOST_DESCRIBED_CHARACTERS = 4_000;

function describedBy(description: string | null, schema: JsonSchema): string | null {
  const text = JSON.stringify(schema);
  if (text.length > MOST_DESCRIBED_CHARACTERS) return description;
  return `${description === null ? "" : `${description}\n\n`}The arguments must fit this JSON Schema: ${text}`;
}

interface Shape {
  readonly properties: Map<string, unknown>;
  readonly required: Set<string>;
}

/** A schema may be recursive. */
const MOST_NODES = 1_000;
/** Keywords of an alternative that the merged object keeps. */
const MERGED_KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "title",
  "description",
  "allOf",
]);

function mergedSchema(root: JsonSchema, combiners: readonly string[]): { schema: JsonSchema; isExact: boolean } {
  let nodes = 0;
  let isExact = !combiners.some((keyword) => keyword !== "allOf" && Object.hasOwn(root, keyword));

  function shapeOf(schema: unknown): Shape {
    const shape: Shape = { properties: new Map(), required: new Set() };
    nodes += 1;
    const node = resolve(schema, root);
    if (node === null || nodes > MOST_NODES) {
      isExact = false;
      return shape;
    }
    if (node !== root && Object.keys(node).some((keyword) => !MERGED_KEYWORDS.has(keyword))) isExact = false;
    const { properties, required } = node;
    if (isRecord(properties)) for (const entry of Object.entries(properties)) shape.properties.set(...entry);
    if (Array.isArray(required)) for (const name of required) shape.required.add(String(name));
    for (const part of listOf(node["allOf"]).map(shapeOf)) {
      addProperties(shape, part, "allOf");
      for (const name of part.required) shape.required.add(name);
    }
    for (const keyword of ["anyOf", "oneOf"]) {
      const parts = listOf(node[keyword]).map(shapeOf);
      for (const part of parts) addProperties(shape, part, "anyOf");
      // Required only if every alternative requires it.
      const [first, ...others] = parts;
      for (const name of first?.required ?? [])
        if (others.every((part) => part.required.has(name))) shape.required.add(name);
    }
    return shape;
  }

  function addProperties(shape: Shape, part: Shape, combiner: "allOf" | "anyOf"): void {
    for (const [name, schema] of part.properties) {
      const existing = shape.properties.get(name);
      const isNew = existing === undefined;
      if (!isNew && JSON.stringify(existing) !== JSON.stringify(schema)) isExact = false;
      shape.properties.set(name, isNew ? schema : combine(existing, schema, combiner));
    }
  }

  const { properties, required } = shapeOf(root);
  const rest = Object.entries(root).filter(([keyword]) => !combiners.includes(keyword));
  const schema = {
    ...Object.fromEntries(rest),
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.size === 0 ? {} : { required: [...required] }),
  };
  return { schema, isExact };
}

/** Constants that distinguish the alternatives become one enum. */
function combine(one: unknown, other: unknown, combiner: "allOf" | "anyOf"): unknown {
  const text = JSON.stringify(other);
  if (JSON.stringify(one) === text) return one;
  const [first, second] = [one, other].map(constantsOf);
  if (combiner === "anyOf" && first && second) {
    return {
      ...(isRecord(one) && "type" in one ? { type: one["type"] } : {}),
      enum: [...new Set([...first, ...second])],
    };
  }
  const alternatives = isRecord(one) && Object.keys(one).length === 1 ? listOf(one[combiner]) : [];
  const all = alternatives.length === 0 ? [one] : alternatives;
  return all.some((each) => JSON.stringify(each) === text) ? one : { [combiner]: [...all, other] };
}

function constantsOf(schema: unknown): readonly unknown[] | null {
  if (!isRecord(schema)) return null;
  if (Object.hasOwn(schema, "const")) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : null;
}

/** An alternative that is not an object matches no arguments, so it has no shape. */
function resolve(node: unknown, root: JsonSchema): JsonSchema | null {
  let schema = node;
  for (let hops = 0; isRecord(schema) && typeof schema["$ref"] === "string"; hops += 1) {
    const [, place = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/u.exec(schema["$ref"]) ?? [];
    const definitions = root[place];
    if (hops > 8 || !isRecord(definitions)) return null;
    schema = definitions[name];
  }
  return isRecord(schema) ? schema : null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
