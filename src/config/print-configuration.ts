// Prints the effective configuration in the file's format, with defaults filled in and secrets masked (`patchbay config print`).
import { z } from "zod";
import type { Configuration } from "./configuration.ts";
import { configurationFile } from "./schema/file.ts";
import { camelCase } from "../contract/settings/kit.ts";

const SECRET_NAME = /(^|[_-])(api_?key|secret|token|password|authorization|credentials?)$/i;

export function printableConfiguration(configuration: Configuration): unknown {
  return inFileForm(configurationFile, configuration);
}

/** Enough to distinguish two secrets, too little to use one. */
function maskSecret(secret: string): string {
  return secret.length >= 16 ? `****${secret.slice(-4)}` : "****";
}

/** Reverses parsing along the schema, which converted only the keys of sections to camel case. */
export function inFileForm(schema: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (!(schema instanceof z.ZodType)) return value;
  if (schema.meta()?.["writeOnly"] === true) return mask(value);
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  )
    return inFileForm(schema.def.innerType, value);
  if (schema instanceof z.ZodPipe) return inFileForm(schema.def.in, value);
  if (schema instanceof z.ZodArray)
    return Array.isArray(value) ? value.map((member: unknown) => inFileForm(schema.element, member)) : value;
  if (schema instanceof z.ZodRecord) return recordInFileForm(schema, value);
  if (schema instanceof z.ZodDiscriminatedUnion)
    return inFileForm(
      schema.options.find((option) => isOfKind(option, value)),
      value,
    );
  return schema instanceof z.ZodObject ? objectInFileForm(schema, value) : value;
}

function objectInFileForm(schema: z.ZodObject, value: unknown): unknown {
  const members = value as Readonly<Record<string, unknown>>;
  const pairs = Object.entries(schema.shape).flatMap(([key, member]) => {
    const found = Object.hasOwn(members, camelCase(key)) ? members[camelCase(key)] : members[key];
    // In the file, a target's settings per profile are among its settings.
    if (key === "settings")
      return [[key, maskByName({ ...(found as object), ...(members["profileSettings"] as object) })] as const];
    return found === undefined ? [] : [[key, inFileForm(member, found)] as const];
  });
  return Object.fromEntries(pairs);
}

function recordInFileForm(schema: z.ZodRecord, value: unknown): unknown {
  const pairs = Object.entries(value as object).map(
    ([key, member]) => [key, inFileForm(schema.valueType, member)] as const,
  );
  return maskByName(Object.fromEntries(pairs));
}

function isOfKind(option: unknown, value: unknown): boolean {
  const schema = option instanceof z.ZodPipe ? option.def.in : option;
  const kind: unknown = schema instanceof z.ZodObject ? schema.shape["kind"] : undefined;
  return kind instanceof z.ZodType && kind.safeParse((value as { kind?: unknown }).kind).success;
}

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== "string") return value;
  // The path and the query of an alert's destination are the secret. The host helps to recognise it.
  if (/^https?:\/\//u.test(value)) return URL.canParse(value) ? `${new URL(value).origin}/****` : "****";
  if (!/^postgres(ql)?:\/\//.test(value)) return maskSecret(value);
  if (!URL.canParse(value)) return "****";
  const url = new URL(value);
  if (url.password !== "") url.password = "****";
  for (const name of new Set(url.searchParams.keys())) if (SECRET_NAME.test(name)) url.searchParams.set(name, "****");
  return url.href;
}

/** In free-form maps no schema marks secrets, so the name decides. */
function maskByName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskByName);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      typeof member === "string" && SECRET_NAME.test(key) ? maskSecret(member) : maskByName(member),
    ]),
  );
}
