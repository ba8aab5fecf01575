// Builds the envelope of an answer from a target's outcome: finishes the transcript and collects all warnings [transcription.envelope].
import { newId } from "../../contract/ids.ts";
import type {
  LocalModelReceipt,
  PurposeFields,
  TranscriptionEnvelope,
  Warning,
} from "../../contract/transcription/transcription-envelope.ts";
import type { Requirements } from "../../routing/required-features.ts";
import { buildEnvelope } from "./envelope.ts";
import type { ServedOutcome } from "../calls/run-outcome.ts";
import type { GatewayServices } from "../services.ts";
import { droppedPreferences, emulatedFeatures } from "./speech-request.ts";

export interface AnswerInput {
  /** Owner of the transcript: waiting for the thread is fair among owners. */
  readonly owner: string;
  readonly createdAt: Date;
  readonly wanted: Requirements;
  readonly purpose: PurposeFields;
  /** The warnings of the routing decision and of the measurement. */
  readonly warnings: readonly Warning[];
  readonly audioSeconds: number;
  readonly served: Omit<ServedOutcome, "kind" | "settlement" | "missedSpeech">;
}

export async function answerOf(
  { transcripts }: Pick<GatewayServices, "transcripts">,
  input: AnswerInput,
): Promise<TranscriptionEnvelope> {
  const { wanted, served, audioSeconds } = input;
  const { transcript, billing } = served;
  const finished = await transcripts.finish(input.owner, transcript, wanted, audioSeconds);
  return buildEnvelope({
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
      ...(billing.billingClass === "simulated" ? [SIMULATED] : demonstrationWarnings(served)),
    ],
    purpose: input.purpose,
    localModel: localModelOf(transcript),
  });
}

/** The warnings that are known before the answer is complete. */
export function callWarnings(
  wanted: Requirements,
  { candidate, dropped }: Pick<ServedOutcome, "candidate" | "dropped">,
): readonly Warning[] {
  return [...droppedPreferences(candidate, wanted, dropped), ...emulatedFeatures(candidate)];
}

/** Without its name, which needs `routing:read`. */
function localModelOf({ receipts }: ServedOutcome["transcript"]): LocalModelReceipt | undefined {
  const received = receipts.find(({ model }) => model !== undefined)?.model;
  if (received === undefined) return undefined;
  const { files, engine, processor } = received;
  return { files: files.map(({ path, sha256 }) => ({ path, sha256 })), engine, processor };
}

/** [transcription.demonstration] */
function demonstrationWarnings({ candidate }: Pick<ServedOutcome, "candidate">): readonly Warning[] {
  const notice = candidate.target.speech?.demonstrationNotice;
  return notice === undefined ? [] : [{ code: "DEMONSTRATION_MODEL", message: notice, param: null, details: null }];
}

export const SIMULATED: Warning = {
  code: "SIMULATED_PROVIDER",
  message: "Simulated response. No provider was called.",
  param: null,
  details: null,
};
