// A transcript by time: timed pieces, and the turns of the speakers. Pure.
import type { Segment, TranscriptionEnvelope, Word } from "../contract/transcription/transcription-envelope.ts";
import { gapBetween, joinWords } from "../lib/text/join-words.ts";

/** A word, or the same fields of a segment. */
export type Piece = Readonly<Word>;
export type Timed = Pick<TranscriptionEnvelope, "words" | "segments" | "content" | "duration_seconds">;

/** Words with a lower confidence are marked. */
export const LOW_CONFIDENCE = 0.7;

/** Words if there are any, else segments; otherwise there are no times. */
export function piecesOf({ words, segments }: Timed): readonly Piece[] {
  return words.length > 0 ? words : segments;
}

export interface Turn {
  readonly speaker: string | null;
  readonly channel: number | null;
  /** Index of its first piece. */
  readonly from: number;
  readonly pieces: Piece[];
}

const PAUSE_SECONDS = 2;

export function turnsOf(pieces: readonly Piece[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, piece] of pieces.entries()) {
    const last = turns.at(-1);
    const isSame = last?.speaker === piece.speaker && last.channel === piece.channel;
    if (last !== undefined && isSame && piece.start - (last.pieces.at(-1)?.end ?? 0) < PAUSE_SECONDS)
      last.pieces.push(piece);
    else turns.push({ speaker: piece.speaker, channel: piece.channel, from: index, pieces: [piece] });
  }
  return turns;
}

/** The space before a piece of a turn. */
export function spaceBefore({ pieces }: Turn, index: number): string {
  return gapBetween(pieces[index - 1]?.text ?? "", pieces[index]?.text ?? "");
}

/** The piece at a time, the one that starts last if several overlap; -1 in a pause. Starts are in ascending order. */
export function pieceAt(pieces: readonly Piece[], seconds: number): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.start ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  const found = pieces[low - 1];
  return found !== undefined && seconds < found.end ? low - 1 : -1;
}

/** From the answer, else one per turn, else a single segment. */
export function segmentsOf(answer: Timed): readonly Segment[] {
  if (answer.segments.length > 0) return answer.segments;
  const turns = turnsOf(piecesOf(answer));
  if (turns.length === 0)
    return [
      segmentAt(0, { start: 0, end: answer.duration_seconds, text: answer.content, speaker: null, channel: null }),
    ];
  return turns.map(({ speaker, channel, pieces }, id) => {
    const text = joinWords(pieces.map((piece) => piece.text));
    return segmentAt(id, { start: pieces[0]?.start ?? 0, end: pieces.at(-1)?.end ?? 0, text, speaker, channel });
  });
}

function segmentAt(id: number, segment: Omit<Segment, "id" | "confidence">): Segment {
  return { ...segment, id, confidence: null };
}

/** `1:02.3` */
export function clock(seconds: number): string {
  const tenths = Math.floor(seconds * 10 + 1e-6);
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
}
