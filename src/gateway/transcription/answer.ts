// Builds the envelope of the answer from the transcript of a target, with every warning that applies [transcription.envelope].
import { newId } from "../../contract/ids.ts";
import type { PurposeFields, TranscriptionEnvelope, Warning } from "../../contract/transcription.ts";
import type { Requirements } from "../../routing/required-features.ts";
import { buildEnvelope } from "./envelope.ts";
import { type FinishedTranscript, finishTranscript } from "./finish-transcript.ts";
import type { Served } from "../calls/candidate-run.ts";
import { droppedPreferences, emulatedFeatures } from "./speech-request.ts";

export interface AnswerInput {
  readonly createdAt: Date;
  readonly wanted: Requirements;
  readonly purpose: PurposeFields;
  /** The warnings of the routing decision and of the measurement. */
  readonly warnings: readonly Warning[];
  readonly audioSeconds: number;
  readonly served: Omit<Served, "kind" | "settlement" | "missedSpeech">;
}

export async function answerOf(
  input: AnswerInput,
): Promise<{ envelope: TranscriptionEnvelope; finished: FinishedTranscript }> {
  const { wanted, served, audioSeconds } = input;
  const { transcript, billing } = served;
  const finished = await finishTranscript(transcript, wanted, audioSeconds);
  const envelope = buildEnvelope({
    id: newId("transcription"),
    createdAt: input.createdAt,
    object: wanted.task === "translate" ? "translation" : "transcription",
    transcript: finished,
    // A provider that was given a language works in it and may not return it.
    language: transcript.language ?? wanted.language,
    languageConfidence: transcript.language === null ? null : transcript.languageConfidence,
    audioSeconds,
    billableAudioSeconds: billing.billableMs / 1000,
    warnings: [
      ...input.warnings,
      ...callWarnings(wanted, served),
      ...finished.warnings,
      ...served.warnings,
      ...(billing.billingClass === "simulated" ? [SIMULATED] : []),
    ],
    purpose: input.purpose,
  });
  return { envelope, finished };
}

/** The warnings that are known before the answer is complete. */
export function callWarnings(
  wanted: Requirements,
  { candidate, dropped }: Pick<Served, "candidate" | "dropped">,
): readonly Warning[] {
  return [...droppedPreferences(candidate, wanted, dropped), ...emulatedFeatures(candidate)];
}

export const SIMULATED: Warning = {
  code: "SIMULATED_PROVIDER",
  message: "Simulated response. No provider was called.",
  param: null,
  details: null,
};
