// Writes the API reference as Markdown, one page for each tag of the OpenAPI document: parameters, bodies, responses and errors of every operation.
import { z } from "zod";
import { FIRST_REQUESTS, FIRST_VARIABLES } from "../first-requests.ts";
import { NOT_SEARCHED } from "./markdown.ts";

const MAX_DEPTH = 3;

/** The part of an OpenAPI document that the reference shows. */
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
  example: z.unknown().optional(),
});
const operationShape = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().optional(),
  security: z.array(z.unknown()).optional(),
  "x-required-scope": z.string().optional(),
  "x-codeSamples": z.array(z.object({ source: z.string() })).optional(),
  parameters: z.array(z.union([reference, parameter])).optional(),
  requestBody: body.optional(),
  responses: z.record(z.string(), z.union([reference, response])),
});
const documentShape = z.object({
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  webhooks: z.record(z.string(), z.record(z.string(), operationShape)).optional(),
  components: z.object({
    schemas: z.record(z.string(), schemaOf),
    parameters: z.record(z.string(), parameter),
    responses: z.record(z.string(), response),
  }),
});

interface Schema {
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
type Operation = z.infer<typeof operationShape>;
type OpenapiDocument = z.infer<typeof documentShape>;

export interface ReferencePage {
  /** `/docs/api/jobs`. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

/** `document` is `openapi.json` of the package. */
export function apiReference(document: unknown): readonly ReferencePage[] {
  const api = documentShape.parse(document);
  return [indexPage(api), ...tagPages(api)];
}

/** First requests, and every operation with a link. */
function indexPage(api: OpenapiDocument): ReferencePage {
  const examples = FIRST_REQUESTS.map(({ title, language, code }) => `${title}:\n\n\`\`\`${language}\n${code}\n\`\`\``);
  const lists = api.tags.map(({ name, description }) => {
    const rows = operationsOf(api, name).map(({ request, operation }) => [
      `[\`${request}\`](${referencePath(name)}#${operation.operationId})`,
      operation.summary,
    ]);
    return `## ${name}\n\n${description}\n\n${table(["Request", "Summary"], rows)}`;
  });
  return {
    path: "/docs/api",
    title: "HTTP API",
    markdown: `# HTTP API

Every endpoint of this listener. The same as a document for programs is the OpenAPI 3.1 document at [/openapi.json](/openapi.json). [Errors](/docs/errors) lists every code.

## First requests

${FIRST_VARIABLES}

${examples.join("\n\n")}

${lists.join("\n\n")}`,
  };
}

function tagPages(api: OpenapiDocument): readonly ReferencePage[] {
  return api.tags.map(({ name, description }) => {
    const operations = operationsOf(api, name).map(({ request, operation }) =>
      operationSection(api, request, operation),
    );
    const webhooks = webhooksOf(api, name).map((operation) => webhookSection(api, operation));
    return {
      path: referencePath(name),
      title: name,
      markdown: [`# ${name}`, description, ...operations, ...webhooks].join("\n\n"),
    };
  });
}

function operationsOf(
  api: OpenapiDocument,
  tag: string,
): readonly { readonly request: string; readonly operation: Operation }[] {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ request: `${method.toUpperCase()} ${path}`, operation })),
  );
}

/** Requests that the gateway sends. */
function webhooksOf({ webhooks = {} }: OpenapiDocument, tag: string): readonly Operation[] {
  return Object.values(webhooks)
    .flatMap((methods) => Object.values(methods))
    .filter(({ tags }) => tags.includes(tag));
}

export function referencePath(tag: string): string {
  return `/docs/api/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-")}`;
}

