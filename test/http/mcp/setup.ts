// The protocol's official client before a whole gateway, whose internet is one server on loopback.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Socket } from "node:net";
import { KEY, type TestGateway } from "../../harness/gateway.ts";

/** The client asks for the revision of 2026-07-28, or shakes hands as in those before. */
export const ERAS = ["stateless", "handshake"] as const;
export type Era = (typeof ERAS)[number];

export interface Connecting {
  readonly era?: Era;
  readonly key?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function connect(origin: string, connecting: Connecting = {}): Promise<Client> {
  const { era = "stateless", key = KEY, query = "", headers = {} } = connecting;
  const mode = era === "stateless" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${origin}/mcp${query}`), {
      requestInit: { headers: { ...headers, authorization: `Bearer ${key}` } },
    }),
  );
  return client;
}

export interface ToolReply {
  readonly isError: boolean;
  readonly texts: readonly string[];
  readonly parts: Awaited<ReturnType<Client["callTool"]>>["content"];
}

export async function callTool(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<ToolReply> {
  const answer = await client.callTool({ name, arguments: given }, signal === undefined ? {} : { signal });
  const texts = answer.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { isError: answer.isError === true, texts, parts: answer.content };
}

export function read(text: string | undefined): Readonly<Record<string, unknown>> {
  return JSON.parse(text ?? "") as Record<string, unknown>;
}

/** One message as a program without a library sends it. */
export function post(origin: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${origin}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
    body,
  });
}

export const message = (method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, ...(params === undefined ? {} : { params }) });

/** Those that tools ask by: of no network. */
export function ownConnections({ app }: TestGateway): number {
  return [...app.server.connections].filter((connection) => !(connection instanceof Socket)).length;
}
