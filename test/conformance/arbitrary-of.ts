// Values that a JSON Schema admits, as fast-check arbitraries. Where the installation has something that exists (a route, an
// app), a hint by the property's name offers it, so that requests get past the first refusal.
import * as fc from "fast-check";
import { type Listener, resolve, type Schema } from "./document.ts";

export type Hints = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const HINTED = 5;
/** Optional fields without a hint are mostly omitted: each one that is sent is one more reason to be refused. */
const LEFT_OUT = 4;
/** Of free text; what has a shape is as long as that. */
const MAX_TEXT = 24;

export function arbitraryOf(listener: Listener, given: Schema, hints: Hints, name = ""): fc.Arbitrary<unknown> {
  const hint = Object.hasOwn(hints, name) ? hints[name] : undefined;
  const plain = fromSchema(listener, resolve(listener, given), hints, name);
  return hint === undefined ? plain : fc.oneof({ weight: HINTED, arbitrary: hint }, { weight: 1, arbitrary: plain });
}

function fromSchema(listener: Listener, schema: Schema, hints: Hints, name: string): fc.Arbitrary<unknown> {
  const of = (inner: Schema, innerName = "") => arbitraryOf(listener, inner, hints, innerName);
  const { type } = schema;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return fc.oneof(...either.map((inner) => of(inner)));
  if (Array.isArray(type)) return fc.oneof(...type.map((one: string) => of({ ...schema, type: one })));
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({
        min: schema.minimum ?? Number.MIN_SAFE_INTEGER,
        max: Math.min(schema.maximum ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      });
    case "number":
      return numberOf(schema);
    case "string":
      return textOf(schema);
    case "array":
      return fc.array(of(schema.items ?? {}, `${name}[]`), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, Math.max(3, schema.minItems ?? 0)),
      });
    case "object":
      return objectOf(schema, hints, of);
    case undefined:
    default:
      // `{}` admits anything.
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function numberOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): fc.Arbitrary<number> {
  return fc.double({
    min: exclusiveMinimum ?? minimum ?? -1e9,
    max: exclusiveMaximum ?? maximum ?? 1e9,
    minExcluded: exclusiveMinimum !== undefined,
    maxExcluded: exclusiveMaximum !== undefined,
    noNaN: true,
  });
}

function textOf({ pattern, allOf = [], minLength = 0, maxLength = Infinity }: Schema): fc.Arbitrary<string> {
  const patterns = [pattern, ...allOf.map((inner) => inner.pattern)].filter((one) => one !== undefined);
  // Properties of characters are beyond the generator; most texts have them anyhow.
  const shape = patterns.find((one) => !/\\p\{/iu.test(one));
  const longest = Math.min(maxLength, Math.max(MAX_TEXT, minLength));
  const text =
    shape === undefined ? fc.string({ unit: "grapheme", minLength, maxLength: longest }) : textMatching(shape);
  const rules = patterns.map((one) => new RegExp(one, "u"));
  return text.filter(
    (value) =>
      value.isWellFormed() &&
      value.length <= maxLength &&
      value.length >= minLength &&
      rules.every((rule) => rule.test(value)),
  );
}

const matching = new Map<string, fc.Arbitrary<string>>();

/** Made once for each pattern: making it takes longer than drawing from it. */
function textMatching(pattern: string): fc.Arbitrary<string> {
  const made = matching.get(pattern) ?? fc.stringMatching(new RegExp(pattern, "u"), { size: "small" });
  matching.set(pattern, made);
  return made;
}

function objectOf(
  schema: Schema,
  hints: Hints,
  of: (inner: Schema, name?: string) => fc.Arbitrary<unknown>,
): fc.Arbitrary<object> {
  const required = new Set(schema.required);
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const present = of(property, name).map((value): readonly [string, unknown][] => [[name, value]]);
    if (required.has(name)) return present;
    const leftOut = Object.hasOwn(hints, name) ? 1 : LEFT_OUT;
    return fc.oneof({ weight: leftOut, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: present });
  });
  const { additionalProperties: rest, propertyNames } = schema;
  const others =
    typeof rest === "object"
      ? fc.dictionary(of(propertyNames ?? { type: "string" }) as fc.Arbitrary<string>, of(rest), { maxKeys: 2 })
      : fc.constant({});
  return fc
    .tuple(fc.tuple(...properties), others)
    .map(([entries, more]) => ({ ...more, ...Object.fromEntries(entries.flat()) }));
}
