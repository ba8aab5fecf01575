// POST /mcp: handles one message of the Model Context Protocol. Its tools call this gateway with the caller's key [mcp.answers].
import type { Principal } from "../../auth/principal.ts";
import { GatewayError } from "../../contract/errors.ts";
import { mcpQuery, postMcpContract } from "../../contract/mcp.ts";
import type { McpAnswer } from "../../mcp/answer-message.ts";
import { type Admission, bodyOwner } from "../../gateway/admission.ts";
import { type Schedule, schedule } from "../body/body-rate.ts";
import { expectedLength } from "../body/content-type.ts";
import { type Endpoint, type HttpRequest, principalOf, type Reply } from "../server/endpoint.ts";
import { mcpGateway, type McpServices } from "./mcp-gateway.ts";
import { readQuery } from "../body/read-fields.ts";
import { readJson } from "../body/read-json.ts";
import { routedHeaders } from "../server/routed-headers.ts";
import type { ServerEvent } from "../reply/sse.ts";

export interface McpEdge extends McpServices {
  readonly admission: Admission;
  readonly publicUrl: () => string;
  readonly schedule?: Schedule;
}

/** Messages contain only text, because audio is sent by URL. All other transcription fields fit (`MAX_REST_BYTES`). */
const MAX_MESSAGE_BYTES = 1_048_576;
/** A slower response becomes an event stream with pings, which keep proxies from closing the connection after a silent minute. */
const SLOW_MS = 10_000;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const REFUSED = -32_000;

export function postMcp(edge: McpEdge): Endpoint<Principal> {
  return {
    contract: postMcpContract,
    handle: async (context) => {
      const { request, clientGone } = context;
      const { headers } = request;
      const { tools } = readQuery(request, mcpQuery);
      // Validated for every message, although only transcriptions use them.
      routedHeaders(headers);
      if (!isOwnOrigin(headers.origin, edge.publicUrl()))
        return errorReply(403, REFUSED, "The Origin is not this gateway's own. Cross-origin requests are not allowed.");
      const owner = bodyOwner(principalOf(context));
      using held = new DisposableStack();
      held.use(edge.admission.enter({ owner, place: "memory", bytes: expectedLength(headers, MAX_MESSAGE_BYTES) }));
      const read = await readMessage(request);
      if (!read.ok) return read.refusal;
      const [{ answerMessage }, { makeToolServer }] = await Promise.all([
        import("../../mcp/answer-message.ts"),
        import("../../mcp/tool-server.ts"),
      ]);
      const gateway = mcpGateway(edge, request);
      const answer = answerMessage({
        message: read.message,
        headers: protocolHeaders(request),
        clientGone,
        makeServer: () => makeToolServer(gateway, { offersJobs: tools === "jobs" }),
      });
      const isSlow = await exceedsTimeout(answer, edge.schedule ?? schedule);
      return isSlow && headers.accept?.includes("text/event-stream") === true
        ? { status: 200, body: { events: onlyEvent(answer), held: held.move() } }
        : mcpReply(await answer);
    },
  };
}

/** Without Origin, the request is not from a browser page. With DNS rebinding, the Host contains the page's own name, so it proves nothing. */
function isOwnOrigin(origin: string | undefined, publicUrl: string): boolean {
  return origin === undefined || origin === new URL(publicUrl).origin;
}

type ReadMessage = { readonly ok: true; readonly message: unknown } | { readonly ok: false; readonly refusal: Reply };

async function readMessage(request: HttpRequest): Promise<ReadMessage> {
  const body = { headers: request.headers, body: request.raw };
  let message: unknown;
  try {
    message = await readJson(body, { maxBytes: MAX_MESSAGE_BYTES });
  } catch (error) {
    // Only errors in the body become a JSON-RPC parse error. Errors in the head keep their own status.
    if (!(error instanceof GatewayError) || error.code !== "INVALID_REQUEST" || error.param !== null) throw error;
    return { ok: false, refusal: errorReply(400, PARSE_ERROR, error.message) };
  }
  // A batch would count as one request whatever its size. The protocol has had no batches since 2025-06-18.
  if (Array.isArray(message))
    return {
      ok: false,
      refusal: errorReply(400, INVALID_REQUEST, "Send one message at a time; batches are not supported."),
    };
  return { ok: true, message };
}

function errorReply(status: number, code: number, message: string): Reply {
  return mcpReply({ status, text: JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }) });
}

/** The protocol version and the other message fields that the protocol repeats in HTTP headers. Never the key. */
function protocolHeaders({ headers }: HttpRequest): Readonly<Record<string, string>> {
  const mcpHeaders: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith("mcp-") && typeof value === "string") mcpHeaders[name] = value;
  return mcpHeaders;
}

async function exceedsTimeout(answer: Promise<unknown>, startTimer: Schedule): Promise<boolean> {
  const timeout = Promise.withResolvers<true>();
  const cancel = startTimer(() => timeout.resolve(true), SLOW_MS);
  try {
    return await Promise.race([answer.then(() => false), timeout.promise]);
  } finally {
    cancel();
  }
}

async function* onlyEvent(answer: Promise<McpAnswer>): AsyncGenerator<ServerEvent> {
  yield { event: "message", data: (await answer).text };
}

function mcpReply({ status, text }: McpAnswer): Reply {
  const headers = status >= 400 ? { "x-should-retry": "false" } : {};
  return {
    status,
    headers,
    body: { text, contentType: text === "" ? "text/plain" : "application/json; charset=utf-8" },
  };
}
