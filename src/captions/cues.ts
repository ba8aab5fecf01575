// Words and segments to caption cues: at most two lines of 42 characters and seven seconds, long enough to be read where there is room,
// broken at punctuation and speaker changes; no text is lost and starts never decrease. Shared by srt and vtt.
import { AT_A_TIME, flatMapped, mapped, type Steps } from "../lib/steps.ts";
import { gapBetween, UNSPACED } from "../lib/join-words.ts";
import { hasSameLetters } from "../lib/same-letters.ts";
import type { Segment, Word } from "../contract/transcription.ts";

export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly speaker: string | null;
  /** One or two; a word longer than a line has one to itself. */
  readonly lines: readonly string[];
}

/** A piece of text with its time: a word, or a slice of a segment. */
interface Piece {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: string | null;
  readonly channel: number | null;
  /** Before it, on its line; what the script wants unless told. */
  readonly gap?: "" | " ";
}

export const LINE_CHARACTERS = 42;
const CUE_LINES = 2;
const CUE_CHARACTERS = LINE_CHARACTERS * CUE_LINES;
const CUE_SECONDS = 7;
const MIN_CUE_SECONDS = 0.8;
/** What most people can follow. */
const CHARACTERS_A_SECOND = 20;
/** What a caption's clock can tell apart. */
const CLOCK_SECONDS = 0.001;
/** A pause this long starts a new cue even in the middle of a sentence. */
const PAUSE_SECONDS = 1.2;
const SENTENCE_END = /[.!?…。！？]["'”’)\]]?$/u;

/**
 * Words give the best cues, where they say all that the segments do. Otherwise each segment is sliced at word boundaries and its time shared out by
 * characters: every slice stays inside the segment the provider timed.
 */
export function* buildCues(
  segments: readonly Segment[],
  words: readonly Word[],
  durationSeconds: number,
): Steps<readonly Cue[]> {
  const pieces: readonly Piece[] = sayTheSame(words, segments) ? words : yield* flatMapped(segments, slice);
  const spoken = yield* flatMapped(pieces, (piece): readonly Piece[] => {
    const text = singleLine(piece.text);
    return text === "" ? [] : [{ ...piece, text }];
  });
  const groups = yield* group(spoken);
  let begun = 0;
  let later = 0;
  return yield* mapped(groups, (own) => {
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

function slice(segment: Segment): readonly Piece[] {
  const tokens = segment.text
    .split(/\s+/u)
    .filter((token) => token !== "")
    .flatMap(breakable);
  const total = tokens.reduce((sum, { text }) => sum + text.length, 0);
  const secondsPerCharacter = (segment.end - segment.start) / Math.max(1, total);
  let start = segment.start;
  return tokens.map(({ text, gap }, index) => {
    const end = index === tokens.length - 1 ? segment.end : start + text.length * secondsPerCharacter;
    const piece = { text, gap, start, end, speaker: segment.speaker, channel: segment.channel };
    start = end;
    return piece;
  });
}

const CHARACTER = new RegExp(`[${UNSPACED}][^\\p{L}\\p{N}\\s]*|[^\\s${UNSPACED}]+`, "gu");

/** A run without a space that is longer than a line can be broken between its characters, where its script allows that. */
function breakable(run: string): readonly { readonly text: string; readonly gap: "" | " " }[] {
  const parts = run.length > LINE_CHARACTERS ? (run.match(CHARACTER) ?? [run]) : [run];
  return parts.map((text, index) => ({ text, gap: index === 0 ? " " : "" }));
}

/** What one voice says before it pauses, is answered or fills a cue; those of voices that talk at once lie beside each other. */
interface OpenCue {
  readonly pieces: Piece[];
  readonly lines: string[];
  /** When another voice began to speak in the gap after the last piece. */
  answeredAt: number;
}

function* group(pieces: readonly Piece[]): Steps<readonly OpenCue[]> {
  const groups: OpenCue[] = [];
  const open = new Map<string, OpenCue>();
  for (const [index, piece] of pieces.entries()) {
    if (index % AT_A_TIME === AT_A_TIME - 1) yield;
    const voice = JSON.stringify([piece.channel, piece.speaker]);
    let cue = open.get(voice);
    let line = cue === undefined ? null : lineWith(cue, piece);
    if (cue === undefined || cue.answeredAt <= piece.start || breaksBefore(cue, piece, line)) {
      cue = { pieces: [], lines: [], answeredAt: Infinity };
      line = null;
      open.set(voice, cue);
      groups.push(cue);
    }
    cue.pieces.push(piece);
    if (line === null) cue.lines.push(piece.text);
    else cue.lines[cue.lines.length - 1] = line;
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

/** The last line with the piece on it; null: it needs a line of its own. Before the first one stands who speaks. */
function lineWith({ lines }: OpenCue, { text, gap, speaker }: Piece): string | null {
  const last = lines.at(-1) ?? "";
  const longer = `${last}${gap ?? gapBetween(last, text)}${text}`;
  const label = lines.length > 1 || speaker === null ? "" : speakerLabel(speaker);
  return label.length + longer.length <= LINE_CHARACTERS ? longer : null;
}

/** As captions without a markup for voices tell it. */
export function speakerLabel(speaker: string): string {
  return `${speaker}: `;
}

/** `line`: what `lineWith` says of it. */
function breaksBefore({ pieces, lines }: OpenCue, next: Piece, line: string | null): boolean {
  const first = pieces[0];
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return false;
  const characters = pieces.reduce((sum, piece) => sum + piece.text.length + 1, 0) + next.text.length;
  return (
    characters > CUE_CHARACTERS ||
    (line === null && lines.length === CUE_LINES) ||
    next.end - first.start > CUE_SECONDS ||
    next.start - last.end > PAUSE_SECONDS ||
    (SENTENCE_END.test(last.text) && characters > LINE_CHARACTERS)
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
  const toRead = lines.join(" ").length / CHARACTERS_A_SECOND;
  const readable = Math.min(CUE_SECONDS, Math.max(MIN_CUE_SECONDS, toRead));
  const end = Math.max(spoken, Math.min(from + readable, room));
  // One that ends as it begins is never shown: what was heard at the very end of the audio begins a little before it.
  const start = end - from < CLOCK_SECONDS ? Math.max(begun, end - MIN_CUE_SECONDS) : from;
  return { start, end, speaker: pieces[0]?.speaker ?? null, lines };
}

function startOf(cue: OpenCue | undefined): number {
  return cue?.pieces[0]?.start ?? 0;
}

function singleLine(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}
