// Schemas of the answer of a chat, whole and as the events of a stream.
import { errorBody } from "../error-body.ts";
import { purposeFields, warning } from "../transcription/transcription-envelope.ts";
import { toolCall } from "./chat-parts.ts";
import { z } from "zod";

const FINISH_REASONS = ["stop", "length", "tool_calls", "content_filter"] as const;
const tokens = z.int().min(0);
const REASONING = z
  .string()
  .describe(
    "Reasoning of the model, under the provider's name for it. Absent if there is none. Send it back with the history.",
  )
  .optional();

export const chatUsage = z.strictObject({
  input_tokens: tokens,
  output_tokens: tokens,
  total_tokens: tokens,
  cached_input_tokens: tokens.describe("Input tokens that the provider read from its cache."),
});

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
