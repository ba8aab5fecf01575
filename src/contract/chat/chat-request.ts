// Schemas of the fields of a chat request, each on its own; `checked-chat-fields.ts` adds the checks of fields against each other.
import { dataPolicyRequirement } from "../settings/data-policy.ts";
import { PROFILES, REASONING_EFFORTS, VERBOSITIES } from "../features.ts";
import { PURPOSE_LABEL, PURPOSE_POLICY } from "../transcription/transcription-fields.ts";
import { chatMessage, chatTool, chatToolChoice, chatResponseFormat } from "./chat-parts.ts";
import { z } from "zod";

const STOP = z.string().min(1).max(256);

export const MOST_MESSAGES = 10_000;

export const MOST_OUTPUT_TOKENS = 1_000_000;

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
  data_policy: dataPolicyRequirement
    .describe("What the provider must guarantee about the data; adds to what app, purpose and route require.")
    .optional(),
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
