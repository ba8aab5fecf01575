// Writes the reference of an API as Markdown, one page for each tag of its OpenAPI document: parameters, bodies, responses and errors of every operation.
import { FIRST_REQUESTS, FIRST_VARIABLES } from "../first-requests.ts";
import { documentShape, type OpenapiDocument, type Operation, type Schema } from "./reference-document.ts";
import { deliveredExample, exampleParts } from "./reference-examples.ts";

const MAX_DEPTH = 3;
const ADMIN_VARIABLE = "Those of a workspace's administration read `ADMIN_KEY` instead, a key with the role `admin`.";

export interface ReferencePage {
  /** `/docs/api/jobs`. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

/** One of the two APIs: its place among the pages, and the beginning of its index page. */
interface ApiPlace {
  readonly path: string;
  readonly title: string;
  /** Title of the page of a tag. */
  readonly titleOf: (tag: string) => string;
  readonly beginning: string;
}

const firstRequests = FIRST_REQUESTS.map(
  ({ title, language, code }) => `${title}:\n\n\`\`\`${language}\n${code}\n\`\`\``,
).join("\n\n");

const PUBLIC: ApiPlace = {
  path: "/docs/api",
  title: "HTTP API",
  titleOf: (tag) => tag,
  beginning: `Every endpoint of this listener. The same as a document for programs is the OpenAPI 3.1 document at [/openapi.json](/openapi.json). [Errors](/docs/errors) lists every code.

## First requests

${FIRST_VARIABLES} ${ADMIN_VARIABLE}

${firstRequests}`,
};

const ADMIN: ApiPlace = {
  path: "/docs/admin-api",
  title: "Admin API",
  titleOf: (tag) => `Admin API: ${tag}`,
  beginning: `Every endpoint of the admin listener, which is for the operator's key. Its port is 8081 unless \`server.admin\` says otherwise. The same as a document for programs is the OpenAPI 3.1 document at \`/openapi.json\` of that listener. [Administration](/docs/reference/admin) has the rules, [Errors](/docs/errors) lists every code.

The examples read two variables: \`PATCHBAY_ADMIN_URL\`, the address of the admin listener, and \`OPERATOR_KEY\`. What administrators of a workspace may do with their own keys is a part of the [HTTP API](/docs/api).`,
};

/** `document` is `openapi.json` of the package. */
export const apiReference = (document: unknown): readonly ReferencePage[] => pagesOf(PUBLIC, document);
/** `document` is `openapi-admin.json`. */
export const adminApiReference = (document: unknown): readonly ReferencePage[] => pagesOf(ADMIN, document);

function pagesOf(place: ApiPlace, document: unknown): readonly ReferencePage[] {
  const api = documentShape.parse(document);
  return [indexPage(place, api), ...tagPages(place, api)];
}

/** Every operation with a link. */
function indexPage({ path, title, beginning }: ApiPlace, api: OpenapiDocument): ReferencePage {
  const lists = api.tags.map(({ name, description }) => {
    const rows = operationsOf(api, name).map(({ request, operation }) => [
      `[\`${request}\`](${referencePath(name, path)}#${operation.operationId})`,
      operation.summary,
    ]);
    return `## ${name}\n\n${description}\n\n${table(["Request", "Summary"], rows)}`;
  });
  return { path, title, markdown: [`# ${title}`, beginning, ...lists].join("\n\n") };
}

function tagPages({ path, titleOf }: ApiPlace, api: OpenapiDocument): readonly ReferencePage[] {
  return api.tags.map(({ name, description }) => {
    const operations = operationsOf(api, name).map(({ request, operation }) =>
      operationSection(api, request, operation),
    );
    const webhooks = webhooksOf(api, name).map((operation) => webhookSection(api, operation));
    return {
      path: referencePath(name, path),
      title: name,
      markdown: [`# ${titleOf(name)}`, description, ...operations, ...webhooks].join("\n\n"),
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

export function referencePath(tag: string, place: string = PUBLIC.path): string {
  return `${place}/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-")}`;
}

function operationSection(api: OpenapiDocument, request: string, operation: Operation): string {
  const { operationId, summary, description, security = [], responses, requestBody, parameters = [] } = operation;
  const key = security.length === 0 ? "No key." : keyFor(operation);
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

function keyFor({ "x-required-role": role, "x-required-scope": scope }: Operation): string {
  if (role !== undefined) return `A key with the role \`${role}\`.`;
  return scope === undefined ? "Any key." : `A key with the scope \`${scope}\`.`;
}

function webhookSection(api: OpenapiDocument, operation: Operation): string {
  const { operationId, summary, description = "", responses, requestBody, parameters = [] } = operation;
  return [
    `## ${summary} {#${operationId}}`,
    "`POST` to your URL · Sent by the gateway, with a signature.",
    description,
    ...parameterTable(api, parameters),
    ...bodyTables(api, requestBody),
    responseTable(api, responses),
    "### Example",
    deliveredExample(operation),
  ].join("\n\n");
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
