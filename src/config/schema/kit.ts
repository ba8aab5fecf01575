// What the settings schemas are made of: strict objects whose keys are snake_case in the file and camelCase in the program
// (converted here, once), and the value shapes several settings share (contract 10).
import { z } from "zod";
import { ID_PATTERN, ID_RULE, LABEL_PATTERN, LABEL_RULE, MONEY_PATTERN, MONEY_RULE } from "../../contract/names.ts";
import { hostNameFault } from "../../lib/host-name.ts";

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;
type CamelKeys<T> = { [K in keyof T as K extends string ? CamelCase<K> : K]: T[K] };

/** A strict object: unknown keys are faults, and its own keys (never those of a map inside it) turn camelCase. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape).transform(camelKeys);
}

function camelKeys<T extends object>(value: T): CamelKeys<T> {
  const entries = Object.entries(value).map(([key, member]) => [camelCase(key), member]);
  // The mapped type says the same as this line of code.
  return Object.fromEntries(entries) as CamelKeys<T>;
}

export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/** `null` or absent: not set. */
export function maybe<T extends z.ZodType>(schema: T) {
  return schema.nullable().default(null);
}

/** A text that counts as not set when empty, as `${env:NAME:-}` leaves it. */
export function textOrNull() {
  return z
    .string()
    .nullable()
    .default(null)
    .transform((text) => (text === null || text === "" ? null : text));
}

/** Marks a setting as secret: `config print` masks it, the documentation says so. `writeOnly` is JSON Schema's word for it. */
export const SECRET_MARK = { writeOnly: true } as const;

export const ID = z.string().regex(ID_PATTERN, ID_RULE);
export const PURPOSE_LABEL = z.string().regex(LABEL_PATTERN, LABEL_RULE);
export const MONEY = z
  .string({ error: 'must be a decimal in quotes, such as "50.00" (a bare number loses digits)' })
  .regex(MONEY_PATTERN, MONEY_RULE);
export const HTTP_URL = z
  .string()
  .refine(isHttpUrl, "must be an http:// or https:// URL without credentials, query or fragment")
  .transform((text) => text.replace(/\/+$/, ""));
export const SECRET = z
  .string()
  .min(24, "must be 24 to 128 characters long")
  .max(128, "must be 24 to 128 characters long")
  .regex(/^[\x21-\x7e]*$/, "must be visible ASCII without blanks")
  .meta(SECRET_MARK);
export const PORT = z.int().min(0).max(65_535);
export const CIDR = z.string().refine(isCidr, "must be an address range such as 10.0.0.0/8 or fd00::/8");
export const DOMAIN = z.string().superRefine((text, context) => {
  const fault = hostNameFault(text);
  if (fault !== null) context.addIssue(fault);
});

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  return isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

function isCidr(text: string): boolean {
  const match = /^([0-9a-fA-F:.]{2,45})\/(\d{1,3})$/.exec(text);
  const address = match?.[1] ?? "";
  const bits = Number(match?.[2] ?? Number.NaN);
  if (address.includes(":")) return URL.canParse(`http://[${address}]/`) && bits <= 128;
  return /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(address) && bits <= 32;
}
