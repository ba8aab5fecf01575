// Builds caption cues from words or segments: at most two lines of 42 columns and seven seconds, broken at punctuation and speaker changes. No text is lost and
// start times never decrease. Shared by SRT and WebVTT.
import { gapBetween } from "../lib/text/join-words.ts";
import { hasSameLetters } from "../lib/text/has-same-letters.ts";
import type { Segment, Word } from "../contract/transcription/transcription-envelope.ts";
import { columnsOf } from "./columns.ts";
import { linePieces, type Piece } from "./line-pieces.ts";

export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly speaker: string | null;
  /** One or two. */
  readonly lines: readonly string[];
}

export const LINE_COLUMNS = 42;
const CUE_LINES = 2;
const CUE_COLUMNS = LINE_COLUMNS * CUE_LINES;
const CUE_SECONDS = 7;
const MIN_CUE_SECONDS = 0.8;
/** Reading speed that most people can follow. */
const COLUMNS_A_SECOND = 20;
/** Resolution of a caption's timestamps. */
const CLOCK_SECONDS = 0.001;
/** A pause this long starts a new cue even in the middle of a sentence. */
const PAUSE_SECONDS = 1.2;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]?$/u;

/**
 * Uses words when they contain the same text as the segments. Otherwise each segment is cut at word boundaries and its time is divided by characters, so that
 * every piece stays inside the segment that the provider timed.
 */
export function buildCues(
  segments: readonly Segment[],
  words: readonly Word[],
  durationSeconds: number,
): readonly Cue[] {
  const pieces = linePieces(haveSameText(words, segments) ? { words } : { segments }, columnsFor);
  const groups = group(pieces);
  let previousStart = 0;
  let nextIndex = 0;
  return groups.map((group) => {
    // Groups with the same start are shown at the same time.
    while (nextIndex < groups.length && startOf(groups[nextIndex]) - startOf(group) < CLOCK_SECONDS) nextIndex++;
    const cue = toCue(group, {
      begun: previousStart,
      next: nextIndex < groups.length ? startOf(groups[nextIndex]) : Infinity,
      durationSeconds,
    });
    previousStart = cue.start;
    return cue;
  });
}

/** Compares letters without their order, because words of several channels are interleaved. */
function haveSameText(words: readonly Word[], segments: readonly Segment[]): boolean {
  if (words.length === 0 || segments.length === 0) return words.length > 0;
  return hasSameLetters(textOf(words), textOf(segments));
}

function textOf(pieces: readonly { readonly text: string }[]): string {
  return pieces.map(({ text }) => text).join("");
}

/** What one voice says before it pauses, is answered or fills a cue. Cues of voices that speak at once overlap. */
interface OpenCue {
  readonly pieces: Piece[];
  readonly lines: string[];
  /** Width of the last line, and of the whole text. */
  lineColumns: number;
  columns: number;
  /** When another voice began to speak in the gap after the last piece. */
  answeredAt: number;
}

function group(pieces: readonly Piece[]): readonly OpenCue[] {
  const groups: OpenCue[] = [];
  const open = new Map<string, OpenCue>();
  for (const piece of pieces) {
    const voice = JSON.stringify([piece.channel, piece.speaker]);
    let cue = open.get(voice);
    let gap = cue === undefined ? null : gapOnLine(cue, piece);
    if (cue === undefined || cue.answeredAt <= piece.start || breaksBefore(cue, piece, gap)) {
      cue = { pieces: [], lines: [], lineColumns: 0, columns: 0, answeredAt: Infinity };
      gap = null;
      open.set(voice, cue);
      groups.push(cue);
    }
    cue.columns += columnsWith(cue, piece);
    cue.pieces.push(piece);
    if (gap === null) cue.lines.push(piece.text);
    else cue.lines[cue.lines.length - 1] += gap + piece.text;
    cue.lineColumns = gap === null ? piece.columns : cue.lineColumns + gap.length + piece.columns;
    cue.answeredAt = Infinity;
    for (const [otherVoice, otherCue] of open) if (otherVoice !== voice) markAnswered(otherCue, piece);
  }
  return groups.toSorted((one, other) => startOf(one) - startOf(other));
}

/** Compares the middle of the piece, because consecutive turns overlap a little at their edges. */
function markAnswered(cue: OpenCue, piece: Piece): void {
  const middle = (piece.start + piece.end) / 2;
  if (middle >= (cue.pieces.at(-1)?.end ?? 0)) cue.answeredAt = Math.min(cue.answeredAt, middle);
}

/** The separator before the piece on the last line. Null: the piece needs a new line. */
function gapOnLine({ lines, lineColumns }: OpenCue, { text, columns, gap, speaker }: Piece): "" | " " | null {
  const separator = gap ?? gapBetween(lines.at(-1) ?? "", text);
  const room = lines.length > 1 ? LINE_COLUMNS : columnsFor(speaker);
  return lineColumns + separator.length + columns <= room ? separator : null;
}

/** How many columns the piece adds to the cue's text. */
function columnsWith({ pieces }: OpenCue, { columns, gap }: Piece): number {
  return columns + (pieces.length === 0 || gap === "" ? 0 : 1);
}

/** Columns of a cue's first line after the speaker's name. */
function columnsFor(speaker: string | null): number {
  return speaker === null ? LINE_COLUMNS : Math.max(1, LINE_COLUMNS - columnsOf(speakerLabel(speaker)));
}

/** The speaker's name in formats without markup for voices. */
export function speakerLabel(speaker: string): string {
  return `${speaker}: `;
}

/** `gap` is the result of `gapOnLine`. */
function breaksBefore(cue: OpenCue, next: Piece, gap: "" | " " | null): boolean {
  const { pieces, lines } = cue;
  const first = pieces[0];
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return false;
  const columns = cue.columns + columnsWith(cue, next);
  return (
    columns > CUE_COLUMNS ||
    (gap === null && lines.length === CUE_LINES) ||
    next.end - first.start > CUE_SECONDS ||
    next.start - last.end > PAUSE_SECONDS ||
    (SENTENCE_END.test(last.text) && columns > LINE_COLUMNS)
  );
}

interface Around {
  /** Start of the previous cue. */
  readonly begun: number;
  /** Start of the first cue after this one. */
  readonly next: number;
  readonly durationSeconds: number;
}

function toCue(cue: OpenCue, { begun, next, durationSeconds }: Around): Cue {
  const { pieces, lines } = cue;
  const from = startOf(cue);
  const speechEnd = Math.max(...pieces.map((piece) => piece.end), from);
  // A short cue, or much text in a short cue, cannot be read: extends it, but not beyond the next cue or the end of the audio.
  const room = Math.min(next, durationSeconds);
  const toRead = columnsOf(lines.join(" ")) / COLUMNS_A_SECOND;
  const readable = Math.min(CUE_SECONDS, Math.max(MIN_CUE_SECONDS, toRead));
  const end = Math.max(speechEnd, Math.min(from + readable, room));
  // A cue that ends when it starts is never shown: text at the very end of the audio starts a little earlier.
  const start = end - from < CLOCK_SECONDS ? Math.max(begun, end - MIN_CUE_SECONDS) : from;
  return { start, end, speaker: pieces[0]?.speaker ?? null, lines };
}

function startOf(cue: OpenCue | undefined): number {
  return cue?.pieces[0]?.start ?? 0;
}
