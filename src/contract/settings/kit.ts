// Building blocks of the schemas of settings, for the configuration file and the admin API: strict objects with keys that are snake_case in JSON and YAML,
// and camelCase in the program.
import { z } from "zod";
import { ID_PATTERN, ID_RULE, LABEL_PATTERN, LABEL_RULE, MODEL_PATTERN, MODEL_RULE } from "../names.ts";

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;
type CamelKeys<T> = { [K in keyof T as K extends string ? CamelCase<K> : K]: T[K] };

/** A strict object: unknown keys are errors. Its own keys become camelCase, but not those of a map inside it. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape).transform(camelKeys);
}

function camelKeys<T extends object>(value: T): CamelKeys<T> {
  const entries = Object.entries(value).map(([key, member]) => [camelCase(key), member]);
  // The mapped type matches this line of code.
  return Object.fromEntries(entries) as CamelKeys<T>;
}

export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/** `null` or absent: not set. */
export function optionalOrNull<T extends z.ZodType>(schema: T) {
  return schema.nullable().default(null);
}

/** An empty text counts as not set, as `${env:NAME:-}` produces it. */
export function textOrNull() {
  return z
    .string()
    .nullable()
    .default(null)
    .transform((text) => (text === null || text === "" ? null : text));
}

/** Marks a secret setting: `config print` masks it, and the documentation says so. JSON Schema's keyword is `writeOnly`. */
export const SECRET_MARK = { writeOnly: true } as const;

export const ID = z.string().regex(ID_PATTERN, ID_RULE);
export const PURPOSE_LABEL = z.string().regex(LABEL_PATTERN, LABEL_RULE);
export const MODEL = z.string().regex(MODEL_PATTERN, MODEL_RULE);
/** Maximum length of any address from a workspace: processing takes more than linear time. */
export const MAX_URL_CHARACTERS = 2_048;

export const HTTP_URL = z
  .string()
  .max(MAX_URL_CHARACTERS)
  .refine(isHttpUrl, "must be an http:// or https:// URL without credentials, query or fragment")
  .transform((text) => text.replace(/\/+$/, ""));

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  return isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}
