// Schemas of the answer of a transcription or translation: the envelope, its segments, words and warnings, and the routing decision of a dry run.
import { z } from "zod";
import type { ErrorBody } from "../error-body.ts";

const WARNING_CODES = [
  "PREFERENCE_DROPPED",
  "MEDIA_TYPE_MISMATCH",
  "FEATURE_EMULATED",
  "TIMES_CLAMPED",
  "PURPOSE_NOT_APPLIED",
  "PROFILE_NOT_APPLIED",
  "SIMULATED_PROVIDER",
  "DEMONSTRATION_MODEL",
  "TRANSLATED_BY_CHAT",
  "MULTIPLE_AUDIO_TRACKS",
  "TRAILING_DATA_IGNORED",
  "EDIT_LIST_APPLIED",
  "EMPTY_TRANSCRIPT",
  "USAGE_ESTIMATED",
  "FINISH_REASON_UNKNOWN",
  "HISTORY_FIELDS_IGNORED",
  "TOOL_SCHEMA_REWRITTEN",
] as const;
const seconds = z.number().min(0);
const confidence = z.number().min(0).max(1).nullable();
const PURPOSE_SOURCES = ["body", "header", "app_default", "fallback", "none"] as const;

export const warning = z.strictObject({
  code: z.enum(WARNING_CODES),
  message: z.string(),
  param: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
});

export type Warning = z.infer<typeof warning>;

export const segment = z.strictObject({
  id: z.int().min(0),
  start: seconds.describe("Seconds from the start of the audio."),
  end: seconds,
  text: z.string(),
  speaker: z.string().nullable().describe("`S1`, `S2`… in order of first appearance."),
  channel: z.int().min(0).nullable(),
  confidence,
});

export type Segment = z.infer<typeof segment>;

export const word = z.strictObject({
  text: z.string(),
  start: seconds,
  end: seconds,
  confidence,
  speaker: z.string().nullable(),
  channel: z.int().min(0).nullable(),
});

export type Word = z.infer<typeof word>;

/** The three purpose fields of every routed answer [routing.purpose-fields]. */
export const purposeFields = z.strictObject({
  svc_requested_purpose: z.string().nullable(),
  svc_applied_purpose: z.string().nullable(),
  svc_purpose_source: z.enum(PURPOSE_SOURCES),
});

export type PurposeFields = z.infer<typeof purposeFields>;

/** A file of a model on the gateway's machine. */
export const localModelFile = z.strictObject({ path: z.string(), sha256: z.string() });

/** Absent in answers that were stored by a version that did not record it. */
export const engineRuntime = {
  engine: z.string().describe("Name and version of the engine, such as `sherpa-onnx 1.13.8`.").optional(),
  processor: z
    .string()
    .describe(
      "Processor family: architecture and the instruction sets that the engine can use, such as `x64 avx avx2 fma`.",
    )
    .optional(),
};

/** The receipt of a model on the gateway's machine: the same audio, files, engine and processor family give the same text [local.idempotent]. */
export const localModel = z
  .strictObject({
    files: z.array(localModelFile),
    ...engineRuntime,
  })
  .describe(
    "Present if a model on the gateway's machine made the text: what determines it, in addition to the audio. `patchbay verify-transcript` decodes again and compares. The request's record has the model's name.",
  );

export type LocalModelReceipt = z.infer<typeof localModel>;

/** The answer of `POST /v1/transcription` for every `response_format` [transcription.envelope]. */
export const transcriptionEnvelope = z.strictObject({
  id: z.string(),
  object: z.enum(["transcription", "translation"]),
  created_at: z.string(),
  status: z.literal("completed"),
  content: z.string().describe("The text, or the caption file for `srt` and `vtt`."),
  language: z.string().nullable(),
  language_confidence: confidence,
  duration_seconds: seconds,
  segments: z.array(segment),
  words: z.array(word),
  warnings: z.array(warning),
  usage: z.strictObject({
    audio_seconds: seconds.describe("Seconds of submitted audio, as measured by the gateway."),
    billable_audio_seconds: seconds,
    total_tokens: z.literal(0),
  }),
  local_model: localModel.optional(),
  ...purposeFields.shape,
});

export type TranscriptionEnvelope = z.infer<typeof transcriptionEnvelope>;

/** The events of a stream [transcription.stream]; `error` ends a broken one. */
export type TranscriptStreamEvent =
  | { readonly event: "transcript.delta"; readonly data: { readonly text: string } }
  | { readonly event: "transcript.segment"; readonly data: { readonly segment: Segment } }
  | { readonly event: "transcript.completed"; readonly data: { readonly envelope: TranscriptionEnvelope } }
  | { readonly event: "error"; readonly data: ErrorBody };

/** Of a target in cooldown. */
export const pausedUntil = z
  .string()
  .describe("Present if it is paused manually: when the pause ends. No provider has failed.")
  .optional();

/** Of a target whose model its provider has ended [routing.model-retired]. */
export const retirement = z
  .strictObject({
    ended_on: z.string().describe("First UTC day on which the provider refuses the model."),
    source: z.string().describe("The provider's page or API that says so. Only with scope `routing:read`.").optional(),
  })
  .describe("Present if `missing` contains `model_retired`.");
export type RetirementView = z.infer<typeof retirement>;

/** The answer to `dry_run: true` [routing.dry-run-decision]. */
export const routingDecision = z.strictObject({
  object: z.literal("routing.decision"),
  outcome: z.strictObject({ status: z.int(), code: z.string().nullable(), position: z.int().nullable() }),
  candidates: z.array(
    z.strictObject({
      position: z.int(),
      eligible: z.boolean(),
      missing: z.array(z.string()),
      health: z.enum(["healthy", "resting"]),
      paused_until: pausedUntil,
      retired: retirement.optional(),
      split: z
        .strictObject({ max_piece_seconds: z.number(), least_pieces: z.int() })
        .describe(
          "The audio exceeds this target's limits, or the model does not support channels: it would be sent in pieces.",
        )
        .optional(),
      connection: z.string().optional(),
      provider: z.string().optional(),
      model: z.string().optional(),
    }),
  ),
  purpose: purposeFields,
  warnings: z.array(warning),
  estimated_cost_usd: z.string().nullable(),
  audio_seconds: seconds.nullable().describe("Null for chat."),
});

export type RoutingDecision = z.infer<typeof routingDecision>;
