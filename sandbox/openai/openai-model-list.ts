// Simulates `GET /v1/models` of OpenAI and of servers with such a list (platform.openai.com, "List models"). whisper.cpp has none.
import { findWrongKey } from "./openai-audio.ts";
import { openAiError, openAiErrorForStatus, openAiHeaders } from "./openai-errors.ts";
import { LIVE_MODEL_NAMES } from "./openai-live.ts";
import { MODEL_NAMES } from "./openai-models.ts";
import { mistralError } from "./mistral.ts";
import { speachesError } from "./speaches.ts";
import { vllmError } from "./vllm.ts";
import { isRetired, retirementDate } from "../retired-models.ts";
import { jsonAnswer, type Wire, type WireAnswer, type WireInput } from "../wire/wire.ts";

const CHAT_NAMES =
  "gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini gpt-4.1-nano gpt-5 gpt-5-mini gpt-5-nano gpt-5.1 gpt-5.4 gpt-5.4-mini gpt-5.4-nano gpt-5.5 gpt-6-luna gpt-6.1-sol gpt-6.1-terra gpt-6.2-astra gpt-6.2-sol".split(
    " ",
  );

/** Models that a self-hosted server would have downloaded, or a hosted one offers. */
const SERVED = {
  openai: ["whisper-1"],
  speaches: ["Systran/faster-whisper-small", "Systran/faster-distil-whisper-large-v3"],
  vllm: ["openai/whisper-large-v3-turbo"],
  groq: ["whisper-large-v3", "whisper-large-v3-turbo", "llama-3.3-70b-versatile"],
  mistral: [
    "voxtral-mini-transcribe-3",
    "voxtral-small-transcribe-3",
    "voxtral-mini-latest",
    "voxtral-small-latest",
    "mistral-large-latest",
  ],
} as const;
type ListingDialect = keyof typeof SERVED;
export const LISTING_DIALECTS = Object.keys(SERVED) as readonly ListingDialect[];

const CREATED = 1_700_000_000;

const listOf = (names: readonly string[], owner: string): object => ({
  object: "list",
  data: names.map((id) => ({ id, object: "model", created: CREATED, owned_by: owner })),
});

/** With the dates of announced ends, and without the models that have ended. */
function openAiList(nowMs: number): object {
  const names = [...MODEL_NAMES, ...LIVE_MODEL_NAMES, ...CHAT_NAMES].filter(
    (name) => !isRetired("openai", name, nowMs),
  );
  return {
    object: "list",
    data: names.map((id) => ({
      id,
      object: "model",
      created: CREATED,
      owned_by: "system",
      shutdown_date: retirementDate("openai", id),
    })),
  };
}

const wire = (name: "openai" | "compatible", parts: Pick<Wire, "errorFor" | "answer">): Wire => ({
  name,
  step: "probe",
  body: "none",
  maxBodyBytes: 1_048_576,
  ...parts,
});

export const openAiModelsWire: Wire = wire("openai", {
  errorFor: openAiErrorForStatus,
  answer: async ({ headers, requestId, nowMs }) => {
    const fault = findWrongKey(headers.authorization, false);
    return fault === null
      ? jsonAnswer(200, openAiList(nowMs), openAiHeaders(requestId))
      : openAiError(401, fault, requestId);
  },
});

export function compatibleModelsWire(dialect: ListingDialect): Wire {
  return wire("compatible", {
    errorFor: (status, requestId) => ERRORS[dialect](status, requestId),
    answer: async (input) =>
      refusalOf(dialect, input) ?? jsonAnswer(200, listOf(servedOn(dialect, input.nowMs), dialect)),
  });
}

const servedOn = (dialect: ListingDialect, nowMs: number): readonly string[] =>
  SERVED[dialect].filter((name) => dialect !== "groq" || !isRetired("groq", name, nowMs));

const ERRORS: { readonly [D in ListingDialect]: Wire["errorFor"] } = {
  openai: openAiErrorForStatus,
  groq: openAiErrorForStatus,
  speaches: speachesError,
  vllm: vllmError,
  mistral: mistralError,
};

function refusalOf(dialect: ListingDialect, { headers, requestId }: WireInput): WireAnswer | null {
  const isHosted = dialect === "groq" || dialect === "mistral";
  const fault = findWrongKey(headers.authorization, !isHosted);
  if (fault === null) return null;
  switch (dialect) {
    case "openai":
      return openAiError(401, fault, requestId);
    case "groq":
      return openAiError(401, { message: "Invalid API Key", code: "invalid_api_key" }, requestId);
    case "speaches":
      return jsonAnswer(401, { detail: "Invalid API key" });
    case "vllm":
      return jsonAnswer(401, { error: "Unauthorized" });
    case "mistral":
      return jsonAnswer(401, { detail: "Unauthorized" });
  }
}
