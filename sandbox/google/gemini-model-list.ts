// Simulates Gemini's `GET /v1beta/models` (ai.google.dev, "models.list"): names are paths, and the default page size is 50.
import { geminiChatWire } from "./gemini-chat.ts";
import { findWrongGeminiKey } from "./gemini-key.ts";
import { googleError } from "./google-errors.ts";
import { jsonAnswer, valueOf, type Wire, type WireAnswer, type WireInput } from "../wire/wire.ts";

const GENERATING =
  "gemini-2.5-pro gemini-2.5-flash gemini-3.1-pro-preview gemini-3.5-flash gemini-3.5-flash-lite gemini-3.6-flash gemini-3.7-flash gemini-3.8-flash gemini-4-argon gemini-3.5-transcribe".split(
    " ",
  );
const ALL = [
  ...GENERATING.map((name) => ({ name, methods: ["generateContent", "countTokens"] })),
  { name: "gemini-3.5-transcribe-live", methods: ["bidiGenerateContent"] },
  { name: "gemini-embedding-001", methods: ["embedContent"] },
];
const USUAL_SIZE = 50;
const MOST = 1_000;

export const geminiModelsListWire: Wire = {
  name: "gemini",
  step: "probe",
  body: "none",
  maxBodyBytes: 1_048_576,
  errorFor: geminiChatWire.errorFor,
  answer: async (input) => findWrongGeminiKey(input) ?? page(input),
};

function page({ query }: WireInput): WireAnswer {
  const pageSize = Number(valueOf(query, "pageSize") ?? USUAL_SIZE);
  const begin = Number(valueOf(query, "pageToken") ?? 0);
  if (!Number.isInteger(pageSize) || pageSize < 0) return googleError(400, "Invalid value at 'page_size'.");
  if (!Number.isInteger(begin)) return googleError(400, "Invalid page token.");
  const end = begin + Math.min(pageSize === 0 ? USUAL_SIZE : pageSize, MOST);
  return jsonAnswer(200, {
    models: ALL.slice(begin, end).map(({ name, methods }) => ({
      name: `models/${name}`,
      version: "001",
      displayName: name,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: methods,
    })),
    ...(end < ALL.length ? { nextPageToken: String(end) } : {}),
  });
}
