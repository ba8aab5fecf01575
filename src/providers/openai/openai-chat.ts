// The adapter of OpenAI's chat completions: POST /chat/completions, used by OpenAI itself and by compatible servers (platform.openai.com and the servers'
// documentation, checked 2026-11-20).
import { z } from "zod";
import { isSameModel, MODEL_NAMES } from "../answered-model.ts";
import { ignoredHistory, outputCap, samplingOf, unmetChatFeatures } from "../chat/unmet-chat-features.ts";
import { OPENAI_CHAT_MODELS } from "./openai-chat-models.ts";
import { splitSignedId } from "../../contract/chat/tool-call-signature.ts";
import { REASONING_EFFORTS } from "../../contract/features.ts";
import type {
  ChatMessage,
  ChatModel,
  ChatPart,
  ChatPlan,
  ChatPlanResult,
  ChatProvider,
  ChatRequest,
  ChatResponseFormat,
  ChatTarget,
  ChatTool,
  ChatToolChoice,
} from "../chat/chat-provider.ts";
import { fittingId } from "../chat/chat-values.ts";
import { sendChat, streamChat } from "../wire/chat-wire.ts";
import { openAiEvents, readOpenAiAnswer } from "./openai-chat-reply.ts";
import { type ChatDialect, COMPATIBLE, DIALECTS, OPENAI } from "./openai-chat-dialects.ts";
import { keptHistory, signatureFor } from "./openai-history.ts";
import { fitTools } from "../chat/tool-schema.ts";

const openAiSettings = z.strictObject({
  reasoning_effort: z.enum(REASONING_EFFORTS).describe("How long a reasoning model may think.").optional(),
  verbosity: z.enum(["low", "medium", "high"]).describe("Verbosity of the answer.").optional(),
  store: z.boolean().describe("Whether OpenAI stores completions (default: the account's setting).").optional(),
  service_tier: z.enum(["auto", "default", "flex", "priority"]).describe("Processing class of the account.").optional(),
});

/** Settings were validated with the configuration. Invalid ones are ignored here. */
const readSettings = openAiSettings.strip().catch({});
/** Keyed by the settings object, which a target keeps as long as its route does not change. */
const settingsRead = new WeakMap<object, z.infer<typeof openAiSettings>>();

const compatibleSettings = z.strictObject({
  dialect: z.enum(Object.keys(DIALECTS)).describe("Server software (default: `openai`).").optional(),
  reasoning_effort: openAiSettings.shape.reasoning_effort,
  answers_as: z
    .string()
    .min(1)
    .max(200)
    .describe("Name of the model in the server's answers, if it is another one, such as behind a deployment of Azure.")
    .optional(),
});

const UNDECLARED: ChatModel = { features: [], preferences: ["temperature", "top_p", "seed", "stop"], limits: {} };

const wire: Pick<ChatProvider, "chat" | "stream"> = {
  chat: async (plan, io) => readOpenAiAnswer(await sendChat(plan, io, authorization(io.credential)), modelOf(plan)),
  stream: (plan, io) =>
    streamChat(plan, io, {
      headers: authorization(io.credential),
      requestIdHeader: "x-request-id",
      reader: openAiEvents(modelOf(plan)),
    }),
};

function modelOf({ body }: ChatPlan): string {
  return String(body["model"]);
}

export const openaiChat: ChatProvider = {
  kind: "openai",
  models: OPENAI_CHAT_MODELS,
  unknownModel: UNDECLARED,
  defaultBaseUrl: "https://api.openai.com/v1",
  settings: openAiSettings,
  plan: (request, target) => planChat(request, target, OPENAI),
  isSameModel: ({ model }, answered) => isSameModel(MODEL_NAMES.openai, model, answered),
  ...wire,
};

export const openaiCompatibleChat: ChatProvider = {
  kind: "openai-compatible",
  models: {},
  unknownModel: UNDECLARED,
  defaultBaseUrl: null,
  settings: compatibleSettings,
  plan: (request, target) => planChat(request, target, dialectOf(target)),
  isSameModel: (target, answered) => {
    const { answers_as: name } = target.settings;
    return isSameModel(dialectOf(target).modelNames, typeof name === "string" ? name : target.model, answered);
  },
  ...wire,
};

/** Some models accept function tools only without reasoning, whatever the target is set to and the caller asks for. */
function settingsFor({ tools }: ChatRequest, target: ChatTarget): z.infer<typeof openAiSettings> {
  const settings = settingsOf(target);
  const isUnreasoned = tools.length > 0 && target.chat.quirks?.includes("tools_without_reasoning") === true;
  return isUnreasoned ? { ...settings, reasoning_effort: "none" } : settings;
}

function settingsOf({ settings }: ChatTarget): z.infer<typeof openAiSettings> {
  const cached = settingsRead.get(settings);
  if (cached !== undefined) return cached;
  const parsed = readSettings.parse(settings);
  settingsRead.set(settings, parsed);
  return parsed;
}

/** An invalid dialect falls back to the protocol as published. */
function dialectOf({ settings }: Pick<ChatTarget, "settings">): ChatDialect {
  const name = typeof settings["dialect"] === "string" ? settings["dialect"] : "openai";
  return (Object.hasOwn(DIALECTS, name) ? DIALECTS[name] : undefined) ?? COMPATIBLE;
}

