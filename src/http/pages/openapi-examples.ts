// Adds the recorded examples to the operations of an OpenAPI document: of parameters, of bodies, and each request as a command [api.openapi-examples].
import type { EndpointContract } from "../../contract/endpoints/endpoint.ts";
import type { Json } from "./openapi-components.ts";

/** A request that a gateway accepted, and its answers. Recorded by `scripts/record-examples.ts`. */
export interface OperationExample {
  /** Values of path parameters by name. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** By media type. */
  readonly bodies: Readonly<Record<string, unknown>>;
  /** By status, then by media type. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** By operation id. The documents share the examples of the operations that both listeners have. */
export type OperationExamples = Readonly<Record<string, OperationExample>>;

const JSON_TYPE = "application/json";
const FORM_TYPE = "multipart/form-data";

/** The first value of each path parameter, in the order of the document. */
export function pathExamples(
  contracts: readonly EndpointContract[],
  examples: OperationExamples,
): Readonly<Record<string, string>> {
  const first: Record<string, string> = {};
  for (const { operationId } of contracts)
    for (const [name, value] of Object.entries(examples[operationId]?.path ?? {})) first[name] ??= value;
  return first;
}

export function withExample(operation: Json, contract: EndpointContract, example: OperationExample | undefined): Json {
  if (example === undefined) return operation;
  const { requestBody, responses, ...rest } = operation;
  const body = requestBody === undefined ? {} : { requestBody: withMedia(requestBody as Json, example.bodies) };
  const answered = Object.entries(responses as Json).map(([status, response]) => [
    status,
    withMedia(response as Json, example.answers[status] ?? {}),
  ]);
  return {
    ...rest,
    "x-codeSamples": [{ lang: "Shell", label: "curl", source: curlCommand(contract, example) }],
    ...body,
    responses: Object.fromEntries(answered),
  };
}

function withMedia(part: Json, examples: Readonly<Record<string, unknown>>): Json {
  if (part["content"] === undefined) return part;
  const content = Object.entries(part["content"] as Readonly<Record<string, Json>>).map(([type, media]) => [
    type,
    type in examples ? { ...media, example: examples[type] } : media,
  ]);
  return { ...part, content: Object.fromEntries(content) };
}

/** The request in a shell, with the variables of the documentation for the address and the key. */
export function curlCommand({ method, path, auth }: EndpointContract, example: OperationExample): string {
  const base = auth === "operator" || path === "/metrics" ? "$PATCHBAY_ADMIN_URL" : "$PATCHBAY_URL";
  const target = path.replaceAll(/:([a-z_]+)/gu, (_whole, name: string) =>
    encodeURIComponent(example.path[name] ?? name),
  );
  const query = new URLSearchParams(example.query).toString();
  const [type, body] = Object.entries(example.bodies)[0] ?? [];
  const isPlain = method === "GET" || (method === "POST" && body !== undefined);
  return [
    `curl -s ${isPlain ? "" : `-X ${method} `}"${base}${target}${query === "" ? "" : `?${query}`}"`,
    ...(auth === "none" ? [] : [`-H "Authorization: Bearer ${keyVariable(auth, path)}"`]),
    ...Object.entries(example.headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(type === undefined ? [] : bodyOptions(type, body)),
  ].join(" \\\n  ");
}

function keyVariable(auth: EndpointContract["auth"], path: string): string {
  if (auth === "operator") return "$OPERATOR_KEY";
  return path.startsWith("/workspace/") ? "$ADMIN_KEY" : "$PATCHBAY_API_KEY";
}

function bodyOptions(type: string, body: unknown): readonly string[] {
  if (type === JSON_TYPE) return [`-H "Content-Type: ${JSON_TYPE}"`, `-d ${quoted(JSON.stringify(body))}`];
  if (type !== FORM_TYPE) throw new Error(`a request of type ${type} has no command`);
  return Object.entries(body as Readonly<Record<string, unknown>>).flatMap(([name, value]) =>
    [value].flat().map((each) => `-F ${quoted(`${name}=${name === "file" ? "@" : ""}${String(each)}`)}`),
  );
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@=.:/+-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
