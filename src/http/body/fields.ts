// Converts form fields to typed values and validates values by the endpoint's schema. The schema is the only list of fields: how a form field's text
// is parsed follows from its type there [request-body.form-values].
import type { z } from "zod";
import { describeIssue, MISSING, valueAt, type WordedIssue } from "../../lib/text/describe-issue.ts";
import { suggest } from "../../lib/text/suggest.ts";
import type { Faults } from "./validation-issues.ts";
import { ourNameOf } from "./field-aliases.ts";
import { parseStrictJson } from "./strict-json.ts";

export type FieldSchema = z.ZodObject;

type TextKind =
  | "text"
  | "boolean"
  | "number"
  | "list"
  | "boolean or list"
  | "object"
  | "text or object"
  | "text or number";

export const VALUE_LIMITS = { maxDepth: 64, maxKeys: 1_000, maxElements: 10_000 };

/** One form field as sent. The brackets of `keyterms[]` are removed from the name. */
export interface TextField {
  readonly name: string;
  readonly isBracketed: boolean;
  readonly values: string[];
}

type KnownType =
  | z.ZodOptional
  | z.ZodNullable
  | z.ZodDefault
  | z.ZodBoolean
  | z.ZodNumber
  | z.ZodArray
  | z.ZodRecord
  | z.ZodObject
  | z.ZodUnion
  | z.ZodString;

export function textKind(type: z.core.$ZodType): TextKind {
  // All other types use the default branch: they are text.
  const { def } = type as KnownType;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
      return textKind(def.innerType);
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "array":
      return "list";
    case "record":
    case "object":
      return "object";
    case "union": {
      const kinds = new Set(def.options.map(textKind));
      if (kinds.has("list")) return "boolean or list";
      if (kinds.has("number")) return "text or number";
      return kinds.has("object") ? "text or object" : "text";
    }
    case "string":
    default:
      return "text";
  }
}

/** Returns the value that a JSON body would have in this field's place. Undefined: the text was refused. */
export function valueOfText(field: TextField, kind: TextKind, faults: Faults): unknown {
  const [first = "", ...otherValues] = field.values;
  if (kind === "list") return listOf(field, faults);
  if (kind === "boolean or list") {
    const value = otherValues.length === 0 && !field.isBracketed ? booleanOf(first) : null;
    return value ?? listOf(field, faults);
  }
  if (field.isBracketed) return refuse(`\`${field.name}\` is not a list.`);
  if (otherValues.length > 0) return refuse(`\`${field.name}\` was sent ${field.values.length} times.`);
  switch (kind) {
    case "boolean":
      return booleanOf(first) ?? refuse(`\`${field.name}\` must be true, false, 1 or 0.`);
    case "number":
      return numberOf(first) ?? refuse(`\`${field.name}\` must be a number.`);
    case "text or number":
      return numberOf(first) ?? first;
    case "text or object":
      return first.trimStart().startsWith("{") ? objectOf() : first;
    case "object":
      return objectOf();
    case "text":
      return first;
  }

  function objectOf(): unknown {
    const parsed = parseStrictJson(Buffer.from(first), VALUE_LIMITS);
    return parsed.ok ? parsed.value : refuse(`\`${field.name}\` must be a JSON object.`);
  }

  function refuse(message: string): undefined {
    faults.add(field.name, message);
    return undefined;
  }
}

function numberOf(text: string): number | null {
  return /^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,20})?$/.test(text) ? Number(text) : null;
}

function booleanOf(text: string): boolean | null {
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : null;
}

function listOf(field: TextField, faults: Faults): unknown {
  const [first = ""] = field.values;
  if (field.isBracketed || !field.values.some((value) => value.trimStart().startsWith("["))) return field.values;
  const parsed = field.values.length === 1 ? parseStrictJson(Buffer.from(first), VALUE_LIMITS) : null;
  if (parsed?.ok && Array.isArray(parsed.value)) return parsed.value;
  faults.add(
    field.name,
    `\`${field.name}\` begins with [ but is not one JSON array; send terms that begin with [ as \`${field.name}[]\`.`,
  );
  return undefined;
}

/** Clients send an empty text to mean none. */
const UNSENT_WHEN_EMPTY: ReadonlySet<string> = new Set(["prompt"]);

/** Validates all fields except the audio. Null counts as not sent. Returns undefined if anything was refused. */
export function validateFields<S extends FieldSchema>(
  schema: S,
  values: Iterable<readonly [string, unknown]>,
  faults: Faults,
  prefix = "",
): z.infer<S> | undefined {
  const knownValues: Record<string, unknown> = {};
  for (const [name, value] of values) {
    if (value === null || value === undefined) continue;
    if (faults.noteRouteControl(prefix + name)) continue;
    if (Object.hasOwn(schema.shape, name)) {
      if (value !== "" || !UNSENT_WHEN_EMPTY.has(name)) knownValues[name] = value;
    } else faults.add(prefix + name, notAField(schema, name, prefix));
  }
  const { data, issues } = parseFields(schema, knownValues);
  for (const { path, message } of issues) {
    const param = prefix + paramOf(path);
    faults.add(param, message === MISSING ? `\`${param}\` ${MISSING}.` : `\`${param}\`: ${message}`);
  }
  return data;
}

/** Validates a whole request and throws all errors at once. */
export function judgedFields<S extends FieldSchema>(
  schema: S,
  values: object,
  faults: Faults,
  prefix = "",
): z.infer<S> {
  const fields = validateFields(schema, Object.entries(values), faults, prefix);
  faults.throwIfAny();
  if (fields === undefined) throw new Error("fields without a fault have no value");
  return fields;
}

/** Removes null members down to this depth. Deeper ones are reported as errors. */
const MOST_ROUNDS = 8;

/** Null counts as not sent in nested objects too. Where the schema accepts any value, as in a tool's parameters, null is kept. */
function parseFields<S extends FieldSchema>(
  schema: S,
  initialValues: Readonly<Record<string, unknown>>,
): { readonly data: z.infer<S> | undefined; readonly issues: readonly WordedIssue[] } {
  let values = initialValues;
  for (let round = 1; ; round += 1) {
    const result = schema.safeParse(values);
    if (result.success) return { data: result.data, issues: [] };
    const issues = result.error.issues.flatMap((issue) => describeIssue(issue, values));
    const nulls = issues.filter(({ path }) => typeof path.at(-1) === "string" && valueAt(values, path) === null);
    if (nulls.length === 0 || round === MOST_ROUNDS) return { data: undefined, issues };
    values = structuredClone(values);
    for (const { path } of nulls) {
      const parent = valueAt(values, path.slice(0, -1));
      if (typeof parent === "object" && parent !== null) Reflect.deleteProperty(parent, path.at(-1) ?? "");
    }
  }
}

/** The error message for an unknown field name, in a form, in JSON or in a query. */
export function notAField(schema: FieldSchema, name: string, prefix = ""): string {
  const nearest = ourNameOf(name, schema.shape) ?? suggest(name, Object.keys(schema.shape));
  const suggestion = nearest === undefined ? "" : ` Did you mean \`${prefix}${nearest}\`?`;
  return `\`${prefix}${name}\` is not a field of this endpoint.${suggestion}`;
}

function paramOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (param, key) =>
      typeof key === "number" ? `${param}[${key}]` : param === "" ? String(key) : `${param}.${String(key)}`,
    "",
  );
}
