// Answers one HTTP message of a Model Context Protocol client without a session: in the revision of 2026-07-28, which has none, or an earlier one with a
// handshake that is answered and not stored. Loaded with the first message.
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

export interface McpMessage {
  /** The parsed message. */
  readonly message: unknown;
  /** Headers that the protocol reads. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clientGone: AbortSignal;
  readonly makeServer: () => McpServer;
}

export interface McpAnswer {
  readonly status: number;
  /** JSON, or empty. */
  readonly text: string;
}

/** The client has disconnected, so this is never read. */
const CLIENT_GONE: McpAnswer = { status: 499, text: "" };
/** Required by the Request interface; the protocol does not use it. */
const ADDRESS = "http://gateway.invalid/mcp";
/** The library requires both; the server chooses to answer in JSON only. */
const ACCEPT = "application/json, text/event-stream";

/** `clientGone` aborts a tool's work. */
export async function answerMessage(mcpMessage: McpMessage): Promise<McpAnswer> {
  const { message, headers, clientGone } = mcpMessage;
  // The client disconnected while the library was loading.
  if (clientGone.aborted) return CLIENT_GONE;
  const request = new Request(ADDRESS, {
    method: "POST",
    headers: { ...headers, accept: ACCEPT, "content-type": "application/json" },
    signal: clientGone,
  });
  const answer = (await isLegacyRequest(request, message)) ? answerHandshaken : answerStateless;
  const disconnect = Promise.withResolvers<McpAnswer>();
  const leave = () => disconnect.resolve(CLIENT_GONE);
  clientGone.addEventListener("abort", leave);
  try {
    return await Promise.race([answer(mcpMessage, request).then(toMcpAnswer), disconnect.promise]);
  } finally {
    clientGone.removeEventListener("abort", leave);
  }
}

async function toMcpAnswer(response: Response): Promise<McpAnswer> {
  return { status: response.status, text: await response.text() };
}

async function answerStateless({ message, makeServer }: McpMessage, request: Request): Promise<Response> {
  let reported: Error | null = null;
  const { fetch: serve } = createMcpHandler(makeServer, {
    legacy: "reject",
    // No resource ever changes, so there is nothing to subscribe to.
    maxSubscriptions: 0,
    onerror: (error) => {
      reported = error;
    },
  });
  const response = await serve(request, { parsedBody: message });
  if (response.status === 500) throw reported ?? new Error("the protocol's handler broke");
  return response;
}

async function answerHandshaken({ message, clientGone, makeServer }: McpMessage, request: Request): Promise<Response> {
  const server = makeServer();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const close = () => void server.close();
  clientGone.addEventListener("abort", close, { once: true });
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    clientGone.removeEventListener("abort", close);
    close();
  }
}