function authorization(credential: string | null): Readonly<Record<string, string>> {
  return credential === null ? {} : { authorization: `Bearer ${credential}` };
}

function planChat(request: ChatRequest, target: ChatTarget, dialect: ChatDialect): ChatPlanResult {
  const fitted = fitTools(request.tools, dialect.refusedCombiners);
  const missing = unmetChatFeatures(request, target.chat, (feature) => feature !== "tools" || !fitted.isLossy);
  if (missing.length > 0) return { ok: false, missing };
  const settings = settingsFor(request, target);
  const sampling = samplingOf(request, target.chat, settings);
  const { dropped, temperature, topP, seed, stop, reasoningEffort, verbosity } = sampling;
  const { toolChoice, parallelToolCalls, responseFormat } = request;
  const { tools, rewritten } = fitted;
  const cap = outputCap(request, target.chat);
  const takesParallel = target.chat.features.includes("parallel_tool_calls");
  const body: Record<string, unknown> = {
    model: target.model,
    messages: request.messages.map((message) => wireMessage(message, target, dialect)),
  };
  if (cap !== null) body[dialect.outputCapField] = cap;
  if (temperature !== null) body["temperature"] = temperature;
  if (topP !== null) body["top_p"] = topP;
  if (seed !== null) body[dialect.seedField] = seed;
  if (stop.length > 0) body["stop"] = stop;
  if (tools.length > 0) body["tools"] = tools.map(wireTool);
  if (toolChoice !== null) body["tool_choice"] = wireChoice(toolChoice, dialect);
  if (parallelToolCalls !== null && takesParallel) body["parallel_tool_calls"] = parallelToolCalls;
  if (responseFormat.kind !== "text") body["response_format"] = wireFormat(responseFormat);
  if (reasoningEffort !== null) body["reasoning_effort"] = reasoningEffort;
  if (verbosity !== null) body["verbosity"] = verbosity;
  Object.assign(body, settings);
  if (request.stream) body["stream"] = true;
  if (request.stream && dialect.asksForUsage) body["stream_options"] = { include_usage: true };
  const plan = { path: "/chat/completions", query: [], headers: {}, body };
  const rewrittenTools = rewritten.length === 0 ? {} : { rewrittenTools: rewritten };
  return {
    ok: true,
    plan,
    dropped,
    ...ignoredHistory(request, keptHistory(request, target, dialect)),
    ...rewrittenTools,
  };
}

function wireMessage(message: ChatMessage, target: ChatTarget, dialect: ChatDialect): object {
  const { toolCallIds, history } = dialect;
  switch (message.role) {
    case "system":
      return { role: target.chat.quirks?.includes("developer_role") ? "developer" : "system", content: message.text };
    case "user":
      return { role: "user", content: wireContent(message.parts) };
    case "assistant": {
      const { reasoning } = message;
      return {
        role: "assistant",
        // Content is null only next to calls.
        content: message.toolCalls.length === 0 ? (message.text ?? "") : message.text,
        ...(reasoning !== undefined && history.includes(reasoning.field) ? { [reasoning.field]: reasoning.text } : {}),
        ...(message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: message.toolCalls.map((call) => ({
                id: wireId(call.id, toolCallIds),
                type: "function",
                function: { name: call.name, arguments: call.arguments },
                ...signatureFor(call, target, dialect),
              })),
            }),
      };
    }
    case "tool":
      return { role: "tool", tool_call_id: wireId(message.toolCallId, toolCallIds), content: message.text };
  }
}

function wireId(id: string, shape: ChatDialect["toolCallIds"]): string {
  return fittingId(splitSignedId(id).id, shape);
}

/** Plain text is sent as a string, because some servers of this protocol support nothing else. */
function wireContent(parts: readonly ChatPart[]): string | readonly object[] {
  const [first, ...rest] = parts;
  return first?.kind === "text" && rest.length === 0 ? first.text : parts.map(wirePart);
}

function wirePart(part: ChatPart): object {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "image": {
      const url = `data:${part.mediaType};base64,${part.base64}`;
      return { type: "image_url", image_url: { url, ...(part.detail === undefined ? {} : { detail: part.detail }) } };
    }
    case "audio":
      return { type: "input_audio", input_audio: { data: part.base64, format: part.format } };
  }
}

function wireTool({ name, description, parameters, strict }: ChatTool): object {
  return {
    type: "function",
    function: {
      name,
      ...(description === null ? {} : { description }),
      ...(parameters === null ? {} : { parameters }),
      ...(strict === null ? {} : { strict }),
    },
  };
}

function wireChoice(choice: ChatToolChoice, dialect: ChatDialect): string | object {
  if (choice.kind === "tool") return { type: "function", function: { name: choice.name } };
  return choice.kind === "required" ? dialect.toolChoiceRequired : choice.kind;
}

function wireFormat(format: ChatResponseFormat): object {
  if (format.kind !== "json_schema") return { type: format.kind };
  const { name, description, schema, strict } = format;
  return {
    type: "json_schema",
    json_schema: {
      name,
      ...(description === null ? {} : { description }),
      schema,
      ...(strict === null ? {} : { strict }),
    },
  };
}
