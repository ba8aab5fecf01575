// The JSON Schema of patchbay.yaml, for editors, `patchbay config schema` and the generated documentation page.
import { z } from "zod";
import { configurationFile } from "./schema/file.ts";

/** The part of JSON Schema that this schema uses. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

const INTERPOLATED: JsonSchema = { type: "string", pattern: "\\$\\{(env|file):" };

/** The schema of the settings themselves. */
export function settingsSchema(): JsonSchema {
  return z.toJSONSchema(configurationFile, { io: "input", unrepresentable: "any" }) as JsonSchema;
}

/** For editors: every value may also be `${env:…}` or `${file:…}`. */
export function configSchemaJson(): JsonSchema {
  return { ...openToInterpolation(settingsSchema()), title: "patchbay.yaml" };
}

function openToInterpolation(schema: JsonSchema): JsonSchema {
  const { oneOf, ...plain } = schema;
  const inner: JsonSchema = {
    ...plain,
    ...(schema.properties === undefined ? {} : { properties: mapValues(schema.properties, openToInterpolation) }),
    ...(typeof schema.additionalProperties === "object"
      ? { additionalProperties: openToInterpolation(schema.additionalProperties) }
      : {}),
    ...(schema.items === undefined ? {} : { items: openToInterpolation(schema.items) }),
    ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map(openToInterpolation) }),
    // A literal and an interpolated value may both match, which `oneOf` would refuse.
    ...(oneOf === undefined ? {} : { anyOf: oneOf.map(openToInterpolation) }),
  };
  if (!isScalar(schema)) return inner;
  const { description, default: fallback, writeOnly, ...constraints } = inner;
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(writeOnly === undefined ? {} : { writeOnly }),
    anyOf: [constraints, INTERPOLATED],
  };
}

function isScalar(schema: JsonSchema): boolean {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.some((type) => ["string", "integer", "number", "boolean"].includes(type));
}

function mapValues(
  record: Readonly<Record<string, JsonSchema>>,
  change: (schema: JsonSchema) => JsonSchema,
): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
