// Anthropic's chat models, as data: capabilities on the Messages API, and life. "Legacy" models work without an announced end.
import type { CataloguedChatModel, ChatModel } from "../chat/chat-provider.ts";
import { chatSuccessor } from "../chat/chat-successor.ts";
import type { ModelLife } from "../model-life.ts";

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** No JSON mode without a schema, no audio, no seed. The highest temperature is 1. */
const CLAUDE_4_5: ChatModel = {
  features: ["tools", "tool_choice", "parallel_tool_calls", "response_format.json_schema", "image_parts"],
  preferences: ["temperature", "top_p", "stop"],
  limits: {
    maxOutputTokens: 64_000,
    contextTokens: 200_000,
    maxTemperature: 1,
    imageTypes: IMAGE_TYPES,
  },
  rivals: [["temperature", "top_p"]],
};
/** From 4.6 on, a conversation must end with the user. */
const CLAUDE_4_6: ChatModel = {
  ...CLAUDE_4_5,
  limits: { ...CLAUDE_4_5.limits, contextTokens: 1_000_000 },
  quirks: ["no_prefill"],
};
/** After Opus 4.6 any temperature but 1 is refused. */
const UNSAMPLED: ChatModel = {
  ...CLAUDE_4_6,
  preferences: ["stop"],
  limits: { ...CLAUDE_4_6.limits, maxOutputTokens: 128_000 },
};
/** "Forced tool use returns an error" (platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5). */
const UNFORCED: ChatModel = {
  ...UNSAMPLED,
  features: UNSAMPLED.features.filter((feature) => feature !== "tool_choice"),
};

/** The list of deprecated models in the package has no entry for a model with this life. */
const PACKAGE: ModelLife = {
  verifiedOn: "2026-11-24",
  source: "npm @anthropic-ai/sdk 1.14.0, src/internal/data/deprecated-models.ts",
};
const page = (name: string): string => `https://platform.claude.com/docs/en/models/${name}/overview`;
/** `note`: what is second-hand or unverified. */
const lifeOf = (name: string, note = ""): ModelLife => ({
  ...PACKAGE,
  source: `${PACKAGE.source}; ${page(name)}${note === "" ? "" : ` (${note})`}`,
});

export const ANTHROPIC_CHAT_MODELS: Readonly<Record<string, CataloguedChatModel>> = {
  "claude-opus-4-5": {
    ...CLAUDE_4_5,
    life: {
      ...lifeOf("opus-4-5", "successor unverified; date of deprecation is that of package 1.13.0"),
      deprecatedOn: "2026-11-23",
      endsOn: { date: "2027-01-22", evidence: "vendor" },
      replacedBy: [chatSuccessor("claude-opus-5-5", CLAUDE_4_5, UNFORCED)],
    },
  },
  "claude-opus-4-6": {
    ...CLAUDE_4_6,
    limits: { ...CLAUDE_4_6.limits, maxOutputTokens: 128_000 },
    life: { ...lifeOf("opus-4-6"), replacedBy: [chatSuccessor("claude-opus-5-5", CLAUDE_4_6, UNFORCED)] },
  },
  "claude-opus-4-8": {
    ...UNSAMPLED,
    life: { ...lifeOf("opus-4-8"), replacedBy: [chatSuccessor("claude-opus-5-5", UNSAMPLED, UNFORCED)] },
  },
  "claude-opus-5": {
    ...UNSAMPLED,
    life: { ...lifeOf("opus-5"), replacedBy: [chatSuccessor("claude-opus-5-5", UNSAMPLED, UNFORCED)] },
  },
  "claude-opus-5-5": { ...UNFORCED, life: lifeOf("opus-5-5") },
  "claude-sonnet-4-5": {
    ...CLAUDE_4_5,
    life: {
      ...lifeOf("sonnet-4-5", "date of deprecation unverified"),
      endsOn: { date: "2026-11-30", evidence: "vendor" },
      replacedBy: [chatSuccessor("claude-sonnet-5-5", CLAUDE_4_5, UNFORCED)],
    },
  },
  // Of two second-hand figures for its output, 64,000 and 128,000, the one that cannot be refused.
  "claude-sonnet-4-6": {
    ...CLAUDE_4_6,
    life: {
      ...lifeOf("sonnet-4-6", "context and output second-hand"),
      replacedBy: [chatSuccessor("claude-sonnet-5-5", CLAUDE_4_6, UNFORCED)],
    },
  },
  "claude-sonnet-5": {
    ...UNSAMPLED,
    life: { ...lifeOf("sonnet-5"), replacedBy: [chatSuccessor("claude-sonnet-5-5", UNSAMPLED, UNFORCED)] },
  },
  "claude-sonnet-5-5": { ...UNFORCED, life: lifeOf("sonnet-5-5") },
  "claude-haiku-4-5": {
    ...CLAUDE_4_5,
    life: { ...lifeOf("haiku-4-5"), replacedBy: [chatSuccessor("claude-haiku-5-5", CLAUDE_4_5, UNSAMPLED)] },
  },
  // Forced tool use: npm @ai-sdk/anthropic 4.0.105, src/anthropic-model-catalog.ts.
  "claude-haiku-5-5": { ...UNSAMPLED, life: lifeOf("haiku-5-5", "forced tool use second-hand") },
  "claude-fable-5-2": {
    ...UNFORCED,
    limits: { maxOutputTokens: 128_000, imageTypes: IMAGE_TYPES },
    life: lifeOf("fable-5-2", "output and forced tool use second-hand, context unverified"),
  },
};
