// Built-in chat models, so that a text-only route can be configured without declaring them [providers.chat-catalogue]. Incomplete: other models of an account
// are declared under its connection's `models`. Checked 2026-11-20.
import type { ChatModel } from "./chat/chat-provider.ts";
import type { ProviderKind } from "./provider.ts";

const OPENAI: ChatModel = {
  features: [
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format.json_object",
    "response_format.json_schema",
    "image_parts",
  ],
  preferences: ["temperature", "top_p", "seed", "stop"],
  limits: {
    maxOutputTokens: 16_384,
    contextTokens: 128_000,
    maxStopSequences: 4,
    imageTypes: ["image/png", "image/jpeg", "image/webp", "image/gif"],
  },
};
const OPENAI_LONG: ChatModel = {
  ...OPENAI,
  limits: { ...OPENAI.limits, maxOutputTokens: 32_768, contextTokens: 1_047_576 },
};
/** Reasoning models accept no sampling parameters and no stop sequences. */
const OPENAI_REASONING: ChatModel = {
  ...OPENAI,
  preferences: ["seed", "reasoning_effort", "verbosity"],
  limits: {
    ...OPENAI.limits,
    maxOutputTokens: 128_000,
    contextTokens: 400_000,
    reasoningEfforts: ["minimal", "low", "medium", "high"],
  },
  quirks: ["developer_role"],
};
/** "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model", nor with later ones. */
const OPENAI_REASONING_5_4: ChatModel = {
  ...OPENAI_REASONING,
  limits: { ...OPENAI_REASONING.limits, reasoningEfforts: ["none", "low", "medium", "high", "xhigh"] },
};

/** No JSON mode without a schema, no audio, no seed. The highest temperature is 1. */
const ANTHROPIC: ChatModel = {
  features: ["tools", "tool_choice", "parallel_tool_calls", "response_format.json_schema", "image_parts"],
  preferences: ["temperature", "top_p", "stop"],
  limits: {
    maxOutputTokens: 64_000,
    contextTokens: 200_000,
    maxTemperature: 1,
    imageTypes: ["image/png", "image/jpeg", "image/webp", "image/gif"],
  },
  rivals: [["temperature", "top_p"]],
};
/** From 4.6 on, a conversation must end with the user. */
const ANTHROPIC_4_6: ChatModel = { ...ANTHROPIC, quirks: ["no_prefill"] };
/** After Opus 4.6 any temperature but 1 is refused. */
const ANTHROPIC_UNSAMPLED: ChatModel = {
  ...ANTHROPIC_4_6,
  preferences: ["stop"],
  limits: { ...ANTHROPIC.limits, maxOutputTokens: 128_000 },
};

/** May call several tools at once: no parameter forbids it. */
const GEMINI: ChatModel = {
  features: [
    "tools",
    "tool_choice",
    "response_format.json_object",
    "response_format.json_schema",
    "image_parts",
    "audio_parts",
  ],
  preferences: ["temperature", "top_p", "seed", "stop"],
  limits: {
    maxOutputTokens: 65_536,
    contextTokens: 1_048_576,
    maxStopSequences: 5,
    imageTypes: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
  },
};
/** Before version 3, "Function calling with a response mime type: 'application/json' is unsupported". */
const GEMINI_2: ChatModel = {
  ...GEMINI,
  excludes: [
    ["tools", "response_format.json_object"],
    ["tools", "response_format.json_schema"],
  ],
};
const GEMINI_3: ChatModel = { ...GEMINI, quirks: ["signed_tool_calls"] };

export const CHAT_MODELS: Readonly<Partial<Record<ProviderKind, Readonly<Record<string, ChatModel>>>>> = {
  openai: {
    "gpt-4o": OPENAI,
    // 2,833 plus 5,667 for each of at most eight tiles: its token price is a fraction of the others', but an image costs the same.
    "gpt-4o-mini": { ...OPENAI, limits: { ...OPENAI.limits, imageTokens: 48_169 } },
    "gpt-4.1": OPENAI_LONG,
    "gpt-4.1-mini": OPENAI_LONG,
    "gpt-4.1-nano": OPENAI_LONG,
    "gpt-5": OPENAI_REASONING,
    "gpt-5-mini": OPENAI_REASONING,
    "gpt-5-nano": OPENAI_REASONING,
    "gpt-5.4": OPENAI_REASONING_5_4,
    "gpt-5.4-mini": OPENAI_REASONING_5_4,
    "gpt-5.4-nano": OPENAI_REASONING_5_4,
    "gpt-5.5": OPENAI_REASONING_5_4,
  },
  anthropic: {
    "claude-opus-4-5": ANTHROPIC,
    "claude-opus-4-6": { ...ANTHROPIC_4_6, limits: { ...ANTHROPIC.limits, maxOutputTokens: 128_000 } },
    "claude-opus-4-8": ANTHROPIC_UNSAMPLED,
    "claude-opus-5": ANTHROPIC_UNSAMPLED,
    "claude-opus-5-5": ANTHROPIC_UNSAMPLED,
    "claude-sonnet-4-5": ANTHROPIC,
    "claude-sonnet-4-6": ANTHROPIC_4_6,
    "claude-sonnet-5": ANTHROPIC_UNSAMPLED,
    "claude-haiku-4-5": ANTHROPIC,
  },
  gemini: {
    "gemini-2.5-pro": GEMINI_2,
    "gemini-2.5-flash": GEMINI_2,
    "gemini-3.1-pro-preview": GEMINI_3,
    "gemini-3.5-flash": GEMINI_3,
    "gemini-3.5-flash-lite": GEMINI_3,
    "gemini-3.6-flash": GEMINI_3,
    "gemini-3.8-flash": GEMINI_3,
  },
};
