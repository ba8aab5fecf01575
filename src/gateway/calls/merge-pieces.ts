// Merges the transcripts of a recording's pieces: times moved to where each piece begins, texts in order, nothing lost
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
    segments: pieces.flatMap((piece) => piece.transcript.segments.map((segment) => moved(segment, piece))),
    words: pieces.flatMap((piece) => piece.transcript.words.map((word) => moved(word, piece))),
    providerSeconds: sumOf(transcripts.map(({ providerSeconds }) => providerSeconds)),
    // Of several the first: whoever looks it up finds the others beside it.
    providerRequestId: transcripts[0]?.providerRequestId ?? null,
    receipts: mergedReceipts(transcripts),
  };
}

/** What a model says beyond the end of its piece would lie in the next one: it is kept, at the cut. */
function moved<P extends ProviderWord>(piece: P, { startSeconds, durationSeconds }: HeardPiece): P {
  const start = Math.min(Math.max(0, piece.start), durationSeconds);
  const end = Math.min(Math.max(start, piece.end), durationSeconds);
  return { ...piece, start: startSeconds + start, end: startSeconds + end };
}

/** The one that most of the recording is in; how sure of it the least sure piece was, where all agree. */
function languageOf(pieces: readonly HeardPiece[]): { language: string | null; confidence: number | null } {
  const seconds = new Map<string, number>();
  for (const { transcript, durationSeconds } of pieces)
    if (transcript.language !== null)
      seconds.set(transcript.language, (seconds.get(transcript.language) ?? 0) + durationSeconds);
  const [most] = [...seconds].toSorted(([, one], [, other]) => other - one);
  if (most === undefined) return { language: null, confidence: null };
  const sure = pieces.flatMap(({ transcript }) => transcript.languageConfidence ?? []);
  return { language: most[0], confidence: seconds.size === 1 && sure.length > 0 ? Math.min(...sure) : null };
}

function mergedReceipts(transcripts: readonly ProviderTranscript[]): readonly Receipt[] {
  const merged = new Map<Receipt["feature"], Receipt>();
  for (const receipt of transcripts.flatMap(({ receipts }) => receipts)) {
    const before = merged.get(receipt.feature);
    merged.set(receipt.feature, { ...receipt, delivered: receipt.delivered && before?.delivered !== false });
  }
  return [...merged.values()];
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}
