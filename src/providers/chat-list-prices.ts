// The providers' list prices of chat models, as data for the documentation. Nothing is charged by them: an operator enters contract prices under `prices`.

export interface ListPrice {
  readonly usdPerMillionInputTokens: string;
  readonly usdPerMillionOutputTokens: string;
  /** Day of the evidence. A page of the provider without a date has that of the newest thing on it. */
  readonly asOf: string;
  readonly source: string;
  /** `vendor`: the provider's own page. */
  readonly evidence: "vendor" | "second_hand";
  /** Where another price applies. */
  readonly note?: string;
}

type Origin = Pick<ListPrice, "asOf" | "source" | "evidence">;

const OPENAI_PAGE: Origin = {
  asOf: "2026-11-17",
  source: "https://developers.openai.com/api/docs/models",
  evidence: "vendor",
};
const CLAUDE_PAGES: Origin = {
  asOf: "2026-10-07",
  source: "https://platform.claude.com/docs/en/models",
  evidence: "vendor",
};
const GEMINI_3_6_PAGE: Origin = {
  asOf: "2026-09-02",
  source: "https://ai.google.dev/gemini-api/docs/whats-new-gemini-3.6",
  evidence: "vendor",
};
const GEMINI_4_PAGE: Origin = {
  asOf: "2026-10-13",
  source: "https://ai.google.dev/gemini-api/docs/generate-content/latest-model",
  evidence: "vendor",
};
const MODELS_DEV: Origin = { asOf: "2026-07-02", source: "https://models.dev", evidence: "second_hand" };
const TERRA_LAUNCH: Origin = {
  asOf: "2026-10-26",
  source: "https://docs.litellm.ai/blog/gpt-6-1-terra",
  evidence: "second_hand",
};
const LUNA_LAUNCH: Origin = {
  asOf: "2026-09-22",
  source: "https://vercel.com/ai-gateway/models/gpt-6-luna",
  evidence: "second_hand",
};
const FLASH_LAUNCH: Origin = {
  asOf: "2026-09-03",
  source: "https://apidog.com/blog/how-to-use-gemini-3-8-flash-api/",
  evidence: "second_hand",
};
const LONG_6 = "above 272k input tokens input doubles and output is half as much again";

function price(origin: Origin, input: string, output: string, note?: string): ListPrice {
  return {
    usdPerMillionInputTokens: input,
    usdPerMillionOutputTokens: output,
    ...origin,
    ...(note === undefined ? {} : { note }),
  };
}

/** Keyed by `kind/model`. */
export const CHAT_LIST_PRICES: Readonly<Record<string, ListPrice>> = {
  "openai/gpt-4o": price(MODELS_DEV, "2.50", "10"),
  "openai/gpt-4o-mini": price(MODELS_DEV, "0.15", "0.60"),
  "openai/gpt-4.1": price(MODELS_DEV, "2", "8"),
  "openai/gpt-4.1-mini": price(MODELS_DEV, "0.40", "1.60"),
  "openai/gpt-5": price(MODELS_DEV, "1.25", "10"),
  "openai/gpt-5-mini": price(MODELS_DEV, "0.25", "2"),
  "openai/gpt-5-nano": price(MODELS_DEV, "0.05", "0.40"),
  "openai/gpt-5.4": price(MODELS_DEV, "2.50", "15", "long context 5 and 22.50"),
  "openai/gpt-5.4-mini": price(MODELS_DEV, "0.75", "4.50"),
  "openai/gpt-5.4-nano": price(MODELS_DEV, "0.20", "1.25"),
  "openai/gpt-5.5": price(MODELS_DEV, "5", "30", "long context 10 and 45"),
  "openai/gpt-6-luna": price(LUNA_LAUNCH, "0.10", "0.50", LONG_6),
  "openai/gpt-6.1-sol": price(TERRA_LAUNCH, "2", "10"),
  "openai/gpt-6.1-terra": price(OPENAI_PAGE, "1", "5", LONG_6),
  "openai/gpt-6.2-astra": price(OPENAI_PAGE, "8", "40"),
  "openai/gpt-6.2-sol": price(OPENAI_PAGE, "2", "10"),
  "anthropic/claude-opus-4-5": price(CLAUDE_PAGES, "5", "25"),
  "anthropic/claude-opus-4-6": price(CLAUDE_PAGES, "5", "25"),
  "anthropic/claude-opus-4-8": price(CLAUDE_PAGES, "5", "25"),
  "anthropic/claude-opus-5": price(CLAUDE_PAGES, "5", "25"),
  "anthropic/claude-opus-5-5": price(CLAUDE_PAGES, "4", "20"),
  "anthropic/claude-sonnet-4-5": price(CLAUDE_PAGES, "3", "15"),
  "anthropic/claude-sonnet-4-6": price(MODELS_DEV, "3", "15"),
  "anthropic/claude-sonnet-5": price(CLAUDE_PAGES, "2", "10"),
  "anthropic/claude-sonnet-5-5": price(CLAUDE_PAGES, "2", "10"),
  "anthropic/claude-haiku-4-5": price(CLAUDE_PAGES, "1", "5"),
  "anthropic/claude-haiku-5-5": price(CLAUDE_PAGES, "0.10", "0.50", "dearer above 100k tokens of prompt"),
  "anthropic/claude-fable-5-2": price(CLAUDE_PAGES, "8", "40"),
  "gemini/gemini-2.5-pro": price(
    MODELS_DEV,
    "1.25",
    "10",
    "long context 2.50 and 15; those of its successor from 2026-12-01",
  ),
  "gemini/gemini-2.5-flash": price(MODELS_DEV, "0.30", "2.50", "those of its successor from 2026-12-01"),
  "gemini/gemini-3.1-pro-preview": price(MODELS_DEV, "2", "12", "long context 4 and 18"),
  "gemini/gemini-3.5-flash-lite": price(GEMINI_3_6_PAGE, "0.30", "2.50"),
  "gemini/gemini-3.6-flash": price(GEMINI_3_6_PAGE, "1.50", "7.50"),
  "gemini/gemini-3.8-flash": price(FLASH_LAUNCH, "0.75", "3.75", "until 2026-12-31"),
  "gemini/gemini-4-argon": price(GEMINI_4_PAGE, "2", "10", "until 2026-11-30, then 4 and 20"),
};
