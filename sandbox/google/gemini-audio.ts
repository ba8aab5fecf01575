// Simulates Gemini with audio: `POST /v1beta/interactions` of the transcription model, and a general model's `generateContent` with one audio part and a `text`
// field to fill in.
import { z } from "zod";
import { answeringModel } from "../retired-models.ts";
import { findWrongGeminiKey } from "./gemini-key.ts";
import { googleError, googleErrorForStatus } from "./google-errors.ts";
import { type SimulatedChannel, simulateMixed } from "../simulate.ts";
import {
  type Alteration,
  type InlineAudio,
  jsonAnswer,
  modelInBody,
  type Wire,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

const MAX_BODY_BYTES = 100_000_000;
const MAX_TERMS = 1_000;
const MIME_TYPES = /^audio\/(?:wav|mp3|aiff|aac|ogg|flac)$/u;
const MORE_MIME_TYPES = /^audio\/(?:wav|mp3|aiff|aac|ogg|flac|mpeg|m4a|l16|opus|alaw|mulaw|webm)$/u;
const MAX_SECONDS = 3_600;
const MAX_TIMED_SECONDS = 1_800;

const audioPart = z.strictObject({ inlineData: z.strictObject({ mimeType: z.string(), data: z.string() }) });

const generation = z.strictObject({
  systemInstruction: z
    .strictObject({ parts: z.array(z.strictObject({ text: z.string() })), role: z.string().optional() })
    .optional(),
  contents: z.tuple([z.strictObject({ role: z.literal("user").optional(), parts: z.tuple([audioPart]) })]),
  generationConfig: z.strictObject({
    temperature: z.number().min(0).max(2).optional(),
    responseMimeType: z.literal("application/json"),
    responseJsonSchema: z.looseObject({
      type: z.literal("object"),
      properties: z.looseObject({ text: z.looseObject({ type: z.literal("string") }) }),
    }),
  }),
});

/** Whether a `generateContent` body requests a transcript: exactly one audio part, and one text field in the answer. */
export const isAudioGeneration = (json: unknown): boolean => generation.safeParse(json).success;

export function geminiGenerationWire(): Wire {
  return {
    name: "gemini",
    body: "json",
    maxBodyBytes: MAX_BODY_BYTES,
    modelOf: ({ path }) => modelIn(path),
    audioOf: (json) => {
      const part = generation.safeParse(json).data?.contents[0].parts[0].inlineData;
      return part === undefined ? null : { base64: part.data, contentType: part.mimeType };
    },
    errorFor: (status) => googleErrorForStatus(status),
    answer: generate,
  };
}

async function generate(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
  const model = modelIn(input.path);
  const fault = findWrongGeminiKey(input) ?? findTooLarge(input);
  if (fault !== null) return fault;
  if (!model.startsWith("gemini-") || isTranscriber(model))
    return googleError(
      404,
      `models/${model} is not found for API version v1beta, or is not supported for generateContent.`,
    );
  const parsed = generation.safeParse(input.json);
  if (!parsed.success) return googleError(400, `Invalid JSON payload received. ${issueOf(parsed.error)}`);
  const { mimeType } = parsed.data.contents[0].parts[0].inlineData;
  if (!MIME_TYPES.test(mimeType)) return googleError(400, `Unsupported MIME type: ${mimeType}`);
  const facts = await input.measure();
  if (!facts.ok) return googleError(400, "Request contains an invalid argument.");
  const channel = simulateMixed(facts, alteration);
  const tokens = Math.ceil(facts.durationSeconds * 32);
  return jsonAnswer(200, {
    candidates: [
      {
        index: 0,
        content: { role: "model", parts: [{ text: JSON.stringify({ text: channel.text }) }] },
        finishReason: "STOP",
      },
    ],
    usageMetadata: {
      promptTokenCount: tokens,
      candidatesTokenCount: channel.words.length,
      totalTokenCount: tokens + channel.words.length,
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: tokens }],
    },
    modelVersion: alteration.otherModel ?? answeringModel(model, input.nowMs),
    responseId: input.requestId,
  });
}

const config = z.strictObject({
  language_codes: z.array(z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]+)*$/u)).optional(),
  custom_vocabulary: z.array(z.string().min(1)).max(MAX_TERMS).optional(),
  mode: z
    .union([
      z.strictObject({
        type: z.literal("verbatim"),
        diarization_mode: z.literal("speaker").optional(),
        timestamp_granularities: z.array(z.literal("word")).optional(),
      }),
      z.strictObject({ type: z.literal("smart") }),
    ])
    .optional(),
});

