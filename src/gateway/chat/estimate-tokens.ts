// Estimates the tokens of a chat, for its reservation and for its usage (marked) if the provider reports none [chat.usage-estimated]. Pure.
import { hasCombiner } from "../../providers/chat/tool-schema.ts";
import type { ChatLimits, ChatPart, ChatRequest, ChatResult } from "../../providers/chat/chat-provider.ts";

/** Prose has about 4 bytes a token, code and most other scripts about 3: at 3 an estimate is seldom too low. */
const BYTES_PER_TOKEN = 3;
/** Role marks and separators of one message, as OpenAI and Anthropic count them, rounded up. */
const TOKENS_PER_MESSAGE = 8;
/** The maximum of an image at Anthropic (4,784 since Opus 4.7) and, in patches, at OpenAI (3,779). The catalogue lists models that need more. */
const TOKENS_PER_IMAGE = 5_000;
/** Speech at 32 tokens a second in an mp3 of 64 kbit/s, the highest density that is common. A WAV is overestimated. */
const AUDIO_BYTES_PER_TOKEN = 250;

export function estimateInputTokens(request: ChatRequest, limits: ChatLimits = {}): number {
  let tokens = 0;
  for (const message of request.messages) {
    tokens += TOKENS_PER_MESSAGE;
    switch (message.role) {
      case "system":
      case "tool":
        tokens += estimateTextTokens(message.text);
        break;
      case "user":
        for (const part of message.parts) tokens += partTokens(part, limits);
        break;
      case "assistant":
        tokens += estimateTextTokens(message.text ?? "") + estimateTextTokens(message.reasoning?.text ?? "");
        for (const call of message.toolCalls) tokens += estimateTextTokens(call.name + call.arguments);
        break;
    }
  }
  if (request.tools.length > 0) tokens += estimateTextTokens(JSON.stringify(request.tools));
  // Some targets receive such a schema twice: merged, and unchanged in the description.
  for (const { parameters } of request.tools)
    if (hasCombiner(parameters)) tokens += estimateTextTokens(JSON.stringify(parameters));
  if (request.responseFormat.kind === "json_schema")
    tokens += estimateTextTokens(JSON.stringify(request.responseFormat.schema));
  return tokens;
}

function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** For an answer as far as it was received. */
export function estimateOutputTokens({ text, toolCalls }: Pick<ChatResult, "text" | "toolCalls">): number {
  return toolCalls.reduce(
    (sum, call) => sum + estimateTextTokens(call.name + call.arguments),
    estimateTextTokens(text ?? ""),
  );
}

function partTokens(part: ChatPart, { imageTokens = TOKENS_PER_IMAGE }: ChatLimits): number {
  switch (part.kind) {
    case "text":
      return estimateTextTokens(part.text);
    case "image":
      return imageTokens;
    case "audio":
      return Math.ceil((part.base64.length * 3) / 4 / AUDIO_BYTES_PER_TOKEN);
  }
}
