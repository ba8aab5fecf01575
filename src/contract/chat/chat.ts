// The public chat API: request fields, the routed answer, and the events of its stream.
import { z } from "zod";
import { assistantHistory, cacheControl, callHistory, emptyText, nullText } from "./chat-history.ts";
import { PROFILES, REASONING_EFFORTS, VERBOSITIES } from "../features.ts";
import { errorBody } from "../error-body.ts";
import { PURPOSE_LABEL, PURPOSE_POLICY, purposeFields, warning } from "../transcription.ts";

const TOOL_NAME = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/u, "1 to 64 letters, digits, _ or -");
/** Descriptions of ten thousand characters occur in practice; the limit of the whole body bounds the rest. */
const DESCRIPTION = z.string().max(65_536);
/** A JSON object that only the provider interprets: a schema, or arguments that match one. */
const jsonObject = z.record(z.string(), z.unknown());

export const textPart = z.strictObject({ type: z.literal("text"), text: z.string(), ...cacheControl });
export const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({
    url: z
      .string()
      .refine(
        isImageUrl,
        "must be a data: URL of a png, jpeg, webp or gif image in base64; other URLs are not accepted",
      )
      .describe("A `data:` URL. Other URLs are neither fetched nor forwarded."),
    detail: z
      .enum(["auto", "low", "high", "original"])
      .describe("Level of detail; a preference. `original` is sent as `high`.")
      .nullish(),
  }),
  ...cacheControl,
});
export const audioPart = z.strictObject({
  type: z.literal("input_audio"),
  input_audio: z.strictObject({
    data: z.string().refine(isBase64, "must be base64").describe("Base64 audio."),
    format: z.enum(["wav", "mp3"]),
  }),
  ...cacheControl,
});
const texts = z.union([z.string(), z.array(textPart).min(1)]);
const textContent = z.preprocess(emptyText, texts);
const userContent = z.preprocess(
  emptyText,
  z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, imagePart, audioPart])).min(1)], {
    error: "must be text, or a list of text, image_url and input_audio parts; video is not supported",
  }),
);

export const toolCall = z.strictObject({
  id: z.string(),
  name: z.string(),
  arguments: z.string().describe("JSON text as the model wrote it."),
});
export type ToolCall = z.infer<typeof toolCall>;

/** Opaque: ids of some providers carry a signature that they require back. */
const CALL_ID = z.string().min(1).max(65_536);

/** Some clients send an empty list for none; an answer of this gateway without calls contains one. */
const noneForEmpty = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? null : value);

/** A call of the assistant sent back in Patchbay's format. */
export const ownToolCall = z.strictObject({ id: CALL_ID, name: TOOL_NAME, arguments: z.string(), ...callHistory });
const calledFunction = z.strictObject({ name: TOOL_NAME, arguments: z.string() });
/** The same in OpenAI's format. */
export const openAiToolCall = z.strictObject({
  id: CALL_ID,
  type: z.literal("function"),
  function: calledFunction,
  ...callHistory,
});

export const toolCallsOf = <T extends z.ZodType>(call: T) =>
  z.preprocess(noneForEmpty, z.array(call).min(1).max(128).nullish());

export const chatMessage = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: textContent, ...cacheControl }),
  z.strictObject({ role: z.literal("user"), content: userContent, ...cacheControl }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.preprocess(emptyText, texts.nullish()),
    tool_calls: toolCallsOf(z.union([ownToolCall, openAiToolCall])),
    ...assistantHistory,
  }),
  z.strictObject({
    role: z.literal("tool"),
    tool_call_id: CALL_ID,
    content: z.preprocess(nullText, z.string()).describe("Null and an empty list count as an empty text."),
    ...cacheControl,
  }),
]);
export type ChatMessage = z.infer<typeof chatMessage>;

export const chatTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: TOOL_NAME,
    description: DESCRIPTION.nullish(),
    parameters: jsonObject.nullish().describe("JSON Schema of the arguments."),
    strict: z.boolean().nullish(),
  }),
  ...cacheControl,
});

export const chatToolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: TOOL_NAME }) }),
]);

export const chatResponseFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: TOOL_NAME,
      description: DESCRIPTION.nullish(),
      schema: jsonObject,
      strict: z.boolean().nullish(),
    }),
  }),
]);

export const MOST_MESSAGES = 10_000;
export const MOST_OUTPUT_TOKENS = 1_000_000;

const STOP = z.string().min(1).max(256);

