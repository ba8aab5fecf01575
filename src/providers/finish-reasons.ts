// Finish reasons of every chat protocol and of the servers that speak one in their own words, mapped to the four of our answer.
import { ownMember } from "../lib/json/own-member.ts";
import type { ChatFinishReason, ChatResult } from "./chat-provider.ts";
import { ProviderError } from "./io.ts";

/** How an answer ended. `isUnknown`: the provider's word for it is in no table, or it gave none with its end mark. */
export interface ChatEnding {
  readonly reason: ChatFinishReason;
  readonly isUnknown: boolean;
}

/** For an answer that is whole and does not say why it ended. */
export const UNNAMED_ENDING: ChatEnding = { reason: "stop", isUnknown: true };

/** As fields of a whole answer. */
export function finishFields({ reason, isUnknown }: ChatEnding): Pick<ChatResult, "finishReason" | "isFinishUnknown"> {
  return isUnknown ? { finishReason: reason, isFinishUnknown: true } : { finishReason: reason };
}

/** The server says itself that the answer is not whole. */
const FAILED = "failed";

/** In lower case. Words that mean the same everywhere, so one table serves all protocols. */
const FINISH_REASONS: Readonly<Record<string, ChatFinishReason | typeof FAILED>> = {
  ...named("stop", ["stop", "stopped", "end", "done", "eos", "eos_token", "end_turn", "stop_sequence", "stop_token"]),
  // Cohere, Baidu, llama.cpp's own endpoint.
  ...named("stop", ["complete", "completed", "normal", "word"]),
  ...named("length", ["length", "max_tokens", "max_output_tokens", "max_length", "token_limit", "limit", "incomplete"]),
  // Mistral, Anthropic and GLM, Cohere.
  ...named("length", ["model_length", "model_context_window_exceeded", "context_length_exceeded", "error_limit"]),
  ...named("tool_calls", ["tool_calls", "tool_call", "tool_use", "function_call", "tool-calls"]),
  ...named("content_filter", ["content_filter", "content-filter", "content_filtered", "refusal", "sensitive"]),
  // Bedrock, Cohere.
  ...named("content_filter", ["guardrail_intervened", "error_toxic"]),
  // Gemini.
  ...named("content_filter", ["safety", "recitation", "blocklist", "prohibited_content", "spii"]),
  ...named("content_filter", ["image_safety", "image_recitation", "image_prohibited_content"]),
  ...named(FAILED, ["error", "abort", "aborted", "cancelled", "canceled", "user_cancel", "timeout", "failed"]),
  // DeepSeek, GLM.
  ...named(FAILED, ["insufficient_system_resource", "network_error"]),
};

function named<Meaning>(meaning: Meaning, words: readonly string[]): Readonly<Record<string, Meaning>> {
  return Object.fromEntries(words.map((word) => [word, meaning]));
}

/** DashScope writes `"null"` as long as the answer goes on. */
export function hasReason(reason: string | null | undefined): reason is string {
  return reason != null && reason !== "" && reason !== "null";
}

/** `hasContent`: without any, an ending that no table has proves no answer. */
export function endingOf(reason: string, hasContent: boolean): ChatEnding {
  const known = ownMember(FINISH_REASONS, reason) ?? ownMember(FINISH_REASONS, plainWord(reason));
  if (known === FAILED || (known === undefined && !hasContent))
    throw new ProviderError("bad_reply", { reason: "odd_finish" });
  return known === undefined ? UNNAMED_ENDING : { reason: known, isUnknown: false };
}

/** Google's compatible endpoint adds a cause: `content_filter: PROHIBITED_CONTENT`. */
function plainWord(reason: string): string {
  return (reason.split(":", 1)[0] ?? "").trim().toLowerCase();
}

/** Follows content and finish reasons of a streamed answer. */
export interface FinishTracker {
  content(): void;
  reason(reason: string | null | undefined): void;
  hasContent(): boolean;
  /** Of the content that came last; null: none so far. */
  last(): string | null;
  /** Some servers give every chunk a finish reason: once content came behind one, none proves that the answer is whole. */
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
