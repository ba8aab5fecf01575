// Maps the finish reasons of every chat protocol, and of servers with their own words, to the four of this API.
import { ownProperty } from "../../lib/json/own-property.ts";
import type { ChatFinishReason, ChatResult } from "./chat-provider.ts";
import { ProviderError } from "../io.ts";

/** How an answer ended. `isUnknown`: the provider's finish reason is unknown, or it sent only its end mark. */
export interface ChatEnding {
  readonly reason: ChatFinishReason;
  readonly isUnknown: boolean;
}

/** For a complete answer without a finish reason. */
export const UNNAMED_ENDING: ChatEnding = { reason: "stop", isUnknown: true };

/** The ending as fields of a result. */
export function finishFields({ reason, isUnknown }: ChatEnding): Pick<ChatResult, "finishReason" | "isFinishUnknown"> {
  return isUnknown ? { finishReason: reason, isFinishUnknown: true } : { finishReason: reason };
}

/** The server itself reports an incomplete answer. */
const FAILED = "failed";

/** In lower case. The words mean the same everywhere, so that one table covers all protocols. */
const FINISH_REASONS: Readonly<Record<string, ChatFinishReason | typeof FAILED>> = {
  ...mapWords("stop", [
    "stop",
    "stopped",
    "end",
    "done",
    "eos",
    "eos_token",
    "end_turn",
    "stop_sequence",
    "stop_token",
  ]),
  // Cohere, Baidu, llama.cpp's own endpoint.
  ...mapWords("stop", ["complete", "completed", "normal", "word"]),
  ...mapWords("length", [
    "length",
    "max_tokens",
    "max_output_tokens",
    "max_length",
    "token_limit",
    "limit",
    "incomplete",
  ]),
  // Mistral, Anthropic and GLM, Cohere.
  ...mapWords("length", ["model_length", "model_context_window_exceeded", "context_length_exceeded", "error_limit"]),
  ...mapWords("tool_calls", ["tool_calls", "tool_call", "tool_use", "function_call", "tool-calls"]),
  ...mapWords("content_filter", ["content_filter", "content-filter", "content_filtered", "refusal", "sensitive"]),
  // Bedrock, Cohere.
  ...mapWords("content_filter", ["guardrail_intervened", "error_toxic"]),
  // Gemini.
  ...mapWords("content_filter", ["safety", "recitation", "blocklist", "prohibited_content", "spii"]),
  ...mapWords("content_filter", ["image_safety", "image_recitation", "image_prohibited_content"]),
  ...mapWords(FAILED, ["error", "abort", "aborted", "cancelled", "canceled", "user_cancel", "timeout", "failed"]),
  // DeepSeek, GLM.
  ...mapWords(FAILED, ["insufficient_system_resource", "network_error"]),
};

function mapWords<Meaning>(meaning: Meaning, words: readonly string[]): Readonly<Record<string, Meaning>> {
  return Object.fromEntries(words.map((word) => [word, meaning]));
}

/** DashScope sends `"null"` while the answer continues. */
export function hasReason(reason: string | null | undefined): reason is string {
  return reason != null && reason !== "" && reason !== "null";
}

/** `hasContent`: without content, an unknown finish reason is no proof of an answer. */
export function endingOf(reason: string, hasContent: boolean): ChatEnding {
  const meaning = ownProperty(FINISH_REASONS, reason) ?? ownProperty(FINISH_REASONS, plainWord(reason));
  if (meaning === FAILED || (meaning === undefined && !hasContent))
    throw new ProviderError("bad_reply", { reason: "odd_finish" });
  return meaning === undefined ? UNNAMED_ENDING : { reason: meaning, isUnknown: false };
}

/** Google's compatible endpoint adds a cause: `content_filter: PROHIBITED_CONTENT`. */
function plainWord(reason: string): string {
  return (reason.split(":", 1)[0] ?? "").trim().toLowerCase();
}

/** Tracks content and finish reasons of a streamed answer. */
export interface FinishTracker {
  content(): void;
  reason(reason: string | null | undefined): void;
  hasContent(): boolean;
  /** The finish reason after the last content. Null: none yet. */
  last(): string | null;
  /** Some servers set a finish reason in every chunk: if content followed one, no finish reason proves a complete answer. */
  isOver(): boolean;
}

export function createFinishTracker(): FinishTracker {
  let last: string | null = null;
  let hasContent = false;
  let hasContentBehind = false;
  let isReplaceable = true;
  return {
    content: () => {
      hasContent = true;
      hasContentBehind ||= last !== null;
      isReplaceable = true;
    },
    reason: (reason) => {
      if (!hasReason(reason) || !isReplaceable) return;
      last = reason;
      isReplaceable = false;
    },
    hasContent: () => hasContent,
    last: () => last,
    isOver: () => last !== null && !hasContentBehind,
  };
}
