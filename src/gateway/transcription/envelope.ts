// Builds the envelope of a transcript, the JSON answer of a routed request [transcription.envelope]. Pure.
import type {
  LocalModelReceipt,
  PurposeFields,
  TranscriptionEnvelope,
  Warning,
} from "../../contract/transcription/transcription-envelope.ts";
import type { FinishedTranscript } from "./finish-transcript.ts";

export interface EnvelopeInput {
  readonly id: string;
  readonly createdAt: Date;
  readonly object: TranscriptionEnvelope["object"];
  readonly transcript: FinishedTranscript;
  readonly language: string | null;
  readonly languageConfidence: number | null;
  readonly audioSeconds: number;
  readonly billableAudioSeconds: number;
  readonly warnings: readonly Warning[];
  readonly purpose: PurposeFields;
  /** Undefined: no model on this machine made the text. */
  readonly localModel: LocalModelReceipt | undefined;
}

export function buildEnvelope(input: EnvelopeInput): TranscriptionEnvelope {
  const { transcript, localModel } = input;
  return {
    id: input.id,
    object: input.object,
    created_at: input.createdAt.toISOString(),
    status: "completed",
    content: transcript.content,
    language: input.language,
    language_confidence: input.languageConfidence,
    duration_seconds: input.audioSeconds,
    segments: [...transcript.segments],
    words: [...transcript.words],
    warnings: [...input.warnings],
    usage: { audio_seconds: input.audioSeconds, billable_audio_seconds: input.billableAudioSeconds, total_tokens: 0 },
    ...(localModel === undefined ? {} : { local_model: localModel }),
    ...input.purpose,
  };
}
