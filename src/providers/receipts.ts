// Receipts: proof per required feature that it came back [providers.receipts]. The rules that all adapters share. Pure.
import type { Feature, ReceiptGrade } from "../contract/features.ts";
import { stripToLetters } from "../lib/text/strip-to-letters.ts";
import { askedFeatures } from "./asked-features.ts";
import type { ProviderSegment, ProviderWord, Receipt, SpeechAudio, SpeechRequest } from "./provider.ts";

/** The grade a feature has when a declaration in the configuration names it and says nothing else. */
export const USUAL_GRADE: Readonly<Record<Feature, ReceiptGrade>> = {
  diarization: "shown",
  "timestamps.word": "shown",
  "timestamps.segment": "shown",
  "redaction.pii": "sent",
  "redaction.pci": "sent",
  "redaction.phi": "sent",
  "redaction.numbers": "sent",
  keyterms: "sent",
  multichannel: "shown",
  profanity_filter: "sent",
  streaming: "shown",
  translation: "sent",
};

export interface Evidence {
  readonly text: string;
  readonly words: readonly ProviderWord[];
  readonly segments: readonly ProviderSegment[];
  /** Channels the answer transcribes separately. */
  readonly channels: number;
  readonly language: string | null;
  /** Whether the request that went out carries the feature's parameter; or, graded `echoed`, whether the answer repeats it. */
  readonly wasSent: (feature: Feature) => boolean;
  /** Of features that do not show; `sent` unless the provider repeats its options. */
  readonly grade?: "sent" | "echoed";
}

/** One receipt per asked feature, and one for the language when detection was asked and taken. */
export function receiptsFor(
  request: SpeechRequest,
  audio: SpeechAudio,
  evidence: Evidence,
  detectsLanguage: boolean,
): readonly Receipt[] {
  const receipts: Receipt[] = askedFeatures(request).map((feature) => ({
    feature,
    grade: USUAL_GRADE[feature] === "sent" ? (evidence.grade ?? "sent") : USUAL_GRADE[feature],
    delivered: isDelivered(feature, audio, evidence),
  }));
  if (request.language.kind === "detect" && detectsLanguage) {
    receipts.push({ feature: "language", grade: "shown", delivered: evidence.language !== null || isSilent(evidence) });
  }
  return receipts;
}

/**
 * Of a redacting provider that says only of its text that it is redacted: its pieces, when the text holds each of them, and
 * none otherwise, for then they may hold what was taken out of it.
 */
export function saidInText<P extends ProviderWord>(
  request: SpeechRequest,
  text: string,
  pieces: readonly P[],
): readonly P[] {
  if (request.redaction.length === 0) return pieces;
  const whole = stripToLetters(text);
  const found = new Set<string>();
  // Pieces come in the text's order, as a rule: each is looked for from where the one before it was, so that all of it is read once.
  let at = 0;
  const isSaid = (piece: P): boolean => {
    const said = stripToLetters(piece.text);
    if (found.has(said)) return true;
    const ahead = whole.indexOf(said, at);
    const place = ahead === -1 ? whole.indexOf(said) : ahead;
    if (place === -1) return false;
    found.add(said);
    at = place;
    return true;
  };
  return pieces.every(isSaid) ? pieces : [];
}

function isDelivered(feature: Feature, audio: SpeechAudio, evidence: Evidence): boolean {
  if (feature === "diarization") return isSilent(evidence) || [evidence.words, evidence.segments].some(hasSpeaker);
  if (feature === "timestamps.word") return isSilent(evidence) || evidence.words.length > 0;
  if (feature === "timestamps.segment") return isSilent(evidence) || evidence.segments.length > 0;
  // Silence proves nothing here: the channels stand in the answer whether or not anyone speaks on them.
  if (feature === "multichannel") return evidence.channels === audio.channels;
  return evidence.wasSent(feature);
}

function hasSpeaker(pieces: readonly ProviderWord[]): boolean {
  return pieces.some((piece) => piece.speaker !== null);
}

function isSilent(evidence: Evidence): boolean {
  return evidence.text.trim() === "" && evidence.words.length === 0 && evidence.segments.length === 0;
}
