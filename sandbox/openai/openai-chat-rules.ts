// Validates OpenAI chat completion requests and parses what they request [providers.sandbox-refusals]: first unknown members and wrong types, then
// contradictions, then what the model does not support.
import type { z } from "zod";
import type { ChatAsked } from "../chat-simulate.ts";
import { audioFormatOf, imageTypeOf } from "../wire/media-content.ts";
import { type Message, type OpenAiChat, request } from "./openai-chat-request.ts";
import type { OpenAiFault } from "./openai-errors.ts";

export interface OpenAiChatModel {
  readonly maxOutput: number;
  readonly reasons: boolean;
  /** Empty: the model does not support the argument. */
  readonly efforts: readonly string[];
  readonly hears: boolean;
  /** Function tools need `reasoning_effort: "none"`, also where the argument is absent. */
  readonly needsNoneForTools: boolean;
}

export type OpenAiChatJudgement =
  | { readonly ok: true; readonly chat: OpenAiChat; readonly asked: ChatAsked }
  | { readonly ok: false; readonly fault: OpenAiFault };

export function judgeOpenAiChat(json: unknown, model: OpenAiChatModel): OpenAiChatJudgement {
  const parsed = request.safeParse(json);
  if (!parsed.success) return { ok: false, fault: faultOf(parsed.error) };
  const chat = parsed.data;
  const fault = findContradiction(chat) ?? findBrokenHistory(chat.messages) ?? findForModel(chat, model);
  return fault === null ? { ok: true, chat, asked: askedOf(chat) } : { ok: false, fault };
}

function faultOf(error: z.ZodError): OpenAiFault {
  const [issue] = error.issues;
  const param = (issue?.path ?? [])
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./u, "");
  if (issue?.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    return param === ""
      ? { message: `Unrecognized request argument supplied: ${key}` }
      : { message: `Unknown parameter: '${param}.${key}'.`, param: `${param}.${key}`, code: "unknown_parameter" };
  }
  if (issue?.code === "invalid_type" && /received undefined/u.test(issue.message))
    return { message: `Missing required parameter: '${param}'.`, param, code: "missing_required_parameter" };
  if (issue?.code === "invalid_type") {
    const article = /^[aeio]/u.test(issue.expected) ? "an" : "a";
    return {
      message: `Invalid type for '${param}': expected ${article} ${issue.expected}.`,
      param,
      code: "invalid_type",
    };
  }
  return { message: `Invalid value for '${param}': ${issue?.message ?? "invalid"}.`, param, code: "invalid_value" };
}

const invalid = (message: string, param: string | null = null, code: string | null = null): OpenAiFault => ({
  message,
  param,
  code,
});

function findContradiction(chat: OpenAiChat): OpenAiFault | null {
  if (chat.stream_options != null && chat.stream !== true)
    return invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  if (chat.tools === undefined && chat.tool_choice !== undefined && chat.tool_choice !== "none")
    return invalid(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      "tool_choice",
    );
  if (chat.tools === undefined && chat.parallel_tool_calls !== undefined)
    return invalid("'parallel_tool_calls' is only allowed when 'tools' are specified.", "parallel_tool_calls");
  const toolName = typeof chat.tool_choice === "object" ? chat.tool_choice.function.name : null;
  if (toolName !== null && !(chat.tools ?? []).some((tool) => tool.function.name === toolName))
    return invalid(`Tool choice 'function' not found in 'tools' parameter: ${toolName}.`, "tool_choice");
  for (const { function: tool } of chat.tools ?? [])
    if (["oneOf", "anyOf", "allOf", "enum", "const", "not"].some((keyword) => keyword in (tool.parameters ?? {})))
      return invalid(
        `Invalid schema for function '${tool.name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level.`,
        "tools",
        "invalid_function_parameters",
      );
  if (chat.max_tokens != null && chat.max_completion_tokens != null)
    return invalid(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      null,
      "invalid_parameter_combination",
    );
  const format = chat.response_format;
  if (format?.type === "json_object" && !/json/iu.test(chat.messages.map(textOf).join(" ")))
    return invalid(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      "messages",
    );
  if (format?.type === "json_schema" && format.json_schema.strict === true && !isStrict(format.json_schema.schema))
    return invalid(
      `Invalid schema for response_format '${format.json_schema.name}': In context=(), 'additionalProperties' is required to be supplied and to be false.`,
      "response_format",
    );
  return null;
}

const isStrict = (given: Readonly<Record<string, unknown>> | undefined): boolean =>
  given?.["type"] !== "object" || given["additionalProperties"] === false;