/** The body of `POST /v1/chat`. `model` and `provider` are refused by name before it is validated. */
export const uncheckedChatFields = z.strictObject({
  messages: z.array(chatMessage).min(1).max(MOST_MESSAGES).describe("The conversation so far, oldest first."),
  max_tokens: z
    .int()
    .min(1)
    .max(MOST_OUTPUT_TOKENS)
    .describe("Maximum tokens of the answer; at most the model's limit.")
    .optional(),
  temperature: z.number().min(0).max(2).describe("Sampling temperature; a preference.").optional(),
  top_p: z.number().min(0).max(1).describe("Nucleus sampling; a preference.").optional(),
  seed: z.int().describe("For reproducible answers, as far as the model supports it; a preference.").optional(),
  stop: z
    .union([STOP, z.array(STOP).min(1).max(4)])
    .describe("Texts at which the answer stops; a preference.")
    .optional(),
  stream: z.boolean().describe("Send the answer as server-sent events while it is generated.").optional(),
  tools: z.array(chatTool).min(1).max(128).describe("Functions the model may call.").optional(),
  tool_choice: chatToolChoice.describe("Whether a tool must be called, and which.").optional(),
  parallel_tool_calls: z.boolean().describe("Whether one answer may contain several tool calls.").optional(),
  response_format: chatResponseFormat
    .describe("Plain text, any JSON object, or JSON that matches a schema.")
    .optional(),
  purpose: PURPOSE_LABEL.describe("Routing label; see `purposes` in `GET /v1/me`.").optional(),
  purpose_policy: PURPOSE_POLICY.describe("No effect on chat, where an unusable purpose always falls back.").optional(),
  response_profile: z.enum(PROFILES).describe("Effort that the route spends.").optional(),
  dry_run: z
    .boolean()
    .describe(
      "Check everything up to the call and return the routing decision. No provider is called and nothing is billed.",
    )
    .optional(),
});

export type ChatRequest = z.infer<typeof uncheckedChatFields>;

export const uncheckedClientChatFields = uncheckedChatFields.extend({
  reasoning_effort: z
    .enum(REASONING_EFFORTS)
    .describe("Reasoning effort; a preference. The route's setting takes precedence.")
    .optional(),
  verbosity: z
    .enum(VERBOSITIES)
    .describe("Verbosity of the answer; a preference. The route's setting takes precedence.")
    .optional(),
});

export type ChatFields = z.infer<typeof uncheckedClientChatFields>;

const FINISH_REASONS = ["stop", "length", "tool_calls", "content_filter"] as const;

const tokens = z.int().min(0);

export const chatUsage = z.strictObject({
  input_tokens: tokens,
  output_tokens: tokens,
  total_tokens: tokens,
  cached_input_tokens: tokens.describe("Input tokens that the provider read from its cache."),
});

const REASONING = z
  .string()
  .describe(
    "Reasoning of the model, under the provider's name for it. Absent if there is none. Send it back with the history.",
  )
  .optional();

/** The answer of `POST /v1/chat`. All keys are always present, except for the reasoning. */
export const chatAnswer = z.strictObject({
  id: z.string(),
  object: z.literal("chat"),
  created_at: z.string(),
  status: z.literal("completed"),
  content: z.string().nullable().describe("Null only if the answer consists of tool calls."),
  finish_reason: z.enum(FINISH_REASONS),
  tool_calls: z.array(toolCall),
  reasoning_content: REASONING,
  reasoning: REASONING,
  usage: chatUsage,
  warnings: z.array(warning),
  ...purposeFields.shape,
});
export type ChatAnswer = z.infer<typeof chatAnswer>;

/** The stream's events by name. Nothing is sent before the provider's first content, and `error` ends a broken stream. */
export const CHAT_EVENTS = {
  "chat.started": z.strictObject({ id: z.string(), created_at: z.string() }),
  "chat.delta": z.strictObject({ content: z.string() }),
  "chat.tool_call.delta": z.strictObject({
    index: z.int().min(0),
    id: z.string().optional(),
    name: z.string().optional(),
    arguments: z.string(),
  }),
  "chat.completed": chatAnswer,
  error: errorBody,
} as const;
export type ChatEventName = keyof typeof CHAT_EVENTS;
export type ChatEventData<Name extends ChatEventName> = z.infer<(typeof CHAT_EVENTS)[Name]>;
export type ChatStreamEvent = {
  [Name in ChatEventName]: { readonly event: Name; readonly data: ChatEventData<Name> };
}[ChatEventName];

/** `image/jpg` was never registered, but is common. */
function isImageUrl(url: string): boolean {
  const comma = url.indexOf(",");
  return /^data:image\/(?:png|jpe?g|webp|gif);base64$/iu.test(url.slice(0, comma)) && isBase64(url.slice(comma + 1));
}

/** Searches for an invalid character: a pattern for the whole text would backtrack over 20 MB. */
function isBase64(text: string): boolean {
  const end = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
  return end > 0 && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/u.test(text.slice(0, end));
}
