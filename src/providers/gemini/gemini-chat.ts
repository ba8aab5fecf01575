// The adapter of Gemini's generateContent and streamGenerateContent (ai.google.dev and the types of its SDK, checked 2026-11-20).
import { z } from "zod";
import { splitSignedId } from "../../contract/chat/tool-call-signature.ts";
import type { ChatFeature } from "../../contract/features.ts";
import { accountProbe, modelsIn } from "../account-probe.ts";
import { isSameModel, MODEL_NAMES } from "../answered-model.ts";
import {
  droppedDetail,
  ignoredHistory,
  outputCap,
  samplingOf,
  unmetChatFeatures,
} from "../chat/unmet-chat-features.ts";
import { GEMINI_CHAT_MODELS } from "./gemini-chat-models.ts";
import type {
  ChatMessage,
  ChatModel,
  ChatPart,
  ChatPlanResult,
  ChatProvider,
  ChatRequest,
  ChatTarget,
  ChatTool,
  ChatToolCall,
} from "../chat/chat-provider.ts";
import { conversationOf } from "../chat/chat-turns.ts";
import { argumentsObject, objectOrNull } from "../chat/chat-values.ts";
import { sendChat, streamChat } from "../wire/chat-wire.ts";
import { geminiEvents, readGeminiAnswer } from "./gemini-chat-reply.ts";

const settings = z.strictObject({
  thinking_level: z
    .enum(["minimal", "low", "medium", "high"])
    .describe("How long the model may think, from Gemini 3 on.")
    .optional(),
  thinking_budget: z.int().min(-1).describe("Thinking tokens, before Gemini 3; -1: dynamic.").optional(),
});

/** Settings were validated with the configuration. Invalid ones are ignored here. */
const readSettings = settings.strip().catch({});

export const geminiChat: ChatProvider = {
  kind: "gemini",
  models: GEMINI_CHAT_MODELS,
  unknownModel: { features: [], preferences: ["temperature", "top_p", "seed", "stop"], limits: {} },
  defaultBaseUrl: "https://generativelanguage.googleapis.com",
  settings,
  plan: planGemini,
  isSameModel: ({ model }, answered) => isSameModel(MODEL_NAMES.gemini, model, answered),
  chat: async (plan, io) => readGeminiAnswer(await sendChat(plan, io, authentication(io.credential))),
  stream: (plan, io) =>
    streamChat(plan, io, {
      headers: authentication(io.credential),
      requestIdHeader: null,
      reader: geminiEvents(),
    }),
};

function authentication(credential: string | null): Readonly<Record<string, string>> {
  return credential === null ? {} : { "x-goog-api-key": credential };
}

const modelPage = z.object({ models: z.array(z.unknown()), nextPageToken: z.string().nullish() });

