// The adapter of Anthropic's Messages API: POST /v1/messages (platform.claude.com and the types of its SDK, checked 2026-11-20).
import { z } from "zod";
import type { ChatDropped, ChatFeature, ChatLack } from "../../contract/features.ts";
import { accountProbe, modelsIn } from "../account-probe.ts";
import { isSameModel, MODEL_NAMES } from "../answered-model.ts";
import { anthropicEvents, readAnthropicAnswer } from "./anthropic-chat-reply.ts";
import {
  droppedDetail,
  ignoredHistory,
  outputCap,
  samplingOf,
  unmetChatFeatures,
} from "../chat/unmet-chat-features.ts";
import { ANTHROPIC_CHAT_MODELS } from "./anthropic-chat-models.ts";
import type {
  ChatPlanResult,
  ChatProvider,
  ChatRequest,
  ChatTarget,
  ChatTextPart,
  ChatTool,
  JsonSchema,
} from "../chat/chat-provider.ts";
import { blocksOf, textBlocks, trimmedEnd } from "./anthropic-blocks.ts";
import { type CacheMarks, createCacheMarks } from "./anthropic-cache-marks.ts";
import { type Conversation, conversationOf, isBlank } from "../chat/chat-turns.ts";
import { sendChat, streamChat } from "../wire/chat-wire.ts";
import { closedSchema } from "../chat/closed-schema.ts";
import { ANTHROPIC_COMBINERS, type FittedTools, fitTools } from "../chat/tool-schema.ts";

const settings = z.strictObject({
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]).describe("Effort spent on the answer.").optional(),
  service_tier: z.enum(["auto", "standard_only"]).describe("Processing class of the account.").optional(),
});

/** Settings were validated with the configuration. Invalid ones are ignored here. */
const readSettings = settings.strip().catch({});

export const anthropicChat: ChatProvider = {
  kind: "anthropic",
  models: ANTHROPIC_CHAT_MODELS,
  // The API requires a maximum. Every model since 2024 supports this one.
  unknownModel: { features: [], preferences: ["stop"], limits: { maxOutputTokens: 8_192 } },
  defaultBaseUrl: "https://api.anthropic.com",
  settings,
  plan: planAnthropic,
  isSameModel: ({ model }, answered) => isSameModel(MODEL_NAMES.anthropic, model, answered),
  chat: async (plan, io) => readAnthropicAnswer(await sendChat(plan, io, authentication(io.credential))),
  stream: (plan, io) =>
    streamChat(plan, io, {
      headers: authentication(io.credential),
      requestIdHeader: "request-id",
      reader: anthropicEvents(),
    }),
};

/** Version 2026-10-21 accepts no temperature from any model. This version is still supported. */
const VERSION = "2023-06-01";

function authentication(credential: string | null): Readonly<Record<string, string>> {
  return { "anthropic-version": VERSION, ...(credential === null ? {} : { "x-api-key": credential }) };
}

const modelPage = z.object({ data: z.array(z.unknown()), has_more: z.boolean().nullish() });

/** One page contains 1,000. Snapshots are listed by dated name, and can also be called without the date. */
export const anthropicProbe = accountProbe({
  path: "/v1/models",
  query: [["limit", "1000"]],
  headers: authentication,
  listsModels: true,
  read: (body) => {
    const page = modelPage.safeParse(body).data;
    if (page === undefined) return undefined;
    const models = modelsIn(
      page.data,
      ({ id }) => id,
      (id) => /^(.+)-\d{8}$/u.exec(id)?.[1] ?? null,
    );
    return { models, isWhole: page.has_more !== true };
  },
});

const NO_WORD = { seed: "none here" };

