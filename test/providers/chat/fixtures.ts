// Requests, targets and the three wires as the chat tests write them down.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { anthropicChat } from "../../../src/providers/anthropic/anthropic-chat.ts";
import type {
  ChatEvent,
  ChatPlan,
  ChatProvider,
  ChatRequest,
  ChatTarget,
  ChatTool,
} from "../../../src/providers/chat/chat-provider.ts";
import { geminiChat } from "../../../src/providers/gemini/gemini-chat.ts";
import type { StreamingIo } from "../../../src/providers/io.ts";
import { openaiChat } from "../../../src/providers/openai/openai-chat.ts";
import { ioFor } from "../suites/wire-suite.ts";
import { chatReplyBound } from "../../../src/providers/wire/reply-bounds.ts";

export const HELLO: ChatRequest = {
  messages: [{ role: "user", parts: [{ kind: "text", text: "Hello" }] }],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  responseFormat: { kind: "text" },
  maxTokens: 100,
  temperature: null,
  topP: null,
  seed: null,
  stop: [],
  reasoningEffort: null,
  verbosity: null,
  stream: false,
};

export const WEATHER: ChatTool = {
  name: "get_weather",
  description: "Current weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, unit: { type: "string", enum: ["c", "f"] } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: null,
};
export const TIME: ChatTool = { name: "get_time", description: null, parameters: null, strict: null };

export const SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
} as const;

/** The smallest PNG there is. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const CHAT_WIRES = {
  openai: { provider: openaiChat, model: "gpt-4o" },
  anthropic: { provider: anthropicChat, model: "claude-sonnet-4-5" },
  gemini: { provider: geminiChat, model: "gemini-3.5-flash" },
} as const satisfies Record<string, { readonly provider: ChatProvider; readonly model: string }>;
export type ChatWire = keyof typeof CHAT_WIRES;
export const WIRE_NAMES = Object.keys(CHAT_WIRES) as readonly ChatWire[];

export function chatTarget(
  provider: ChatProvider,
  model: string,
  settings: Readonly<Record<string, unknown>> = {},
): ChatTarget {
  const chat = provider.models[model];
  assert.ok(chat, `${model} is not in the catalogue`);
  return { model, chat, settings };
}

export function planned(provider: ChatProvider, target: ChatTarget, wishes: Partial<ChatRequest> = {}): ChatPlan {
  const result = provider.plan({ ...HELLO, ...wishes }, target);
  assert.ok(result.ok, `refused: ${JSON.stringify(result)}`);
  return result.plan;
}

/** A plan of the wire's usual model, for tests of what comes back. */
export function planFor(wire: ChatWire, wishes: Partial<ChatRequest> = {}): ChatPlan {
  const { provider, model } = CHAT_WIRES[wire];
  return planned(provider, chatTarget(provider, model), wishes);
}

export async function eventsOf(events: AsyncIterable<readonly ChatEvent[]>): Promise<readonly ChatEvent[]> {
  return (await Array.fromAsync(events)).flat();
}

/** An `Io` whose stream is these chunks, each by itself or all together, with no socket in between. */
export function ioOfChunks(chunks: Iterable<Uint8Array>, { together = false } = {}): StreamingIo {
  const never = (): never => assert.fail("not to be called");
  return {
    credential: null,
    send: never,
    onRemoteRun: never,
    pause: never,
    remember: never,
    forget: never,
    retain: () => undefined,
    nowMs: Date.now,
    connect: never,
    open: async () => ({
      status: 200,
      headers: { "content-type": "text/event-stream", "transfer-encoding": "chunked" },
      body: (async function* () {
        if (together) yield [...chunks];
        else for (const chunk of chunks) yield [chunk];
      })(),
    }),
  };
}

export const chatIo = (t: TestContext, url: URL, options: Parameters<typeof ioFor>[2] = {}): StreamingIo =>
  ioFor(t, url, { expected: { owner: "acme", bound: chatReplyBound(null) }, ...options });
