// Simulates `POST /v1/chat/completions` of OpenAI and of compatible servers.
import { randomUUID } from "node:crypto";
import { inPieces, type SimulatedChat, simulateChat } from "../chat-simulate.ts";
import { findWrongKey } from "./openai-audio.ts";
import type { OpenAiChat } from "./openai-chat-request.ts";
import { judgeOpenAiChat, type OpenAiChatModel } from "./openai-chat-rules.ts";
import {
  decommissioned,
  openAiError,
  openAiErrorForStatus,
  type OpenAiFault,
  openAiHeaders,
  shutDown,
} from "./openai-errors.ts";
import { isRetired } from "../retired-models.ts";
import {
  type Alteration,
  type EventBody,
  jsonAnswer,
  modelInBody,
  type Wire,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

const MAX_BODY_BYTES = 52_428_800;
/** The one model name that a compatible server does not have. */
const NOT_SERVED = "not-installed";

/** Servers other than OpenAI: compatible ones, and Mistral, whose field names differ. */
export const CHAT_DIALECTS = ["openai", "vllm", "groq", "mistral"] as const;
type ChatDialect = (typeof CHAT_DIALECTS)[number];

/** `null`: OpenAI itself. */
export function openAiChatWire(dialect: ChatDialect | null): Wire {
  return {
    name: dialect === null ? "openai" : "compatible",
    body: "json",
    modelOf: ({ json }) => modelInBody(json),
    maxBodyBytes: MAX_BODY_BYTES,
    errorFor: (status, requestId) =>
      status === 400
        ? openAiError(400, { message: "The request could not be processed.", code: "invalid_value" }, requestId)
        : openAiErrorForStatus(status, requestId),
    answer: async (input, alteration) => answer(dialect, input, alteration),
  };
}

function answer(dialect: ChatDialect | null, input: WireInput, alteration: Alteration): WireAnswer {
  const { requestId } = input;
  const refuse = (status: number, fault: OpenAiFault): WireAnswer => openAiError(status, fault, requestId);
  const keyFault = findWrongKey(input.headers.authorization, dialect !== null);
  if (keyFault !== null) return refuse(401, keyFault);
  if (input.defect === "too_large") return refuse(413, { message: "Request too large.", type: "server_error" });
  if (typeof input.json !== "object" || input.json === null)
    return refuse(400, { message: "We could not parse the JSON body of your request." });
  const modelName = modelInBody(input.json);
  if (modelName === "") return refuse(400, { message: "you must provide a model parameter" });
  const model = dialect === null ? openAiModel(modelName) : modelName === NOT_SERVED ? null : COMPATIBLE_MODEL;
  if (model === null)
    return refuse(404, {
      message: `The model \`${modelName}\` does not exist or you do not have access to it.`,
      code: "model_not_found",
    });
  if (dialect === null && isRetired("openai", modelName, input.nowMs)) return refuse(404, shutDown(modelName));
  if (dialect === "groq" && isRetired("groq", modelName, input.nowMs)) return refuse(400, decommissioned(modelName));
  const parsed = dialect === "mistral" ? fromMistral(input.json) : { ok: true as const, json: input.json };
  if (!parsed.ok)
    return jsonAnswer(422, {
      detail: [{ type: "extra_forbidden", loc: ["body", parsed.field], msg: "Extra inputs are not permitted" }],
    });
  const verdict = judgeOpenAiChat(parsed.json, model);
  if (!verdict.ok) return refuse(400, verdict.fault);
  if (dialect === "mistral" && verdict.chat.messages.at(-1)?.role === "assistant")
    return refuse(400, {
      message: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    });
  const simulated = simulateChat(verdict.asked, alteration);
  const chat = { ...verdict.chat, model: alteration.otherModel ?? verdict.chat.model };
  return chat.stream === true
    ? streamed(chat, simulated, requestId)
    : jsonAnswer(200, buildCompletion(chat, simulated), openAiHeaders(requestId));
}

const COMPATIBLE_MODEL: OpenAiChatModel = {
  maxOutput: 131_072,
  reasons: false,
  efforts: [],
  hears: true,
  needsNoneForTools: false,
};

function openAiModel(name: string): OpenAiChatModel | null {
  if (!/^(?:gpt-|o\d|chatgpt-|simulated-chat$)/u.test(name) || /transcribe|tts|realtime|image/u.test(name)) return null;
  const reasons = /^(?:o\d|gpt-[56])/u.test(name);
  const hears = /audio/u.test(name) || name === "simulated-chat";
  const maxOutput = reasons ? 128_000 : name.startsWith("gpt-4.1") ? 32_768 : 16_384;
  // gpt-5.6 and later: "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
  const needsNoneForTools = /^gpt-(?:5\.6|6)/u.test(name);
  return { maxOutput, reasons, efforts: effortsOf(name), hears, needsNoneForTools };
}

/** "xhigh is supported for all models after gpt-5.1-codex-max", "before gpt-5.1 do not support none". */
function effortsOf(name: string): readonly string[] {
  if (name === "simulated-chat") return ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
  if (/^gpt-6(?:\.1-sol|\.2|-astra)/u.test(name)) return ["low", "medium", "high", "xhigh", "max"];
  if (/^gpt-(?:5\.6|6)/u.test(name)) return ["none", "low", "medium", "high", "xhigh", "max"];
  if (name.startsWith("gpt-5.1")) return ["none", "low", "medium", "high"];
  if (name.startsWith("gpt-5.")) return ["none", "low", "medium", "high", "xhigh"];
  if (name.startsWith("gpt-5")) return ["minimal", "low", "medium", "high"];
  return /^o\d/u.test(name) ? ["low", "medium", "high"] : [];
}

const FINISH = { stop: "stop", length: "length", calls: "tool_calls", withheld: "content_filter" } as const;

const headOf = (chat: OpenAiChat) => ({
  id: `chatcmpl-${randomUUID().replaceAll("-", "")}`,
  created: Math.floor(Date.now() / 1000),
  model: chat.model,
  service_tier: "default",
  system_fingerprint: "fp_sandbox",
});

function callsOf({ calls }: SimulatedChat) {
  return calls.map(({ name, args }) => ({
    id: `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
}

/** OpenAI ends a call that was forced by name with `stop`. */
const finishOf = (chat: OpenAiChat, { finish }: SimulatedChat): string =>
  finish === "calls" && typeof chat.tool_choice === "object" ? "stop" : FINISH[finish];

const usageOf = ({ usage }: SimulatedChat) =>
  usage === null
    ? undefined
    : {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      };

function buildCompletion(chat: OpenAiChat, simulated: SimulatedChat): object {
  const toolCalls = callsOf(simulated);
  return {
    ...headOf(chat),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: toolCalls.length > 0 ? null : simulated.pieces.join(""),
          refusal: null,
          annotations: [],
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
        },
        logprobs: null,
        finish_reason: finishOf(chat, simulated),
      },
    ],
    usage: usageOf(simulated),
  };
}

function streamed(chat: OpenAiChat, simulated: SimulatedChat, requestId: string): WireAnswer {
  const head = { ...headOf(chat), object: "chat.completion.chunk" };
  const hasUsage = chat.stream_options?.include_usage === true && simulated.usage !== null;
  const event = (body: object): string => `data: ${JSON.stringify({ ...head, ...body })}\n\n`;
  const chunk = (delta: object, finish: string | null = null): string =>
    event({
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(hasUsage ? { usage: null } : {}),
    });
  const toolCalls = callsOf(simulated);
  const callStarts = toolCalls.map(({ id, type, function: { name } }, index) =>
    chunk({ tool_calls: [{ index, id, type, function: { name, arguments: "" } }] }),
  );
  const callPieces = toolCalls.flatMap((call, index) =>
    inPieces(call.function.arguments).map((piece) =>
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
    ),
  );
  const contents = [...simulated.pieces.map((content) => chunk({ content })), ...callStarts, ...callPieces];
  const body: EventBody = {
    head: [chunk({ role: "assistant", content: toolCalls.length > 0 ? null : "", refusal: null })],
    contents,
    end: [
      chunk({}, finishOf(chat, simulated)),
      ...(hasUsage ? [event({ choices: [], usage: usageOf(simulated) })] : []),
      "data: [DONE]\n\n",
    ],
    failure: `data: ${JSON.stringify({ error: { message: "The server had an error while processing your request. Sorry about that!", type: "server_error", param: null, code: null } })}\n\n`,
  };
  return {
    status: 200,
    headers: { ...openAiHeaders(requestId), "content-type": "text/event-stream; charset=utf-8" },
    body,
  };
}

/** Converts Mistral's request to OpenAI's field names. Mistral refuses unknown fields, and its ids have nine characters. */
function fromMistral(
  given: object,
): { readonly ok: true; readonly json: object } | { readonly ok: false; readonly field: string } {
  const foreign = ["seed", "stream_options", "max_completion_tokens"].find((field) => field in given);
  if (foreign !== undefined) return { ok: false, field: foreign };
  const {
    random_seed: seed,
    tool_choice: choice,
    ...rest
  } = { random_seed: undefined, tool_choice: undefined, ...given };
  if (choice === "required") return { ok: false, field: "tool_choice" };
  const longId = /"(?:tool_call_id|id)":"(?![A-Za-z0-9]{9}")/u.test(JSON.stringify(rest));
  if (longId) return { ok: false, field: "tool_call_id" };
  return {
    ok: true,
    json: {
      ...rest,
      ...(seed === undefined ? {} : { seed }),
      ...(choice === undefined ? {} : { tool_choice: choice === "any" ? "required" : choice }),
      // Every stream contains usage by default.
      ...("stream" in rest && rest.stream === true ? { stream_options: { include_usage: true } } : {}),
    },
  };
}