/** Every call must have a result before the next message, and every result a call. */
function findBrokenHistory(messages: readonly Message[]): OpenAiFault | null {
  let open = new Set<string>();
  for (const [index, each] of messages.entries()) {
    if (each.role === "tool") {
      if (!open.delete(each.tool_call_id))
        return invalid(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `messages.[${index}].role`,
        );
      continue;
    }
    if (open.size > 0) return unanswered(open);
    open = new Set(each.role === "assistant" ? (each.tool_calls ?? []).map((call) => call.id) : []);
  }
  return open.size > 0 ? unanswered(open) : null;
}

const unanswered = (ids: ReadonlySet<string>): OpenAiFault =>
  invalid(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].join(", ")}`,
    "messages",
  );

function findForModel(chat: OpenAiChat, model: OpenAiChatModel): OpenAiFault | null {
  if (model.needsNoneForTools && chat.tools !== undefined && chat.reasoning_effort !== "none")
    return invalid(
      `Function tools with reasoning_effort are not supported for ${chat.model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      "reasoning_effort",
    );
  const unsupported = (param: string, hint = ""): OpenAiFault =>
    invalid(
      `Unsupported parameter: '${param}' is not supported with this model.${hint}`,
      param,
      "unsupported_parameter",
    );
  if (model.reasons) {
    if (chat.max_tokens != null) return unsupported("max_tokens", " Use 'max_completion_tokens' instead.");
    for (const param of ["top_p", "stop", "frequency_penalty", "presence_penalty"] as const)
      if (chat[param] != null) return unsupported(param);
    if (chat.temperature != null && chat.temperature !== 1)
      return invalid(
        "Unsupported value: 'temperature' does not support a value other than 1 with this model. Only the default (1) value is supported.",
        "temperature",
        "unsupported_value",
      );
  }
  const effort = chat.reasoning_effort ?? null;
  if (effort !== null && model.efforts.length === 0)
    return invalid("Unrecognized request argument supplied: reasoning_effort");
  if (effort !== null && !model.efforts.includes(effort))
    return invalid(
      `Unsupported value: '${effort}' is not supported with this model. Supported values are: ${model.efforts.join(", ")}.`,
      "reasoning_effort",
      "unsupported_value",
    );
  const cap = chat.max_completion_tokens ?? chat.max_tokens ?? 0;
  if (cap > model.maxOutput)
    return invalid(
      `max_tokens is too large: ${cap}. This model supports at most ${model.maxOutput} completion tokens, whereas you provided ${cap}.`,
      "max_tokens",
      "invalid_value",
    );
  return findWrongMedia(chat.messages, model);
}

function findWrongMedia(messages: readonly Message[], model: OpenAiChatModel): OpenAiFault | null {
  for (const part of messages.flatMap(partsOf)) {
    if (part.type === "image_url") {
      const data = /^data:image\/[a-z]+;base64,(.*)$/su.exec(part.image_url.url)?.[1];
      if (data === undefined)
        return invalid("Invalid image URL: the sandbox fetches nothing.", "messages", "invalid_image_url");
      if (!["image/png", "image/jpeg", "image/gif", "image/webp"].includes(imageTypeOf(data) ?? ""))
        return invalid(
          "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
          "messages",
          "invalid_image_format",
        );
    }
    if (part.type === "input_audio") {
      if (!model.hears)
        return invalid(
          "Invalid value: 'input_audio' is not supported with this model.",
          "messages",
          "unsupported_value",
        );
      if (audioFormatOf(part.input_audio.data) !== part.input_audio.format)
        return invalid("The data provided for 'input_audio' is not of the given format.", "messages", "invalid_value");
    }
  }
  return null;
}

function partsOf({ content }: Message) {
  return typeof content === "string" || content == null ? [] : content;
}

function textOf(each: Message): string {
  if (typeof each.content === "string") return each.content;
  return partsOf(each)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join(" ");
}

function askedOf(chat: OpenAiChat): ChatAsked {
  const { messages, tool_choice: choice, response_format: format } = chat;
  const parts = messages.flatMap(partsOf);
  return {
    messages: messages.length,
    text: messages.map(textOf).join(" "),
    images: parts.filter((part) => part.type === "image_url").length,
    audios: parts.filter((part) => part.type === "input_audio").length,
    results: messages.filter((each) => each.role === "tool").length,
    endsWithResult: messages.at(-1)?.role === "tool",
    tools: (chat.tools ?? []).map((tool) => ({ name: tool.function.name, schema: tool.function.parameters ?? {} })),
    choice: typeof choice === "object" ? { kind: "tool", name: choice.function.name } : { kind: choice ?? "auto" },
    isParallel: chat.parallel_tool_calls !== false,
    format:
      format?.type === "json_schema"
        ? { kind: "schema", schema: format.json_schema.schema ?? {} }
        : { kind: format?.type === "json_object" ? "json" : "text" },
    maxTokens: chat.max_completion_tokens ?? chat.max_tokens ?? null,
    stop: typeof chat.stop === "string" ? [chat.stop] : (chat.stop ?? []),
  };
}
