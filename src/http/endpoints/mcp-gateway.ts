// Connects the tools of `/mcp` to this gateway: each tool sends an in-process HTTP request with the caller's key.
import type { OutgoingHttpHeaders, Server } from "node:http";
import type { Logger } from "pino";
import { errorBody } from "../../contract/error-body.ts";
import { refusalLines } from "../../contract/refusal-lines.ts";
import { type JsonParser, parseText } from "../../lib/json/json-parser.ts";
import { type Recording, RefusedToolCall, type ToolAnswer, type ToolGateway } from "../../mcp/tool-gateway.ts";
import { internalError } from "../reply/error-reply.ts";
import type { HttpRequest } from "../server/endpoint.ts";
import { askOwnServer, type OwnAnswer, type OwnRequest } from "../server/in-process-connection.ts";

export interface McpServices {
  /** The server of the listener that `/mcp` is on. A function, because the server is created later. */
  readonly server: () => Server;
  readonly version: string;
  readonly logger: Logger;
  /** Parses responses with long lists. */
  readonly parser: JsonParser;
}

/** The caller's headers that are forwarded with every tool request, and those only with transcriptions. */
const OF_THE_CALLER = ["authorization", "traceparent"];
const OF_THE_RECORDING = ["idempotency-key", "x-svc-purpose", "x-svc-purpose-policy"];

export function mcpGateway(
  { server, version, logger, parser }: McpServices,
  { headers, id }: HttpRequest,
): ToolGateway {
  const ask = async (ownRequest: OwnRequest): Promise<ToolAnswer> => {
    const allHeaders = { ...pickHeaders(headers, OF_THE_CALLER), ...ownRequest.headers };
    const answer = await askOwnServer(server(), { ...ownRequest, headers: allHeaders }).catch((cause: unknown) => {
      throw new RefusedToolCall(["The gateway is shutting down. Retry: another process will answer."], { cause });
    });
    if (answer.status >= 400) throw refusalOf(answer);
    const isSimulated = answer.headers["x-svc-simulated"] === "true";
    return { text: answer.text, requestId: requestIdOf(answer), isSimulated };
  };
  return {
    readsFiles: false,
    version,
    parse: (text, signal) => parseText(parser, text, { owner: "mcp", signal }),
    ask: ({ method = "GET", path, accept = "application/json" }, signal) =>
      ask({ method, path, headers: { accept }, body: null, signal }),
    send: (path, { url, ...fields }: Recording, signal) =>
      ask({
        method: "POST",
        path,
        headers: {
          ...pickHeaders(headers, OF_THE_RECORDING),
          accept: "application/json",
          "content-type": "application/json",
        },
        body: JSON.stringify({ ...fields, audio: { url } }),
        signal,
      }),
    onFault: (err) => {
      logger.error({ request_id: id, err }, "a tool failed");
      return `INTERNAL: ${internalError(err).message}\nrequest ${id}`;
    },
  };
}

function refusalOf(answer: OwnAnswer): RefusedToolCall {
  const { code, message, details, doc_url: docUrl } = errorBody.parse(JSON.parse(answer.text)).error;
  const retryAfter = answer.headers["retry-after"];
  return new RefusedToolCall([
    `${code}: ${message}`,
    ...(retryAfter === undefined ? [] : [`it may succeed in ${retryAfter} s`]),
    ...refusalLines({ details, docUrl, requestId: requestIdOf(answer) }),
  ]);
}

function requestIdOf({ headers }: OwnAnswer): string | null {
  return headers["x-request-id"]?.toString() ?? null;
}

function pickHeaders(headers: HttpRequest["headers"], names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
