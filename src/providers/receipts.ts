// Creates receipts, which prove per required feature that it was delivered [providers.receipts], by rules that all adapters share. Pure.
import type { Feature, ReceiptGrade } from "../contract/features.ts";
import { stripToLetters } from "../lib/text/strip-to-letters.ts";
import { askedFeatures } from "./unmet-features.ts";
import type { ProviderSegment, ProviderWord, Receipt, SpeechAudio, SpeechRequest } from "./provider.ts";

/** The default grade of a feature that a declaration in the configuration lists by name only. */
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
  /** Channels that the answer transcribes separately. */
  readonly channels: number;
  readonly language: string | null;
  /** Whether the request contained the feature's parameter, or, with grade `echoed`, whether the answer repeats it. */
  readonly wasSent: (feature: Feature) => boolean;
  /** Grade of features that are not visible in the answer. `sent` unless the provider repeats its options. */
  readonly grade?: "sent" | "echoed";
}

/** One receipt per requested feature, and one for the language if detection was requested and supported. */
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
 * For a redacting provider that guarantees redaction only for its text: returns the words or segments if the text contains each of them, otherwise none,
 * because they might contain what was redacted.
 */
export function saidInText<P extends ProviderWord>(
  request: SpeechRequest,
  text: string,
  pieces: readonly P[],
): readonly P[] {
  if (request.redaction.length === 0) return pieces;
  const letters = stripToLetters(text);
  const matches = new Set<string>();
  // Pieces are usually in text order: each search starts at the previous match, so that the text is read once.
  let position = 0;
  const isSaid = (piece: P): boolean => {
    const pieceLetters = stripToLetters(piece.text);
    if (matches.has(pieceLetters)) return true;
    const ahead = letters.indexOf(pieceLetters, position);
    const place = ahead === -1 ? letters.indexOf(pieceLetters) : ahead;
    if (place === -1) return false;
    matches.add(pieceLetters);
    position = place;
    return true;
  };
  return pieces.every(isSaid) ? pieces : [];
}

function isDelivered(feature: Feature, audio: SpeechAudio, evidence: Evidence): boolean {
  if (feature === "diarization") return isSilent(evidence) || [evidence.words, evidence.segments].some(hasSpeaker);
  if (feature === "timestamps.word") return isSilent(evidence) || evidence.words.length > 0;
  if (feature === "timestamps.segment") return isSilent(evidence) || evidence.segments.length > 0;
  // Silence proves nothing here: the answer contains the channels whether or not anyone speaks on them.
  if (feature === "multichannel") return evidence.channels === audio.channels;
  return evidence.wasSent(feature);
}

function hasSpeaker(pieces: readonly ProviderWord[]): boolean {
  return pieces.some((piece) => piece.speaker !== null);
}

function isSilent(evidence: Evidence): boolean {
  return evidence.text.trim() === "" && evidence.words.length === 0 && evidence.segments.length === 0;
}