function operationSection(api: OpenapiDocument, request: string, operation: Operation): string {
  const { operationId, summary, description, security = [], responses, requestBody, parameters = [] } = operation;
  const scope = operation["x-required-scope"];
  const key =
    security.length === 0 ? "No key." : scope === undefined ? "Any key." : `A key with the scope \`${scope}\`.`;
  return [
    `## ${summary} {#${operationId}}`,
    `\`${request}\` · ${key}`,
    description ?? "",
    ...parameterTable(api, parameters),
    ...bodyTables(api, requestBody),
    responseTable(api, responses),
    ...exampleParts(operation),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function webhookSection(api: OpenapiDocument, operation: Operation): string {
  const { operationId, summary, description = "", responses, requestBody, parameters = [] } = operation;
  const headers = parameters.flatMap((each) =>
    "$ref" in each || each.example === undefined ? [] : [`${each.name}: ${String(each.example)}`],
  );
  const [example] = Object.values(requestBody?.content ?? {});
  return [
    `## ${summary} {#${operationId}}`,
    "`POST` to your URL · Sent by the gateway, with a signature.",
    description,
    ...parameterTable(api, parameters),
    ...bodyTables(api, requestBody),
    responseTable(api, responses),
    "### Example",
    `\`\`\`http ${NOT_SEARCHED}\n${headers.join("\n")}\n\n${JSON.stringify(example?.example)}\n\`\`\``,
  ].join("\n\n");
}

/** The request as a command, the same body in another form, and the answer. */
function exampleParts(operation: Operation): readonly string[] {
  const [sample] = operation["x-codeSamples"] ?? [];
  if (sample === undefined) return [];
  const [, ...otherBodies] = examplesIn(operation.requestBody);
  // A job's submission is answered 202, and 200 only for a dry run.
  const [status, answer] = Object.entries(operation.responses).findLast(
    ([code, each]) => code < "300" && !("$ref" in each) && examplesIn(each).length > 0,
  ) ?? ["", undefined];
  const answers = answer === undefined || "$ref" in answer ? [] : examplesIn(answer).slice(0, 1);
  return [
    "### Example",
    `\`\`\`sh ${NOT_SEARCHED}\n${sample.source}\n\`\`\``,
    ...otherBodies.flatMap(([type, example]) => [`Or as \`${type}\`:`, exampleBlock(example)]),
    ...answers.flatMap(([type, example]) => [`Answer ${status}, \`${type}\`:`, exampleBlock(example)]),
  ];
}

/** In the order of the command: a form comes first, because files are sent so. */
function examplesIn(part: z.infer<typeof body> | undefined): readonly (readonly [type: string, example: unknown])[] {
  return Object.entries(part?.content ?? {})
    .flatMap(([type, { example }]) => (example === undefined ? [] : [[type, example] as const]))
    .toSorted(([left], [right]) => Number(right.startsWith("multipart/")) - Number(left.startsWith("multipart/")));
}

/** Not searched: other operations have the same words. */
function exampleBlock(example: unknown): string {
  return typeof example === "string"
    ? `\`\`\`text ${NOT_SEARCHED}\n${example.trimEnd()}\n\`\`\``
    : `\`\`\`json ${NOT_SEARCHED}\n${JSON.stringify(example, null, 2)}\n\`\`\``;
}

function parameterTable(api: OpenapiDocument, parameters: NonNullable<Operation["parameters"]>): readonly string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map((each) => {
    const found = "$ref" in each ? api.components.parameters[lastPart(each.$ref)] : each;
    if (found === undefined) throw new Error("The document refers to a parameter that it does not contain.");
    const { name, in: place, required = false, description = "", schema } = found;
    return [`\`${name}\``, place, typeOf(api, schema), required ? "required" : "", description];
  });
  return ["### Parameters", table(["Name", "In", "Type", "", "Description"], rows)];
}

function bodyTables(api: OpenapiDocument, requestBody: Operation["requestBody"]): readonly string[] {
  return Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
    const rows = fieldsOf(api, schema, "", 0);
    return rows.length === 0 ? [] : [`### Body: ${type}`, table(["Field", "Type", "", "Description"], rows)];
  });
}

function responseTable(api: OpenapiDocument, responses: Operation["responses"]): string {
  const rows = Object.entries(responses).map(([status, each]) => {
    const found = "$ref" in each ? api.components.responses[lastPart(each.$ref)] : each;
    const types = Object.entries(found?.content ?? {}).map(
      ([type, { schema }]) => `\`${type}\` ${typeOf(api, schema)}`,
    );
    return [status, found?.description ?? "", types.join(", ")];
  });
  return `### Responses\n\n${table(["Status", "When", "Body"], rows)}`;
}

/** Rows of the fields of an object, with the fields of nested objects below their own. */
function fieldsOf(api: OpenapiDocument, schema: Schema, prefix: string, depth: number): readonly (readonly string[])[] {
  const resolved = resolve(api, schema);
  const parts = [resolved, ...(resolved.allOf ?? []), ...(resolved.anyOf ?? []), ...(resolved.oneOf ?? [])].map(
    (part) => resolve(api, part),
  );
  const rows = new Map<string, readonly string[]>();
  for (const part of parts) {
    for (const [name, field] of Object.entries(part.properties ?? {})) {
      const path = prefix + name;
      if (rows.has(path)) continue;
      const isRequired = part.required?.includes(name) === true;
      rows.set(path, [`\`${path}\``, typeOf(api, field), isRequired ? "required" : "", describe(api, field)]);
      if (depth + 1 >= MAX_DEPTH) continue;
      const target = resolve(api, field);
      const [nested, nestedPrefix] = target.items === undefined ? [target, `${path}.`] : [target.items, `${path}[].`];
      for (const row of fieldsOf(api, nested, nestedPrefix, depth + 1)) rows.set(row[0] ?? "", row);
    }
  }
  return [...rows.values()];
}

function describe(api: OpenapiDocument, schema: Schema): string {
  const resolved = resolve(api, schema);
  const text = schema.description ?? resolved.description ?? "";
  return resolved.default === undefined ? text : `${text} Default: \`${JSON.stringify(resolved.default)}\`.`.trim();
}

function typeOf(api: OpenapiDocument, schema: Schema): string {
  if (schema.$ref !== undefined) {
    const target = resolve(api, schema);
    return target.enum === undefined && target.properties !== undefined ? lastPart(schema.$ref) : typeOf(api, target);
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeOf(api, choice)))].join(" or ");
  if (schema.items !== undefined) return `list of ${typeOf(api, schema.items)}`;
  return typeof schema.type === "string" ? schema.type : (schema.type ?? ["any"]).join(" or ");
}

function resolve(api: OpenapiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = api.components.schemas[lastPart(schema.$ref)];
  if (found === undefined) throw new Error(`The document refers to ${schema.$ref}, which it does not contain.`);
  return resolve(api, found);
}

function lastPart(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf("/") + 1);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s+/gu, " ")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}