const interaction = z.strictObject({
  model: z.string(),
  store: z.boolean().optional(),
  input: z.tuple([z.strictObject({ type: z.literal("audio"), mime_type: z.string(), data: z.string() })]),
  generation_config: z.strictObject({ transcription_config: config }).optional(),
});

export function geminiInteractionWire(): Wire {
  return {
    name: "gemini",
    body: "json",
    maxBodyBytes: MAX_BODY_BYTES,
    modelOf: ({ json }) => modelInBody(json),
    audioOf: (json): InlineAudio | null => {
      const part = interaction.safeParse(json).data?.input[0];
      return part === undefined ? null : { base64: part.data, contentType: part.mime_type };
    },
    errorFor: (status) => interactionError(status, "The request could not be processed."),
    answer: interact,
  };
}

/** This API's own error format: a code in words. */
function interactionError(status: number, message: string): WireAnswer {
  const code =
    status === 404
      ? "not_found"
      : status === 429
        ? "rate_limit_exceeded"
        : status >= 500
          ? "internal_error"
          : "invalid_request";
  return jsonAnswer(status, { error: { code, message } });
}

async function interact(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
  const fault = findWrongGeminiKey(input) ?? findTooLarge(input);
  if (fault !== null) return fault;
  const parsed = interaction.safeParse(input.json);
  if (!parsed.success) return interactionError(400, issueOf(parsed.error));
  const { model, input: content, generation_config } = parsed.data;
  if (!isTranscriber(model)) return interactionError(404, `Model ${model} is not found.`);
  if (!MORE_MIME_TYPES.test(content[0].mime_type))
    return interactionError(400, `Unsupported MIME type: ${content[0].mime_type}`);
  const facts = await input.measure();
  if (!facts.ok) return interactionError(400, "The audio could not be decoded.");
  const mode = generation_config?.transcription_config.mode;
  const isDiarized = mode?.type === "verbatim" && mode.diarization_mode === "speaker";
  const isTimed = mode?.type === "verbatim" && (mode.timestamp_granularities ?? []).includes("word");
  if (facts.durationSeconds > (isDiarized || isTimed ? MAX_TIMED_SECONDS : MAX_SECONDS))
    return interactionError(400, "The audio is too long.");
  const channel = simulateMixed(facts, alteration);
  const annotations = annotate(channel, {
    isTimed: isTimed && !alteration.drops.has("timestamps.word"),
    isDiarized: isDiarized && !alteration.drops.has("diarization"),
  });
  return jsonAnswer(200, {
    id: input.requestId,
    object: "interaction",
    model: alteration.otherModel ?? model,
    status: "completed",
    steps: [
      {
        type: "model_output",
        content: [{ type: "text", text: channel.text, ...(annotations.length === 0 ? {} : { annotations }) }],
      },
    ],
    usage: { total_input_tokens: Math.ceil(facts.durationSeconds * 32), total_output_tokens: channel.words.length },
  });
}

interface Marks {
  readonly isTimed: boolean;
  readonly isDiarized: boolean;
}

function annotate(channel: SimulatedChannel, { isTimed, isDiarized }: Marks): readonly object[] {
  if (!isTimed && !isDiarized) return [];
  let index = 0;
  return channel.words.map(({ text, start, end, speaker }) => {
    const span = { start_index: index, end_index: index + Buffer.byteLength(text) };
    index = span.end_index + 1;
    return {
      type: "word_info",
      text,
      ...span,
      ...(isTimed ? { start_offset: `${start}s`, end_offset: `${end}s` } : {}),
      ...(isDiarized ? { speaker: `spk_${speaker + 1}` } : {}),
    };
  });
}

function findTooLarge({ defect }: WireInput): WireAnswer | null {
  return defect === "too_large"
    ? googleError(400, `Request payload size exceeds the limit: ${MAX_BODY_BYTES} bytes.`)
    : null;
}

const isTranscriber = (model: string): boolean => model.includes("-transcribe");
const modelIn = (path: string): string => decodeURIComponent(/\/models\/([^:/]+)/u.exec(path)?.[1] ?? "");

function issueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? "Invalid request." : `${issue.path.join(".")}: ${issue.message}`;
}
