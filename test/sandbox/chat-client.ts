// Asks the sandbox's three chat wires by plain fetch, so that no client smooths anything over.
import type { Asked } from "./ask.ts";

export type WireName = "openai" | "anthropic" | "gemini";
export type Body = Readonly<Record<string, unknown>>;

const WIRES: Readonly<
  Record<
    WireName,
    {
      readonly path: string;
      readonly streamPath: string;
      readonly headers: Record<string, string>;
      readonly hello: Body;
    }
  >
> = {
  openai: {
    path: "/openai/v1/chat/completions",
    streamPath: "/openai/v1/chat/completions",
    headers: { authorization: "Bearer sk-1" },
    hello: { model: "gpt-4o", messages: [{ role: "user", content: "Hello there" }] },
  },
  anthropic: {
    path: "/anthropic/v1/messages",
    streamPath: "/anthropic/v1/messages",
    headers: { "x-api-key": "sk-1", "anthropic-version": "2023-06-01" },
    hello: { model: "claude-sonnet-4-5", max_tokens: 50, messages: [{ role: "user", content: "Hello there" }] },
  },
  gemini: {
    path: "/gemini/v1beta/models/gemini-3.5-flash:generateContent",
    streamPath: "/gemini/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": "k-1" },
    hello: { contents: [{ role: "user", parts: [{ text: "Hello there" }] }] },
  },
};
export const WIRE_NAMES = Object.keys(WIRES) as readonly WireName[];

interface More {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

export function chatClient(origin: () => string) {
  async function post(wire: WireName, body: unknown, more: More = {}): Promise<Response> {
    const { path, headers } = WIRES[wire];
    const given = Object.entries({ ...headers, ...more.headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    );
    return fetch(`${origin()}${more.path ?? path}`, {
      method: "POST",
      headers: [["content-type", "application/json"], ...given],
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
  }

  async function ask(wire: WireName, change: Body = {}, more: More = {}): Promise<Asked> {
    const response = await post(wire, { ...WIRES[wire].hello, ...change }, more);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: JSON.parse(text) as Record<string, unknown>,
    };
  }

  const stream = (wire: WireName, signal?: AbortSignal): Promise<Response> =>
    post(
      wire,
      { ...WIRES[wire].hello, ...(wire === "gemini" ? {} : { stream: true }) },
      { path: WIRES[wire].streamPath, ...(signal === undefined ? {} : { signal }) },
    );
  return { post, ask, stream };
}
