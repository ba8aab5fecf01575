// OpenAI's chat models, as data: capabilities on Chat Completions, and life. Dates of the end come from the vendor's own client package; where a date of
// deprecation or a successor was found only second-hand, the source says so.
import type { CataloguedChatModel, ChatModel } from "../chat/chat-provider.ts";
import { chatSuccessor } from "../chat/chat-successor.ts";
import type { ModelLife } from "../model-life.ts";

const SAMPLED: ChatModel = {
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
const SAMPLED_LONG: ChatModel = {
  ...SAMPLED,
  limits: { ...SAMPLED.limits, maxOutputTokens: 32_768, contextTokens: 1_047_576 },
};
/** Reasoning models accept no sampling parameters and no stop sequences. */
const REASONING: ChatModel = {
  ...SAMPLED,
  preferences: ["seed", "reasoning_effort", "verbosity"],
  limits: {
    ...SAMPLED.limits,
    maxOutputTokens: 128_000,
    contextTokens: 400_000,
    reasoningEfforts: ["minimal", "low", "medium", "high"],
  },
  quirks: ["developer_role"],
};
/** "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model", nor with later ones. `xhigh` came after it. */
const REASONING_5_1: ChatModel = {
  ...REASONING,
  limits: { ...REASONING.limits, reasoningEfforts: ["none", "low", "medium", "high"] },
};
const REASONING_5_4: ChatModel = {
  ...REASONING,
  limits: { ...REASONING.limits, reasoningEfforts: ["none", "low", "medium", "high", "xhigh"] },
};
/** Context second-hand: models.dev, 2026-07-02. */
const REASONING_5_4_LONG: ChatModel = {
  ...REASONING_5_4,
  limits: { ...REASONING_5_4.limits, contextTokens: 1_050_000 },
};
/**
 * Tools on Chat Completions need effort `none` (the vendor's error: github.com/onyx-dot-app/onyx/issues/15008, 2026-09-23). Sampling parameters need it as
 * well, and are not declared. Whether `seed` and `verbosity` are accepted is unverified.
 */
const REASONING_6: ChatModel = {
  ...REASONING_5_4_LONG,
  preferences: ["reasoning_effort"],
  limits: { ...REASONING_5_4_LONG.limits, reasoningEfforts: ["none", "low", "medium", "high", "xhigh", "max"] },
  quirks: ["developer_role", "tools_without_reasoning"],
};
/** Without effort `none`. Whether Chat Completions accepts tools then is unverified (gpt-6-astra: no, 2026-09-07), so none are declared. */
const REASONING_6_ALWAYS: ChatModel = {
  ...REASONING_6,
  features: ["response_format.json_object", "response_format.json_schema", "image_parts"],
  limits: { ...REASONING_6.limits, reasoningEfforts: ["low", "medium", "high", "xhigh", "max"] },
  quirks: ["developer_role"],
};

const PACKAGE: ModelLife = { verifiedOn: "2026-11-13", source: "npm openai 7.57.0, src/resources/shared.ts" };
/** The page has no date. It was read with these models on 2026-11-18 (dev.to/hassann/how-to-use-gpt-62-astra-api-3j9l). */
const MODELS_PAGE: ModelLife = {
  verifiedOn: "2026-11-18",
  source: "https://developers.openai.com/api/docs/models (undated; tools on Chat Completions unverified)",
};
const DEPRECATIONS = "https://developers.openai.com/api/docs/deprecations";

const endingJanuary = (model: ChatModel): ModelLife => ({
  ...PACKAGE,
  source: `${PACKAGE.source} (date of deprecation and successor second-hand)`,
  deprecatedOn: "2026-10-14",
  endsOn: { date: "2027-01-14", evidence: "vendor" },
  replacedBy: [chatSuccessor("gpt-6-luna", model, REASONING_6)],
});
const GPT_5_LIFE: ModelLife = {
  ...PACKAGE,
  deprecatedOn: "2026-06-11",
  endsOn: { date: "2026-12-11", evidence: "vendor", source: DEPRECATIONS },
};

export const OPENAI_CHAT_MODELS: Readonly<Record<string, CataloguedChatModel>> = {
  "gpt-4o": { ...SAMPLED, life: endingJanuary(SAMPLED) },
  // 2,833 plus 5,667 for each of at most eight tiles: its token price is a fraction of the others', but an image costs the same.
  "gpt-4o-mini": {
    ...SAMPLED,
    limits: { ...SAMPLED.limits, imageTokens: 48_169 },
    life: endingJanuary(SAMPLED),
  },
  "gpt-4.1": { ...SAMPLED_LONG, life: endingJanuary(SAMPLED_LONG) },
  "gpt-4.1-mini": { ...SAMPLED_LONG, life: endingJanuary(SAMPLED_LONG) },
  "gpt-4.1-nano": {
    ...SAMPLED_LONG,
    life: {
      ...PACKAGE,
      source: `${PACKAGE.source} (date of deprecation and successor unverified)`,
      endsOn: { date: "2026-10-23", evidence: "vendor" },
    },
  },
  "gpt-5": {
    ...REASONING,
    life: { ...GPT_5_LIFE, replacedBy: [chatSuccessor("gpt-6.1-sol", REASONING, REASONING_6_ALWAYS)] },
  },
  "gpt-5-mini": {
    ...REASONING,
    life: { ...GPT_5_LIFE, replacedBy: [chatSuccessor("gpt-6.1-terra", REASONING, REASONING_6)] },
  },
  "gpt-5-nano": { ...REASONING, life: { ...GPT_5_LIFE, source: `${PACKAGE.source} (successor unverified)` } },
  "gpt-5.1": {
    ...REASONING_5_1,
    life: {
      ...PACKAGE,
      source: `${PACKAGE.source} (date of deprecation and successor unverified)`,
      endsOn: { date: "2027-04-01", evidence: "vendor" },
    },
  },
  "gpt-5.4": { ...REASONING_5_4_LONG, life: PACKAGE },
  "gpt-5.4-mini": { ...REASONING_5_4, life: PACKAGE },
  "gpt-5.4-nano": {
    ...REASONING_5_4,
    life: {
      ...PACKAGE,
      source: `${PACKAGE.source} (date of deprecation and successor unverified)`,
      endsOn: { date: "2027-04-01", evidence: "vendor" },
    },
  },
  "gpt-5.5": { ...REASONING_5_4_LONG, life: PACKAGE },
  "gpt-6-luna": { ...REASONING_6, life: PACKAGE },
  "gpt-6.1-sol": {
    ...REASONING_6_ALWAYS,
    life: { ...PACKAGE, source: `${PACKAGE.source} (tools on Chat Completions unverified)` },
  },
  "gpt-6.1-terra": { ...REASONING_6, life: PACKAGE },
  "gpt-6.2-astra": { ...REASONING_6_ALWAYS, life: MODELS_PAGE },
  "gpt-6.2-sol": { ...REASONING_6_ALWAYS, life: MODELS_PAGE },
};
