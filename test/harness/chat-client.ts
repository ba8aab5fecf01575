// Calls POST /v1/chat as an application does, plain or streamed, and validates every answer and event against its schema.
import assert from "node:assert/strict";
import { createParser } from "eventsource-parser";
import { type ChatAnswer, type ChatEventName, CHAT_EVENTS, chatAnswer } from "../../src/contract/chat/chat-answer.ts";
import { routingDecision } from "../../src/contract/transcription/transcription-envelope.ts";
import { type Answer, send } from "./client.ts";
import { KEY } from "./gateway.ts";

export const HELLO = [{ role: "user", content: "Hello" }] as const;

export interface ChatOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly path?: string;
}

export async function postChat(origin: string, fields: object, options: ChatOptions = {}): Promise<Answer> {
  const answer = await send(`${origin}${options.path ?? "/v1/chat"}`, init({ messages: HELLO, ...fields }, options));
  if (answer.status === 200 && options.path === undefined) {
    const isDecision = (answer.json as { object?: string } | null)?.object === "routing.decision";
    (isDecision ? routingDecision : chatAnswer).parse(answer.json);
  }
  return answer;
}

export function chatOf(answer: Answer): ChatAnswer {
  assert.equal(answer.status, 200, answer.text);
  return chatAnswer.parse(answer.json);
}

export interface ReceivedEvent {
  readonly event: ChatEventName;
  readonly data: Record<string, unknown>;
}

export interface StreamedChat {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly ReceivedEvent[];
  /** The raw text. */
  readonly text: string;
  /** The connection broke before the end of the reply. */
  readonly broke: boolean;
}

/** Reads to the end. `onEvent` receives each event as it arrives. */
export async function streamChat(
  origin: string,
  fields: object,
  options: ChatOptions & { readonly onEvent?: (event: ReceivedEvent) => void } = {},
): Promise<StreamedChat> {
  const response = await fetch(`${origin}/v1/chat`, init({ messages: HELLO, stream: true, ...fields }, options));
  const events: ReceivedEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const name = event as ChatEventName;
      const received = { event: name, data: JSON.parse(data) as Record<string, unknown> };
      CHAT_EVENTS[name].parse(received.data);
      events.push(received);
      options.onEvent?.(received);
    },
  });
  const decoder = new TextDecoder();
  let text = "";
  let broke = false;
  try {
    for await (const bytes of response.body ?? []) {
      const piece = decoder.decode(bytes, { stream: true });
      text += piece;
      parser.feed(piece);
    }
  } catch {
    broke = true;
  }
  return { status: response.status, headers: response.headers, events, text, broke };
}

export function names(streamed: StreamedChat): readonly string[] {
  return streamed.events.map(({ event }) => event);
}

function init(body: object, options: ChatOptions): RequestInit {
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${options.key ?? KEY}`,
      "content-type": "application/json",
      ...options.headers,
    },
    body: JSON.stringify(body),
    signal: options.signal ?? null,
  };
}