function planAnthropic(request: ChatRequest, target: ChatTarget): ChatPlanResult {
  const schema = outputSchema(request);
  const fitted = fitTools(request.tools, ANTHROPIC_COMBINERS);
  const missing = unmetChatFeatures(request, target.chat, (feature) => canSend(feature, schema, fitted));
  const cap = outputCap(request, target.chat);
  const { instructions, instructed, turns } = conversationOf(request.messages);
  const isPrefilled = turns.at(-1)?.speaker === "assistant";
  const lacks: ChatLack[] = [...missing];
  if (cap === null) lacks.push("max_tokens");
  if (isPrefilled && target.chat.quirks?.includes("no_prefill") === true) lacks.push("assistant_prefill");
  if (lacks.length > 0) return { ok: false, missing: lacks };
  // "each stop sequence must contain non-whitespace": blank ones are dropped.
  const stops = request.stop.filter((sequence) => !isBlank(sequence));
  const sampling = samplingOf({ ...request, stop: stops }, target.chat, NO_WORD);
  const { temperature, topP, stop } = sampling;
  const dropped = new Set<ChatDropped>([...sampling.dropped, ...droppedDetail(request)]);
  if (stops.length < request.stop.length) dropped.add("stop");
  const marks = createCacheMarks(request);
  const times = new Map<string, number>();
  const { effort, service_tier: serviceTier } = readSettings.parse(target.settings);
  const tools = request.tools.length > 0 ? fitted.tools.map((tool) => wireTool(tool, marks)) : pastTools(request);
  const choice = request.tools.length > 0 ? wireChoice(request) : tools.length > 0 ? { type: "none" } : null;
  const output = {
    ...(effort === undefined ? {} : { effort }),
    ...(schema === null ? {} : { format: { type: "json_schema", schema } }),
  };
  const body = {
    model: target.model,
    max_tokens: cap,
    ...(instructions === null ? {} : { system: marks === null ? instructions : wireInstructions(instructed, marks) }),
    messages: turns.map(({ speaker, messages }, index) => {
      const content = messages.flatMap((message) => blocksOf(message, times, marks));
      return { role: speaker, content: isPrefilled && index === turns.length - 1 ? trimmedEnd(content) : content };
    }),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(stop.length === 0 ? {} : { stop_sequences: stop }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice === null ? {} : { tool_choice: choice }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    ...(request.stream ? { stream: true } : {}),
  };
  return {
    ok: true,
    plan: { path: "/v1/messages", query: [], headers: {}, body },
    dropped: [...dropped],
    ...ignoredHistory(request, ["cache_control"]),
    ...(fitted.rewritten.length === 0 ? {} : { rewrittenTools: fitted.rewritten }),
  };
}

/** Null: no JSON schema is requested, or one that this API cannot enforce. */
function outputSchema({ responseFormat }: ChatRequest): JsonSchema | null {
  return responseFormat.kind === "json_schema" ? closedSchema(responseFormat.schema) : null;
}

/** The API has no JSON mode without a schema, no open schemas and no audio input. */
function canSend(feature: ChatFeature, schema: JsonSchema | null, { isLossy }: FittedTools): boolean {
  if (feature === "tools") return !isLossy;
  if (feature === "response_format.json_schema") return schema !== null;
  return feature !== "response_format.json_object" && feature !== "audio_parts";
}

/**
 * "Requests which include `tool_use` or `tool_result` blocks must define tools": a conversation that had tools and continues without them declares those it
 * called, and forbids further calls.
 */
function pastTools({ messages }: ChatRequest): readonly object[] {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  return [...new Set(calls.map((call) => call.name))].map((name) => ({ name, input_schema: { type: "object" } }));
}

function wireChoice({ toolChoice, parallelToolCalls }: ChatRequest): object | null {
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  switch (toolChoice?.kind) {
    case undefined:
      return Object.keys(single).length === 0 ? null : { type: "auto", ...single };
    case "none":
      return { type: "none" };
    case "auto":
      return { type: "auto", ...single };
    case "required":
      return { type: "any", ...single };
    case "tool":
      return { type: "tool", name: toolChoice.name, ...single };
  }
}

function wireInstructions(instructed: Conversation["instructed"], marks: CacheMarks): readonly object[] {
  return instructed.flatMap(({ text, parts }) =>
    (parts ?? [{ text }]).flatMap((part: Pick<ChatTextPart, "text" | "cache">) =>
      textBlocks(part.text, marks, part.cache),
    ),
  );
}

function wireTool({ name, description, parameters, strict, cache }: ChatTool, marks: CacheMarks | null): object {
  return {
    name,
    ...(description === null ? {} : { description }),
    // "input_schema.type: Field required".
    input_schema: parameters === null ? { type: "object", properties: {} } : { type: "object", ...parameters },
    ...(strict === null ? {} : { strict }),
    ...marks?.(cache),
  };
}
