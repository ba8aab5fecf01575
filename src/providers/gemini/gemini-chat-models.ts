// Gemini's chat models, as data: capabilities on generateContent, and life. The vendor seldom refuses an old name: it answers it by a newer model.
import type { CataloguedChatModel, ChatModel } from "../chat/chat-provider.ts";
import { chatSuccessor } from "../chat/chat-successor.ts";
import type { ModelLife } from "../model-life.ts";

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
/** Temperature, top_p and top_k are deprecated from here on. Whether they are ignored or refused is unverified, so they are not sent. */
const GEMINI_3_6: ChatModel = { ...GEMINI_3, preferences: ["seed", "stop"] };
/** One limit for input and output. That it accepts audio is unverified. */
const GEMINI_4: ChatModel = {
  ...GEMINI_3_6,
  features: GEMINI_3_6.features.filter((feature) => feature !== "audio_parts"),
};

const CHANGELOG = "https://ai.google.dev/gemini-api/docs/changelog";
const DEPRECATIONS = "https://ai.google.dev/gemini-api/docs/deprecations";
/** The vendor's page as read by another site on 2026-11-10. */
const READING: ModelLife = {
  verifiedOn: "2026-11-10",
  source:
    "https://dev.to/aideprecations/what-to-do-before-gemini-25-pro-and-25-flash-are-retired-on-december-1-2026-5gg9 (second-hand; date of deprecation unverified)",
};

const redirected = (model: string, old: ChatModel, successor: ChatModel): ModelLife => ({
  ...READING,
  redirect: { date: "2026-12-01", evidence: "second_hand", model },
  replacedBy: [chatSuccessor(model, old, successor)],
});

export const GEMINI_CHAT_MODELS: Readonly<Record<string, CataloguedChatModel>> = {
  "gemini-2.5-pro": { ...GEMINI_2, life: redirected("gemini-3.8-flash", GEMINI_2, GEMINI_3_6) },
  "gemini-2.5-flash": { ...GEMINI_2, life: redirected("gemini-3.5-flash-lite", GEMINI_2, GEMINI_3) },
  "gemini-3.1-pro-preview": {
    ...GEMINI_3,
    life: {
      verifiedOn: "2026-09-15",
      source: DEPRECATIONS,
      replacedBy: [chatSuccessor("gemini-4-argon", GEMINI_3, GEMINI_4)],
    },
  },
  "gemini-3.5-flash": {
    ...GEMINI_3,
    life: {
      verifiedOn: "2026-10-13",
      source: `${CHANGELOG} (billing after the redirect unverified)`,
      deprecatedOn: "2026-10-08",
      redirect: { date: "2026-10-08", evidence: "vendor", model: "gemini-3.6-flash" },
      replacedBy: [chatSuccessor("gemini-3.6-flash", GEMINI_3, GEMINI_3_6)],
    },
  },
  "gemini-3.5-flash-lite": { ...GEMINI_3, life: { ...READING, source: `${CHANGELOG}; ${READING.source}` } },
  "gemini-3.7-flash": {
    ...GEMINI_3_6,
    life: {
      verifiedOn: "2026-10-09",
      source: `${CHANGELOG}; https://ai.google.dev/gemini-api/docs/models/gemini-3.7-flash (billing after the redirect unverified)`,
      deprecatedOn: "2026-10-08",
      redirect: { date: "2026-10-08", evidence: "vendor", model: "gemini-3.8-flash", source: CHANGELOG },
      replacedBy: [chatSuccessor("gemini-3.8-flash", GEMINI_3_6, GEMINI_3_6)],
    },
  },
  "gemini-3.6-flash": { ...GEMINI_3_6, life: { verifiedOn: "2026-10-13", source: CHANGELOG } },
  "gemini-3.8-flash": {
    ...GEMINI_3_6,
    life: { verifiedOn: "2026-11-12", source: `${CHANGELOG}; npm @google/genai 3.3.0, README.md` },
  },
  "gemini-4-argon": {
    ...GEMINI_4,
    life: {
      verifiedOn: "2026-10-13",
      source: `${CHANGELOG}; https://ai.google.dev/gemini-api/docs/generate-content/latest-model (audio input unverified)`,
    },
  },
};
