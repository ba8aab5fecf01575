// Words and segments to caption cues: at most two lines of 42 characters and seven seconds, broken at punctuation and
// speaker changes; no text is lost and starts never decrease. Shared by srt and vtt.
import { AT_A_TIME, flatMapped, mapped, type Steps } from "../lib/in-steps.ts";
import { gapBetween, UNSPACED } from "../lib/join-words.ts";
import { hasSameLetters } from "../lib/same-letters.ts";
import type { Segment, Word } from "../contract/transcription.ts";

export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly speaker: string | null;
  /** One or two lines (more only when a single word is longer than a line). */
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
const CUE_CHARACTERS = LINE_CHARACTERS * 2;
const CUE_SECONDS = 7;
const MIN_CUE_SECONDS = 0.8;
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
  return yield* mapped(groups, (own, index) => toCue(own, groups[index + 1], durationSeconds));
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
  /** When another voice began to speak in the gap after the last piece. */
  answeredAt: number;
}

function* group(pieces: readonly Piece[]): Steps<readonly (readonly Piece[])[]> {
  const groups: (readonly Piece[])[] = [];
  const open = new Map<string, OpenCue>();
  for (const [index, piece] of pieces.entries()) {
    if (index % AT_A_TIME === AT_A_TIME - 1) yield;
    const voice = JSON.stringify([piece.channel, piece.speaker]);
    let cue = open.get(voice);
    if (cue === undefined || cue.answeredAt <= piece.start || breaksBefore(cue.pieces, piece)) {
      cue = { pieces: [], answeredAt: Infinity };
      open.set(voice, cue);
      groups.push(cue.pieces);
    }
    cue.pieces.push(piece);
    cue.answeredAt = Infinity;
    for (const [other, heard] of open) if (other !== voice) answer(heard, piece);
  }
  return groups.toSorted((one, other) => (one[0]?.start ?? 0) - (other[0]?.start ?? 0));
}

/** By the middle of what was said: turns that follow each other overlap a little at their edges. */
function answer(heard: OpenCue, piece: Piece): void {
  const middle = (piece.start + piece.end) / 2;
  if (middle >= (heard.pieces.at(-1)?.end ?? 0)) heard.answeredAt = Math.min(heard.answeredAt, middle);
}

function breaksBefore(current: readonly Piece[], next: Piece): boolean {
  const first = current[0];
  const last = current.at(-1);
  if (first === undefined || last === undefined) return false;
  const characters = current.reduce((sum, piece) => sum + piece.text.length + 1, 0) + next.text.length;
  return (
    characters > CUE_CHARACTERS ||
    next.end - first.start > CUE_SECONDS ||
    next.start - last.end > PAUSE_SECONDS ||
    (SENTENCE_END.test(last.text) && characters > LINE_CHARACTERS)
  );
}

function toCue(pieces: readonly Piece[], next: readonly Piece[] | undefined, durationSeconds: number): Cue {
  const start = pieces[0]?.start ?? 0;
  const spoken = Math.max(...pieces.map((piece) => piece.end), start);
  // A flash of text cannot be read: lengthen it, but not over the next cue nor past the audio.
  const room = Math.min(next?.[0]?.start ?? durationSeconds, durationSeconds);
  const end = Math.max(spoken, Math.min(start + MIN_CUE_SECONDS, room));
  return { start, end, speaker: pieces[0]?.speaker ?? null, lines: wrap(pieces) };
}

function wrap(pieces: readonly Piece[]): readonly string[] {
  const lines: string[] = [];
  for (const { text, gap } of pieces) {
    const last = lines.at(-1);
    const longer = last === undefined ? "" : `${last}${gap ?? gapBetween(last, text)}${text}`;
    if (last !== undefined && longer.length <= LINE_CHARACTERS) lines[lines.length - 1] = longer;
    else lines.push(text);
  }
  return lines;
}

function singleLine(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}
