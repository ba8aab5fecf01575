// Anthropic's answers, whole and in events.
import { z } from "zod";
import type { ChatEvent, ChatFinishReason, ChatResult, ChatUsage } from "./chat-provider.ts";
import { finishIn, type FinishReasons, MOST_PARTS, partsOf, tokens, usageOf, writtenArguments } from "./chat-values.ts";
import type { EventReader } from "./chat-wire.ts";
import { ProviderError } from "./io.ts";
import { type JsonReply, requestIdOf } from "./read-reply.ts";

const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
});
type Usage = z.infer<typeof usage>;

/** Of kinds of blocks that are not asked for (thoughts, above all) nothing is read. */
const block = z.object({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});

const reply = z.object({
  type: z.literal("message"),
  content: partsOf(block),
  stop_reason: z.string().nullish(),
  usage: usage.nullish().catch(undefined),
});

const streamEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message_start"),
    message: z.object({ usage: usage.nullish().catch(undefined) }),
  }),
  z.object({ type: z.literal("content_block_start"), index: z.int(), content_block: block }),
  z.object({
    type: z.literal("content_block_delta"),
    index: z.int(),
    delta: z.object({ type: z.string(), text: z.string().optional(), partial_json: z.string().optional() }),
  }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: usage.nullish().catch(undefined),
  }),
]);

const EVENT_TYPES: ReadonlySet<unknown> = new Set(streamEvent.options.map((option) => option.shape.type.value));

/** `pause_turn` belongs to tools that run at the provider, of which none is asked for. */
const FINISH: FinishReasons = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

export function readAnthropicAnswer({ body, headers }: JsonReply): ChatResult {
  const parsed = reply.safeParse(body);
  if (!parsed.success) throw new ProviderError("bad_reply", { reason: "odd_shape" });
  const { content, stop_reason: reason, usage: reported } = parsed.data;
  if (reason == null) throw new ProviderError("bad_reply", { reason: "no_finish" });
  const finishReason = finishIn(FINISH, reason);
  const toolCalls = content.flatMap((each) => {
    if (each.type !== "tool_use") return [];
    if (!each.id || !each.name) throw new ProviderError("bad_reply", { reason: "nameless_call" });
    return [{ id: each.id, name: each.name, arguments: argumentsOf(writtenArguments(each.input ?? {}), finishReason) }];
  });
  const text = content.map((each) => (each.type === "text" ? (each.text ?? "") : "")).join("");
  return {
    text: text === "" && toolCalls.length > 0 ? null : text,
    toolCalls,
    finishReason,
    usage: reported == null ? null : toUsage(reported),
    providerRequestId: requestIdOf(headers, "request-id"),
  };
}

/** An empty object is how every call begins: of an answer that was cut by its length it says nothing. */
function argumentsOf(input: string, finish: ChatFinishReason): string {
  return input === "{}" && finish === "length" ? "" : input;
}

/** Its input figure leaves out what was cached. */
function toUsage(reported: Usage): ChatUsage | null {
  const { input_tokens: fresh, output_tokens: output } = reported;
  const written = reported.cache_creation_input_tokens ?? 0;
  const read = reported.cache_read_input_tokens ?? 0;
  return usageOf(fresh == null ? undefined : fresh + written + read, output ?? undefined, read);
}

interface OpenCall {
  readonly index: number;
  /** The arguments that it had from the start. */
  readonly input: string;
  hasArguments: boolean;
}

export function anthropicEvents(): EventReader {
  const calls: OpenCall[] = [];
  /** The last call of each block on the wire. */
  const ofBlocks = new Map<number, OpenCall>();
  let counted: Usage = {};
  let finish: ChatFinishReason | null = null;

  function start(index: number, begun: z.infer<typeof block>): readonly ChatEvent[] {
    if (begun.type === "text") return textEvents(begun.text);
    if (begun.type !== "tool_use") return [];
    if (!begun.id || !begun.name) throw new ProviderError("bad_reply", { reason: "nameless_call" });
    if (calls.length >= MOST_PARTS) throw new ProviderError("bad_reply", { reason: "too_many_calls" });
    const call = { index: calls.length, input: writtenArguments(begun.input ?? {}), hasArguments: false };
    calls.push(call);
    ofBlocks.set(index, call);
    return [{ type: "tool_call", index: call.index, id: begun.id, name: begun.name, arguments: "" }];
  }

  function readFinish(reason: string): readonly ChatEvent[] {
    const reached = finishIn(FINISH, reason);
    finish = reached;
    return calls.flatMap(({ index, input, hasArguments }): readonly ChatEvent[] => {
      const rest = hasArguments ? "" : argumentsOf(input, reached);
      return rest === "" ? [] : [{ type: "tool_call", index, arguments: rest }];
    });
  }

  function usageEvents(reported: Usage | null | undefined, isFinal: boolean): readonly ChatEvent[] {
    // Later figures are totals, and may leave out those that have not changed.
    const given = Object.entries(reported ?? {}).filter(([, value]) => value != null);
    counted = { ...counted, ...Object.fromEntries(given) };
    const total = given.length === 0 ? null : toUsage(counted);
    return total === null ? [] : [{ type: "usage", usage: total, isFinal }];
  }

  return {
    read: (body) => {
      // Events of unknown types are to be ignored, says the protocol; `ping` and the two that end something say nothing new.
      if (!EVENT_TYPES.has(typeOf(body))) return [];
      const parsed = streamEvent.safeParse(body);
      if (!parsed.success) throw new ProviderError("bad_reply", { reason: "odd_shape" });
      const event = parsed.data;
      switch (event.type) {
        case "message_start":
          return usageEvents(event.message.usage, false);
        case "content_block_start":
          return start(event.index, event.content_block);
        case "content_block_delta": {
          const call = ofBlocks.get(event.index);
          if (event.delta.type === "text_delta") return textEvents(event.delta.text);
          if (event.delta.type !== "input_json_delta" || call === undefined || !event.delta.partial_json) return [];
          call.hasArguments = true;
          return [{ type: "tool_call", index: call.index, arguments: event.delta.partial_json }];
        }
        case "message_delta": {
          const { stop_reason: reason } = event.delta;
          const rest = reason == null || finish !== null ? [] : readFinish(reason);
          return [...rest, ...usageEvents(event.usage, true)];
        }
      }
    },
    finishReason: () => finish,
  };
}

function textEvents(text: string | undefined): readonly ChatEvent[] {
  return text === undefined || text === "" ? [] : [{ type: "text", text }];
}

function typeOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "type" in body ? body.type : undefined;
}
