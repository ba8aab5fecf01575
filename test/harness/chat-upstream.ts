// A fake OpenAI chat server on a real socket that does exactly what a test specifies, for failures that no well-behaved server can produce. Received requests
// are recorded.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";

export interface UpstreamCall {
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
  /** Resolves when the gateway has closed the connection, or the reply is complete. */
  readonly closed: Promise<void>;
}

export type Behaviour = (call: UpstreamCall) => void | Promise<void>;

export interface ChatUpstream {
  /** Base URL, before `/chat/completions`. */
  readonly url: string;
  readonly calls: UpstreamCall[];
  /** Applies to calls from now on. */
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export async function startChatUpstream(): Promise<ChatUpstream> {
  let behaviour: Behaviour = answer;
  const calls: UpstreamCall[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      const closed = once(response, "close").then(() => undefined);
      const call = {
        // A form with audio is not read.
        body: (isJson(request) ? JSON.parse(text) : {}) as Record<string, unknown>,
        headers: request.headers,
        response,
        closed,
      };
      calls.push(call);
      await behaviour(call);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    calls,
    behave: (next) => {
      behaviour = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const isJson = (request: IncomingMessage): boolean =>
  request.headers["content-type"]?.startsWith("application/json") === true;

const USAGE = {
  prompt_tokens: 11,
  completion_tokens: 3,
  total_tokens: 14,
  prompt_tokens_details: { cached_tokens: 4 },
};
export const TEXT = "Grüße, 世界 👋";

/** The regular answer, plain or streamed as requested. */
export const answer: Behaviour = (call) => {
  if (call.body["stream"] === true) {
    beginStream(call);
    for (const piece of ["Grüße, ", "世界", " 👋"]) chunk(call, { content: piece });
    endStream(call);
  } else json(call, 200, completion({ role: "assistant", content: TEXT }, "stop"));
};

export function completion(message: object, finishReason: string, usage: object | null = USAGE): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    choices: [{ index: 0, message, finish_reason: finishReason }],
    ...(usage === null ? {} : { usage }),
  };
}

/** An answer reports the requested model, unless it has one of its own. */
export function json(
  { body: asked, response }: UpstreamCall,
  status: number,
  body: object,
  headers: object = {},
): void {
  const model = "choices" in body ? { model: asked["model"] } : {};
  const text = JSON.stringify({ ...model, ...body });
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}

export function beginStream({ response }: UpstreamCall): void {
  response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "up-1" });
  response.flushHeaders();
}

export function chunk({ body, response }: UpstreamCall, delta: object, finishReason: string | null = null): boolean {
  return response.write(`data: ${JSON.stringify(chunkOf(body["model"], delta, finishReason))}\n\n`);
}

function chunkOf(model: unknown, delta: object, finishReason: string | null): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

export function endStream(call: UpstreamCall, finishReason = "stop", usage: object | null = USAGE): void {
  chunk(call, {}, finishReason);
  const { response } = call;
  if (usage !== null) {
    const last = { ...chunkOf(call.body["model"], {}, null), choices: [], usage };
    response.write(`data: ${JSON.stringify(last)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}
