// One message of a Model Context Protocol client over HTTP, answered without a session: in the revision of 2026-07-28, which has none, or
// in those before it, whose handshake is answered and forgotten. Loaded with the first message.
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

export interface McpMessage {
  /** As it was parsed. */
  readonly message: unknown;
  /** Of the request, those that the protocol reads. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clientGone: AbortSignal;
  readonly makeServer: () => McpServer;
}

export interface McpAnswer {
  readonly status: number;
  /** JSON, or nothing. */
  readonly text: string;
}

/** Nobody reads it. */
const NOBODY: McpAnswer = { status: 499, text: "" };
/** No part of the protocol, but of the interface of requests. */
const ADDRESS = "http://gateway.invalid/mcp";
/** Either is announced; that all come as JSON is the server's choice. */
const ACCEPT = "application/json, text/event-stream";

/** `clientGone` ends what a tool does, and the wait for it. */
export async function answerMessage(given: McpMessage): Promise<McpAnswer> {
  const { message, headers, clientGone } = given;
  // While the library was loaded.
  if (clientGone.aborted) return NOBODY;
  const request = new Request(ADDRESS, {
    method: "POST",
    headers: { ...headers, accept: ACCEPT, "content-type": "application/json" },
    signal: clientGone,
  });
  const answer = (await isLegacyRequest(request, message)) ? answerHandshaken : answerStateless;
  const left = Promise.withResolvers<McpAnswer>();
  const leave = () => left.resolve(NOBODY);
  clientGone.addEventListener("abort", leave);
  try {
    return await Promise.race([answer(given, request).then(told), left.promise]);
  } finally {
    clientGone.removeEventListener("abort", leave);
  }
}

async function told(response: Response): Promise<McpAnswer> {
  return { status: response.status, text: await response.text() };
}

async function answerStateless({ message, makeServer }: McpMessage, request: Request): Promise<Response> {
  let reported: Error | null = null;
  const { fetch: serve } = createMcpHandler(makeServer, {
    legacy: "reject",
    // Nothing changes that one could listen for.
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
