// Parses Anthropic's chat replies, whole and streamed.
import { z } from "zod";
import type { ChatEvent, ChatFinishReason, ChatResult, ChatUsage } from "../chat/chat-provider.ts";
import { answeredBy, modelField } from "../answered-model.ts";
import { MOST_PARTS, partsOf, tokens, uniqueCallId, usageOf, writtenArguments } from "../chat/chat-values.ts";
import type { EventReader } from "../wire/chat-wire.ts";
import {
  type ChatEnding,
  createFinishTracker,
  endingOf,
  finishFields,
  hasReason,
  UNNAMED_ENDING,
} from "../chat/finish-reasons.ts";
import { ProviderError } from "../io.ts";
import { type JsonReply, requestIdOf } from "../wire/read-reply.ts";

const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
});
type Usage = z.infer<typeof usage>;

/** Blocks of kinds that are not requested, above all thinking, are ignored. */
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

export function readAnthropicAnswer({ body, headers }: JsonReply): ChatResult {
  const parsed = reply.safeParse(body);
  if (!parsed.success) throw new ProviderError("bad_reply", { reason: "odd_shape" });
  const { content, stop_reason: reason, usage: reported } = parsed.data;
  if (!hasReason(reason)) throw new ProviderError("bad_reply", { reason: "no_finish" });
  const text = content.map((each) => (each.type === "text" ? (each.text ?? "") : "")).join("");
  const hasCalls = content.some((each) => each.type === "tool_use");
  const ending = endingFor(reason, text !== "" || hasCalls, hasCalls);
  const ids = new Set<string>();
  const toolCalls = content.flatMap((each) => {
    if (each.type !== "tool_use") return [];
    if (!each.id || !each.name) throw new ProviderError("bad_reply", { reason: "nameless_call" });
    const written = argumentsOf(writtenArguments(each.input ?? {}), ending.reason);
    return [{ id: uniqueCallId(ids, each.id), name: each.name, arguments: written }];
  });
  return {
    text: text === "" && toolCalls.length > 0 ? null : text,
    toolCalls,
    ...finishFields(ending),
    usage: reported == null ? null : toUsage(reported),
    providerRequestId: requestIdOf(headers, "request-id"),
    ...answeredBy(modelField(body, "model")),
  };
}

/** `pause_turn` belongs to server-side tools, which are never requested, so it is an unknown finish reason. */
function endingFor(reason: string | null, hasContent: boolean, hasCalls: boolean): ChatEnding {
  const ending = reason === null ? UNNAMED_ENDING : endingOf(reason, hasContent);
  return ending.isUnknown && hasCalls ? { ...ending, reason: "tool_calls" } : ending;
}

/** Every call begins as an empty object, so in an answer truncated by its length it proves nothing. */
function argumentsOf(input: string, finish: ChatFinishReason): string {
  return input === "{}" && finish === "length" ? "" : input;
}

/** Anthropic's input tokens do not include cached ones. */
function toUsage(reported: Usage): ChatUsage | null {
  const { input_tokens: fresh, output_tokens: output } = reported;
  const written = reported.cache_creation_input_tokens ?? 0;
  const cached = reported.cache_read_input_tokens ?? 0;
  return usageOf(fresh == null ? undefined : fresh + written + cached, output ?? undefined, cached);
}

interface OpenCall {
  readonly index: number;
  /** Arguments in the block's first event. */
  readonly input: string;
  hasArguments: boolean;
}

export function anthropicEvents(): EventReader {
  const calls: OpenCall[] = [];
  /** The last call of each block index on the wire. */
  const ofBlocks = new Map<number, OpenCall>();
  let usageTotals: Usage = {};
  const ids = new Set<string>();
  const finish = createFinishTracker();
  let hasStopped = false;

  function start(index: number, content: z.infer<typeof block>): readonly ChatEvent[] {
    if (content.type === "text") return readText(content.text);
    if (content.type !== "tool_use") return [];
    if (!content.id || !content.name) throw new ProviderError("bad_reply", { reason: "nameless_call" });
    if (calls.length >= MOST_PARTS) throw new ProviderError("bad_reply", { reason: "too_many_calls" });
    const call = { index: calls.length, input: writtenArguments(content.input ?? {}), hasArguments: false };
    calls.push(call);
    ofBlocks.set(index, call);
    finish.content();
    const id = uniqueCallId(ids, content.id);
    return [{ type: "tool_call", index: call.index, id, name: content.name, arguments: "" }];
  }

  function readText(text: string | undefined): readonly ChatEvent[] {
    if (text === undefined || text === "") return [];
    finish.content();
    return [{ type: "text", text }];
  }

  /** A whole message in reply to a streaming request. */
  function readWhole(body: unknown): readonly ChatEvent[] {
    const { text, toolCalls, usage: counts } = readAnthropicAnswer({ body, headers: {} });
    const textEvents = readText(text ?? undefined);
    const pieces = toolCalls.map((call): ChatEvent => {
      const index = calls.length;
      calls.push({ index, input: call.arguments, hasArguments: true });
      finish.content();
      return { type: "tool_call", index, ...call };
    });
    finish.reason(reply.parse(body).stop_reason);
    return [
      ...textEvents,
      ...pieces,
      ...(counts === null ? [] : [{ type: "usage", usage: counts, isFinal: true } as const]),
    ];
  }

  function rest(finish: ChatFinishReason): readonly ChatEvent[] {
    return calls.flatMap(({ index, input, hasArguments }): readonly ChatEvent[] => {
      const written = hasArguments ? "" : argumentsOf(input, finish);
      return written === "" ? [] : [{ type: "tool_call", index, arguments: written }];
    });
  }

  function usageEvents(reported: Usage | null | undefined, isFinal: boolean): readonly ChatEvent[] {
    // Later figures are totals, and may omit those that have not changed.
    const figures = Object.entries(reported ?? {}).filter(([, value]) => value != null);
    usageTotals = { ...usageTotals, ...Object.fromEntries(figures) };
    const total = figures.length === 0 ? null : toUsage(usageTotals);
    return total === null ? [] : [{ type: "usage", usage: total, isFinal }];
  }

  return {
    read: (body) => {
      if (typeOf(body) === "message") return readWhole(body);
      hasStopped ||= typeOf(body) === "message_stop";
      // The protocol says that unknown event types are to be ignored. `ping` and the ends of blocks contain nothing new.
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
          if (event.delta.type === "text_delta") return readText(event.delta.text);
          if (event.delta.type !== "input_json_delta" || call === undefined || !event.delta.partial_json) return [];
          call.hasArguments = true;
          return [{ type: "tool_call", index: call.index, arguments: event.delta.partial_json }];
        }
        case "message_delta": {
          const { stop_reason: reason } = event.delta;
          finish.reason(reason);
          return usageEvents(event.usage, true);
        }
      }
    },
    modelIn: (body) => modelField(typeOf(body) === "message_start" ? messageIn(body) : body, "model"),
    isOver: () => finish.isOver(),
    end: (isMarked) => {
      const reason = finish.last();
      if (reason === null && !((isMarked || hasStopped) && finish.hasContent())) return null;
      const ending = endingFor(reason, finish.hasContent(), calls.length > 0);
      return { ending, rest: rest(ending.reason) };
    },
  };
}

function messageIn(body: unknown): unknown {
  return typeof body === "object" && body !== null && "message" in body ? body.message : undefined;
}

function typeOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "type" in body ? body.type : undefined;
}
