// The part of an OpenAPI document that the API reference shows.
import { z } from "zod";

const schemaOf: z.ZodType<Schema> = z.lazy(() => z.union([schemaObject, z.boolean().transform(() => ({}))]));
const schemaObject = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), schemaOf).optional(),
  required: z.array(z.string()).optional(),
  items: schemaOf.optional(),
  anyOf: z.array(schemaOf).optional(),
  oneOf: z.array(schemaOf).optional(),
  allOf: z.array(schemaOf).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
});
const reference = z.object({ $ref: z.string() });
const media = z.object({ schema: schemaOf, example: z.unknown().optional() });
const body = z.object({ content: z.record(z.string(), media).optional() });
const response = body.extend({ description: z.string() });
const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: schemaOf,
  example: z.string().optional(),
});
const operationShape = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().optional(),
  security: z.array(z.unknown()).optional(),
  "x-required-scope": z.string().optional(),
  "x-required-role": z.enum(["admin", "operator"]).optional(),
  "x-codeSamples": z.array(z.object({ source: z.string() })).optional(),
  parameters: z.array(z.union([reference, parameter])).optional(),
  requestBody: body.optional(),
  responses: z.record(z.string(), z.union([reference, response])),
});
export const documentShape = z.object({
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  webhooks: z.record(z.string(), z.record(z.string(), operationShape)).optional(),
  components: z.object({
    schemas: z.record(z.string(), schemaOf),
    parameters: z.record(z.string(), parameter),
    responses: z.record(z.string(), response),
  }),
});

export interface Schema {
  readonly [key: string]: unknown;
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
  readonly allOf?: readonly Schema[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly default?: unknown;
}
export type Operation = z.infer<typeof operationShape>;
export type OpenapiDocument = z.infer<typeof documentShape>;
/** A request body or a response. */
export type Body = z.infer<typeof body>;
