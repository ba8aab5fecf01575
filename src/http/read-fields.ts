// The JSON body or the query of an endpoint that takes no audio, judged by its schema: all faults are told at once.
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { createFaults, type Faults } from "./faults.ts";
import { type FieldSchema, validateFields } from "./fields.ts";
import { readJson } from "./read-json.ts";

const MAX_BYTES = 65_536;

export async function readFields<S extends FieldSchema>(
  request: FastifyRequest,
  schema: S,
  maxBytes = MAX_BYTES,
): Promise<z.infer<S>> {
  const body = await readJson({ headers: request.headers, body: request.raw }, { maxBytes, code: "BODY_TOO_LARGE" });
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw createFaults().fatal(null, "The body must be a JSON object.");
  return judge(schema, body, createFaults(new Set(Object.keys(schema.shape))));
}

export function readQuery<S extends FieldSchema>({ query }: Pick<FastifyRequest, "query">, schema: S): z.infer<S> {
  return judge(schema, query as Readonly<Record<string, unknown>>, createFaults());
}

function judge<S extends FieldSchema>(schema: S, values: object, faults: Faults): z.infer<S> {
  const fields = validateFields(schema, new Map(Object.entries(values)), faults);
  faults.throwIfAny();
  if (fields === undefined) throw new Error("fields without a fault have no value");
  return fields;
}
