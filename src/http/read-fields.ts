// The JSON body of an endpoint that takes no audio, judged by the endpoint's schema: all faults are told at once.
import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { createFaults } from "./faults.ts";
import { type FieldSchema, validateFields } from "./fields.ts";
import { readJson } from "./read-json.ts";

const MAX_BYTES = 65_536;

export async function readFields<S extends FieldSchema>(request: FastifyRequest, schema: S): Promise<z.infer<S>> {
  const body = await readJson(
    { headers: request.headers, body: request.raw },
    { maxBytes: MAX_BYTES, code: "BODY_TOO_LARGE" },
  );
  const faults = createFaults();
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw faults.fatal(null, "The body must be a JSON object.");
  const fields = validateFields(schema, new Map(Object.entries(body)), faults);
  faults.throwIfAny();
  if (fields === undefined) throw new Error("a body without a fault has no value");
  return fields;
}
