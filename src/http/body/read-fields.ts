// Reads the JSON body or the query of an endpoint without audio, and validates it by the endpoint's schema. All errors are reported at once.
import type { z } from "zod";
import { createFaults, type Faults } from "./validation-issues.ts";
import { type FieldSchema, judgedFields, textKind } from "./fields.ts";
import { type BodyLimit, readJson } from "./read-json.ts";
import type { HttpRequest } from "../server/endpoint.ts";

const MAX_BYTES = 65_536;

/** Reads a body with values that are stored. */
export async function readFields<S extends FieldSchema>(request: HttpRequest, schema: S): Promise<z.infer<S>> {
  const faults = createFaults(schema.shape);
  return judgedFields(schema, await readKept(request, MAX_BYTES, faults), faults);
}

/** Reads an object with text for the database, which cannot store the character U+0000. */
export async function readKept(request: HttpRequest, maxBytes: number, faults: Faults): Promise<object> {
  const body = objectOf(await readBody(request, { maxBytes }));
  refuseNul(body, faults);
  return body;
}

/** Reads a body that is forwarded: its text is for the provider to validate. */
export async function readPassedOn<S extends FieldSchema>(
  request: HttpRequest,
  schema: S,
  bound: BodyLimit,
): Promise<z.infer<S>> {
  return judgedFields(schema, objectOf(await readBody(request, bound)), createFaults(schema.shape));
}

export function readQuery<S extends FieldSchema>({ query }: Pick<HttpRequest, "query">, schema: S): z.infer<S> {
  const faults = createFaults();
  refuseNul(query, faults);
  return judgedFields(schema, withNumbers(schema, query), faults);
}

/** Query values are text. Where the schema expects a number, plain digits become one; `0x10`, `1.0` or ` 5` stay text and are refused. */
function withNumbers(schema: FieldSchema, values: Readonly<Record<string, unknown>>): object {
  const numbers = Object.entries(values).flatMap(([name, value]) => {
    const type = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    const isNumber = type !== undefined && textKind(type) === "number";
    return isNumber && typeof value === "string" && /^\d{1,9}$/u.test(value) ? [[name, Number(value)]] : [];
  });
  return { ...values, ...Object.fromEntries(numbers) };
}

function readBody(request: HttpRequest, bound: BodyLimit): Promise<unknown> {
  return readJson({ headers: request.headers, body: request.raw }, bound);
}

function objectOf(body: unknown): object {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw createFaults().fatal(null, "The body must be a JSON object.");
  return body;
}

function refuseNul(values: object, faults: Faults): void {
  for (const [name, value] of Object.entries(values)) {
    if (containsNul(name) || containsNul(value)) faults.add(name, "Text must not contain the character U+0000.");
  }
}

/** Recursion is safe, because `readJson` limits the depth. */
function containsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes("\0") || containsNul(member));
}