/** Lists models for chat and for speech. One page contains 1,000, and names are paths. */
export const geminiProbe = accountProbe({
  path: "/v1beta/models",
  query: [["pageSize", "1000"]],
  headers: authentication,
  listsModels: true,
  read: (body) => {
    const page = modelPage.safeParse(body).data;
    if (page === undefined) return undefined;
    const models = modelsIn(page.models, ({ name }) =>
      typeof name === "string" ? name.replace(/^models\//u, "") : null,
    );
    return { models, isWhole: !page.nextPageToken };
  },
});

function planGemini(request: ChatRequest, target: ChatTarget): ChatPlanResult {
  const missing = unmetChatFeatures(request, target.chat, (feature) => canSend(feature, request));
  if (missing.length > 0) return { ok: false, missing };
  const { dropped, ...sampling } = samplingOf(request, target.chat, isSeed(request.seed) ? {} : { seed: request.seed });
  const { instructions, turns } = conversationOf(request.messages);
  const names = new Map<string, string>();
  const toolConfig = wireChoice(request);
  const generationConfig = {
    ...outputConfig(request, target.chat),
    ...(sampling.temperature === null ? {} : { temperature: sampling.temperature }),
    ...(sampling.topP === null ? {} : { topP: sampling.topP }),
    ...(sampling.seed === null ? {} : { seed: sampling.seed }),
    ...(sampling.stop.length === 0 ? {} : { stopSequences: sampling.stop }),
    ...thinkingConfig(target),
  };
  const body = {
    ...(instructions === null ? {} : { systemInstruction: { parts: [{ text: instructions }] } }),
    contents: turns.map(({ speaker, messages }) => ({
      role: speaker === "assistant" ? "model" : "user",
      parts: messages.flatMap((message) => partsOf(message, names, target.chat)),
    })),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...(request.tools.length === 0 ? {} : { tools: [{ functionDeclarations: request.tools.map(wireTool) }] }),
    ...(toolConfig === null ? {} : { toolConfig }),
  };
  const method = request.stream ? "streamGenerateContent" : "generateContent";
  return {
    ok: true,
    plan: {
      path: `/v1beta/models/${encodeURIComponent(target.model)}:${method}`,
      query: request.stream ? [["alt", "sse"]] : [],
      headers: {},
      body,
    },
    dropped: [...dropped, ...droppedDetail(request)],
    ...ignoredHistory(request, isSignedByField(request) ? ["extra_content", "provider_specific_fields"] : []),
  };
}

/** Parallel calls cannot be forbidden, and a function's name "must start with a letter or an underscore". */
function canSend(feature: ChatFeature, { tools }: ChatRequest): boolean {
  if (feature === "tools") return tools.every(({ name }) => /^[A-Za-z_]/u.test(name));
  return feature !== "parallel_tool_calls";
}

/** A seed is an int32 there. */
function isSeed(seed: number | null): boolean {
  return seed === null || (seed >= -(2 ** 31) && seed < 2 ** 31);
}

function outputConfig(request: ChatRequest, model: ChatModel): object {
  const cap = outputCap(request, model);
  const { responseFormat } = request;
  return {
    ...(cap === null ? {} : { maxOutputTokens: cap }),
    ...(responseFormat.kind === "text" ? {} : { responseMimeType: "application/json" }),
    ...(responseFormat.kind === "json_schema" ? { responseJsonSchema: responseFormat.schema } : {}),
  };
}

function thinkingConfig(target: ChatTarget): object {
  const { thinking_level: level, thinking_budget: budget } = readSettings.parse(target.settings);
  if (level !== undefined) return { thinkingConfig: { thinkingLevel: level.toUpperCase() } };
  return budget === undefined ? {} : { thinkingConfig: { thinkingBudget: budget } };
}

function wireChoice({ tools, toolChoice }: ChatRequest): object | null {
  const config = (mode: string, more: object = {}): object => ({ functionCallingConfig: { mode, ...more } });
  const isStrict = tools.some((tool) => tool.strict === true);
  switch (toolChoice?.kind) {
    case undefined:
      return isStrict ? config("VALIDATED") : null;
    case "auto":
      // Calls or text, with calls validated against their schema.
      return config(isStrict ? "VALIDATED" : "AUTO");
    case "none":
      return config("NONE");
    case "required":
      return config("ANY");
    case "tool":
      return config("ANY", { allowedFunctionNames: [toolChoice.name] });
  }
}

function wireTool({ name, description, parameters }: ChatTool): object {
  return {
    name,
    ...(description === null ? {} : { description }),
    ...(parameters === null ? {} : { parametersJsonSchema: parameters }),
  };
}

function isSignedByField({ messages }: ChatRequest): boolean {
  return messages.some(
    (each) => each.role === "assistant" && each.toolCalls.some((call) => call.signature !== undefined),
  );
}

/** The documented placeholder for a missing signature, for calls that another model made. */
const FOREIGN_SIGNATURE = "skip_thought_signature_validator";

/**
 * `names` maps each id to its last function name: a result must name its function, which callers send only with the call, and servers that number their calls
 * restart in each answer.
 */
function partsOf(
  message: Exclude<ChatMessage, { readonly role: "system" }>,
  names: Map<string, string>,
  model: ChatModel,
): readonly object[] {
  switch (message.role) {
    case "user":
      return message.parts.flatMap(wirePart);
    case "assistant": {
      // Of several parallel calls only the first is signed, and it must be.
      const isSigned = message.toolCalls.some((call) => signatureOf(call) !== null);
      const needsSignature = !isSigned && model.quirks?.includes("signed_tool_calls") === true;
      return [
        ...textParts(message.text ?? ""),
        ...message.toolCalls.map((call, index) => {
          names.set(call.id, call.name);
          const { id } = splitSignedId(call.id);
          const thoughtSignature = signatureOf(call) ?? (needsSignature && index === 0 ? FOREIGN_SIGNATURE : null);
          return {
            functionCall: { id, name: call.name, args: argumentsObject(call.arguments) },
            ...(thoughtSignature === null ? {} : { thoughtSignature }),
          };
        }),
      ];
    }
    case "tool": {
      const { id } = splitSignedId(message.toolCallId);
      const name = names.get(message.toolCallId) ?? id;
      return [{ functionResponse: { id, name, response: objectOrNull(message.text) ?? { result: message.text } } }];
    }
  }
}

function signatureOf({ id, signature }: ChatToolCall): string | null {
  return splitSignedId(id).signature ?? signature ?? null;
}

const AUDIO_TYPES = { wav: "audio/wav", mp3: "audio/mp3" } as const;

function wirePart(part: ChatPart): readonly object[] {
  switch (part.kind) {
    case "text":
      return textParts(part.text);
    case "image":
      return [{ inlineData: { mimeType: part.mediaType, data: part.base64 } }];
    case "audio":
      return [{ inlineData: { mimeType: AUDIO_TYPES[part.format], data: part.base64 } }];
  }
}

function textParts(text: string): readonly object[] {
  return text === "" ? [] : [{ text }];
}
