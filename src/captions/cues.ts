// Words and segments to caption cues: at most two lines of 42 columns and seven seconds, long enough to be read where there is room,
// broken at punctuation and speaker changes; no text is lost and starts never decrease. Shared by srt and vtt.
import { CHUNK_SIZE, mapCooperatively, type CooperativeTask } from "../lib/concurrency/cooperative-task.ts";
import { gapBetween } from "../lib/text/join-words.ts";
import { hasSameLetters } from "../lib/text/has-same-letters.ts";
import type { Segment, Word } from "../contract/transcription.ts";
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
/** What most people can follow. */
const COLUMNS_A_SECOND = 20;
/** What a caption's clock can tell apart. */
const CLOCK_SECONDS = 0.001;
/** A pause this long starts a new cue even in the middle of a sentence. */
const PAUSE_SECONDS = 1.2;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]?$/u;

/**
 * Words give the best cues, where they say all that the segments do. Otherwise each segment is cut at word boundaries and its time shared out by
 * characters: every piece stays inside the segment the provider timed.
 */
export function* buildCues(
  segments: readonly Segment[],
  words: readonly Word[],
  durationSeconds: number,
): CooperativeTask<readonly Cue[]> {
  const pieces = yield* linePieces(sayTheSame(words, segments) ? { words } : { segments }, columnsFor);
  const groups = yield* group(pieces);
  let begun = 0;
  let later = 0;
  return yield* mapCooperatively(groups, (own) => {
    // Those that begin with it lie beside it.
    while (later < groups.length && startOf(groups[later]) - startOf(own) < CLOCK_SECONDS) later++;
    const cue = toCue(own, { begun, next: later < groups.length ? startOf(groups[later]) : Infinity, durationSeconds });
    begun = cue.start;
    return cue;
  });
}

/** Letter for letter, order aside: with several channels the words lie between one another. */
function sayTheSame(words: readonly Word[], segments: readonly Segment[]): boolean {
  if (words.length === 0 || segments.length === 0) return words.length > 0;
  return hasSameLetters(textOf(words), textOf(segments));
}

function textOf(pieces: readonly { readonly text: string }[]): string {
  return pieces.map(({ text }) => text).join("");
}

/** What one voice says before it pauses, is answered or fills a cue; those of voices that talk at once lie beside each other. */
interface OpenCue {
  readonly pieces: Piece[];
  readonly lines: string[];
  /** Of the last line, and of all of its text. */
  lineColumns: number;
  columns: number;
  /** When another voice began to speak in the gap after the last piece. */
  answeredAt: number;
}

function* group(pieces: readonly Piece[]): CooperativeTask<readonly OpenCue[]> {
  const groups: OpenCue[] = [];
  const open = new Map<string, OpenCue>();
  for (const [index, piece] of pieces.entries()) {
    if (index % CHUNK_SIZE === CHUNK_SIZE - 1) yield;
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
    for (const [other, heard] of open) if (other !== voice) answer(heard, piece);
  }
  return groups.toSorted((one, other) => startOf(one) - startOf(other));
}

/** By the middle of what was said: turns that follow each other overlap a little at their edges. */
function answer(heard: OpenCue, piece: Piece): void {
  const middle = (piece.start + piece.end) / 2;
  if (middle >= (heard.pieces.at(-1)?.end ?? 0)) heard.answeredAt = Math.min(heard.answeredAt, middle);
}

/** What precedes the piece on the last line; null: it needs a line of its own. */
function gapOnLine({ lines, lineColumns }: OpenCue, { text, columns, gap, speaker }: Piece): "" | " " | null {
  const own = gap ?? gapBetween(lines.at(-1) ?? "", text);
  const room = lines.length > 1 ? LINE_COLUMNS : columnsFor(speaker);
  return lineColumns + own.length + columns <= room ? own : null;
}

/** By how much the piece makes the cue's text longer. */
function columnsWith({ pieces }: OpenCue, { columns, gap }: Piece): number {
  return columns + (pieces.length === 0 || gap === "" ? 0 : 1);
}

/** What a cue's first line has room for behind the speaker's name. */
function columnsFor(speaker: string | null): number {
  return speaker === null ? LINE_COLUMNS : Math.max(1, LINE_COLUMNS - columnsOf(speakerLabel(speaker)));
}

/** As captions without a markup for voices tell it. */
export function speakerLabel(speaker: string): string {
  return `${speaker}: `;
}

/** `gap`: what `gapOnLine` says of it. */
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
  /** Where the one before begins. */
  readonly begun: number;
  /** Where the first one behind it begins. */
  readonly next: number;
  readonly durationSeconds: number;
}

function toCue(cue: OpenCue, { begun, next, durationSeconds }: Around): Cue {
  const { pieces, lines } = cue;
  const from = startOf(cue);
  const spoken = Math.max(...pieces.map((piece) => piece.end), from);
  // A flash of text cannot be read, nor can much text in a moment: lengthen it, but not over the next cue nor past the audio.
  const room = Math.min(next, durationSeconds);
  const toRead = columnsOf(lines.join(" ")) / COLUMNS_A_SECOND;
  const readable = Math.min(CUE_SECONDS, Math.max(MIN_CUE_SECONDS, toRead));
  const end = Math.max(spoken, Math.min(from + readable, room));
  // One that ends as it begins is never shown: what was heard at the very end of the audio begins a little before it.
  const start = end - from < CLOCK_SECONDS ? Math.max(begun, end - MIN_CUE_SECONDS) : from;
  return { start, end, speaker: pieces[0]?.speaker ?? null, lines };
}

function startOf(cue: OpenCue | undefined): number {
  return cue?.pieces[0]?.start ?? 0;
}
