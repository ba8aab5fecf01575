// Merges the transcripts of a recording's pieces: times are shifted by the start of each piece, texts are joined in order, nothing is lost
// [routing.split-merge]. Pure.
import { joinWords } from "../../lib/text/join-words.ts";
import type { ProviderTranscript, ProviderWord, Receipt } from "../../providers/provider.ts";

export interface HeardPiece {
  readonly startSeconds: number;
  readonly durationSeconds: number;
  readonly transcript: ProviderTranscript;
}

export function mergePieces(pieces: readonly HeardPiece[], channels: number): ProviderTranscript {
  const transcripts = pieces.map(({ transcript }) => transcript);
  const texts = transcripts.map(({ text }) => text.trim()).filter((text) => text !== "");
  const { language, confidence } = languageOf(pieces);
  return {
    text: channels > 1 ? texts.join("\n") : joinWords(texts),
    language,
    languageConfidence: confidence,
    segments: pieces.flatMap((piece) => piece.transcript.segments.map((segment) => shiftTimes(segment, piece))),
    words: pieces.flatMap((piece) => piece.transcript.words.map((word) => shiftTimes(word, piece))),
    providerSeconds: sumOf(transcripts.map(({ providerSeconds }) => providerSeconds)),
    // The first of several: the others can be found next to it at the provider.
    providerRequestId: transcripts[0]?.providerRequestId ?? null,
    receipts: mergeReceipts(transcripts),
  };
}

/** Shifts times to the recording. Times beyond the end of the piece are clamped to the cut, so that they do not fall into the next piece. */
function shiftTimes<P extends ProviderWord>(piece: P, { startSeconds, durationSeconds }: HeardPiece): P {
  const start = Math.min(Math.max(0, piece.start), durationSeconds);
  const end = Math.min(Math.max(start, piece.end), durationSeconds);
  return { ...piece, start: startSeconds + start, end: startSeconds + end };
}

/** The language that covers most of the recording. If all pieces agree, the lowest confidence counts. */
function languageOf(pieces: readonly HeardPiece[]): { language: string | null; confidence: number | null } {
  const seconds = new Map<string, number>();
  for (const { transcript, durationSeconds } of pieces)
    if (transcript.language !== null)
      seconds.set(transcript.language, (seconds.get(transcript.language) ?? 0) + durationSeconds);
  const [longest] = [...seconds].toSorted(([, one], [, other]) => other - one);
  if (longest === undefined) return { language: null, confidence: null };
  const confidences = pieces.flatMap(({ transcript }) => transcript.languageConfidence ?? []);
  return {
    language: longest[0],
    confidence: seconds.size === 1 && confidences.length > 0 ? Math.min(...confidences) : null,
  };
}

function mergeReceipts(transcripts: readonly ProviderTranscript[]): readonly Receipt[] {
  const merged = new Map<Receipt["feature"], Receipt>();
  for (const receipt of transcripts.flatMap(({ receipts }) => receipts)) {
    const previous = merged.get(receipt.feature);
    merged.set(receipt.feature, previous?.delivered === false ? previous : receipt);
  }
  return [...merged.values()];
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}
