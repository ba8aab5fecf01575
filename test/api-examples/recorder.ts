// Sends the requests of examples to a gateway and records them with their answers, in the form of the OpenAPI documents.
import assert from "node:assert/strict";
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { ADMIN_ENDPOINTS } from "../../src/contract/endpoints/admin-endpoints.ts";
import { type EndpointContract, pathTemplate } from "../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import type { OperationExample } from "../../src/http/pages/openapi-examples.ts";
import type { TestGateway } from "../harness/gateway.ts";
import { KEYS, RECORDINGS } from "./world.ts";

type Fields = Readonly<Record<string, string>>;
export type Listener = "public" | "admin";

export interface Asking {
  readonly path?: Fields;
  readonly query?: Fields;
  readonly headers?: Fields;
  readonly json?: unknown;
  /** `file` names a recording. */
  readonly form?: Readonly<Record<string, string | boolean>>;
  /** Not part of the example: which form of the answer is wanted. */
  readonly accept?: string;
  /** The answer does not end: its first event is enough. */
  readonly isEndless?: boolean;
}

export interface Answered {
  readonly status: number;
  readonly etag: string;
  readonly requestId: string;
  /** Null unless it is JSON. */
  readonly json: Readonly<Record<string, unknown>> | null;
  readonly text: string;
}

interface Recorded extends OperationExample {
  readonly bodies: Record<string, unknown>;
  readonly answers: Record<string, Record<string, unknown>>;
}

export interface Recorder {
  readonly ask: (listener: Listener, operationId: string, asking?: Asking) => Promise<Answered>;
  /** By operation id, in the order of the first requests. The first request of an operation is its example; later ones add other media types. */
  readonly recorded: ReadonlyMap<string, OperationExample>;
}

export function createRecorder(gateway: TestGateway): Recorder {
  const recorded = new Map<string, Recorded>();
  const note = (operationId: string, asking: Asking, type: string, answered: Answered): void => {
    const { path = {}, query = {}, headers = {}, json, form } = asking;
    const example = recorded.get(operationId) ?? { path, query, headers, bodies: {}, answers: {} };
    recorded.set(operationId, example);
    if (json !== undefined) example.bodies["application/json"] ??= json;
    if (form !== undefined) example.bodies["multipart/form-data"] ??= form;
    const answers = (example.answers[String(answered.status)] ??= {});
    if (type !== "") answers[type] ??= answered.json ?? answered.text;
  };
  return {
    recorded,
    ask: async (listener, operationId, asking = {}) => {
      const contract = contractOf(listener, operationId);
      const [answered, type] = await send(gateway, listener, contract, asking);
      assert.ok(answered.status < 300, `${operationId}: ${answered.status} ${answered.text}`);
      note(operationId, asking, type, answered);
      return answered;
    },
  };
}

function contractOf(listener: Listener, operationId: string): EndpointContract {
  const contracts = listener === "admin" ? ADMIN_ENDPOINTS : ENDPOINTS;
  const contract = contracts.find((each) => each.operationId === operationId);
  assert.ok(contract !== undefined, operationId);
  return contract;
}

async function send(
  gateway: TestGateway,
  listener: Listener,
  contract: EndpointContract,
  asking: Asking,
): Promise<readonly [Answered, string]> {
  const { path = {}, query = {}, headers = {}, accept, isEndless = false } = asking;
  const target = pathTemplate(contract).replaceAll(/\{([a-z_]+)\}/gu, (_whole, name: string) => {
    const value = path[name];
    assert.ok(value !== undefined, `${contract.operationId} needs ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  const { body, type } = await bodyOf(asking);
  const sent = httpRequest(
    `${listener === "admin" ? gateway.adminOrigin : gateway.origin}${target}${search === "" ? "" : `?${search}`}`,
    {
      method: contract.method,
      headers: {
        ...(contract.auth === "none" ? {} : { authorization: `Bearer ${keyOf(contract)}` }),
        ...(type === null ? {} : { "content-type": type, "content-length": body.length }),
        ...(accept === undefined ? {} : { accept }),
        ...headers,
      },
    },
  );
  sent.end(body);
  return read(await responseTo(sent), isEndless);
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("error", reject);
    sent.once("response", resolve);
    sent.once("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
  });
}

async function read(response: IncomingMessage, isEndless: boolean): Promise<readonly [Answered, string]> {
  const type = (response.headers["content-type"] ?? "").split(";")[0] ?? "";
  const chunks: Buffer[] = [];
  if (response.statusCode !== 101)
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (isEndless && Buffer.concat(chunks).includes("\n\n")) break;
    }
  const text = Buffer.concat(chunks).toString();
  const content = isEndless ? (/^data: (.*)$/mu.exec(text)?.[1] ?? "") : text;
  const isJson = isEndless || type.endsWith("json");
  return [
    {
      status: response.statusCode ?? 0,
      etag: response.headers.etag ?? "",
      requestId: String(response.headers["x-request-id"]),
      json: isJson ? (JSON.parse(content) as Readonly<Record<string, unknown>>) : null,
      text,
    },
    type,
  ];
}

function keyOf({ auth, path }: EndpointContract): string {
  if (auth === "operator") return KEYS.operator;
  return path.startsWith("/workspace/") ? KEYS.admin : KEYS.app;
}

async function bodyOf({ json, form }: Asking): Promise<{ readonly body: Buffer; readonly type: string | null }> {
  if (json !== undefined) return { body: Buffer.from(JSON.stringify(json)), type: "application/json" };
  if (form === undefined) return { body: Buffer.alloc(0), type: null };
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) {
    const recording = name === "file" ? RECORDINGS[String(value)] : undefined;
    if (recording === undefined) data.append(name, String(value));
    else data.append(name, new Blob([new Uint8Array(recording)]), String(value));
  }
  const encoded = new Response(data);
  return {
    body: Buffer.from(await encoded.arrayBuffer()),
    type: encoded.headers.get("content-type"),
  };
}
