// Splits a transcript into timed pieces that a line must not break: words, joined where the provider cut inside one, and cut where wider than a line. Segments
// are the source when the words do not contain the whole text.
import type { Segment, Word } from "../contract/transcription/transcription-envelope.ts";
import { gapBetween } from "../lib/text/join-words.ts";
import { columnsOf } from "./columns.ts";
import { breakRun, tornJoints } from "./line-breaks.ts";

interface Timed {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker: string | null;
  readonly channel: number | null;
}

export interface Piece extends Timed {
  /** Width in columns. */
  readonly columns: number;
  /** The separator before the piece on its line. Absent: depends on its script. */
  readonly gap?: "" | " ";
}

export type PieceSource = { readonly words: readonly Word[] } | { readonly segments: readonly Segment[] };

/** Most parts that are segmented together. */
const MAX_PARTS = 2_000;
/** Pieces with a larger gap are not parts of one word. */
const MAX_SECONDS_INSIDE_A_WORD = 0.5;

export function linePieces(source: PieceSource, columnsFor: (speaker: string | null) => number): readonly Piece[] {
  const isWords = "words" in source;
  const texts: readonly Timed[] = isWords ? joinTorn(source.words) : source.segments;
  const pieces: Piece[] = [];
  for (const each of texts) {
    const columns = columnsFor(each.speaker);
    const text = each.text.replace(/\s+/gu, " ").trim();
    const width = columnsOf(text);
    if (isWords && text !== "" && width <= columns) pieces.push({ ...each, text, columns: width });
    else for (const piece of cut(text, each, isWords ? undefined : " ", columns)) pieces.push(piece);
  }
  return pieces;
}

/** `gap` precedes the first part. */
function cut(text: string, timed: Timed, gap: Piece["gap"], maxColumns: number): readonly Piece[] {
  const parts = text
    .split(" ")
    .filter((token) => token !== "")
    .flatMap((token, tokenIndex) =>
      breakRun(token, maxColumns).map((part, index) => ({
        text: part,
        gap: index > 0 ? ("" as const) : tokenIndex > 0 ? (" " as const) : gap,
      })),
    );
  const total = parts.reduce((sum, part) => sum + part.text.length, 0);
  const secondsPerCharacter = (timed.end - timed.start) / Math.max(1, total);
  const { speaker, channel } = timed;
  let start = timed.start;
  return parts.map((part, index) => {
    const end = index === parts.length - 1 ? timed.end : start + part.text.length * secondsPerCharacter;
    const base = { text: part.text, columns: columnsOf(part.text), start, end, speaker, channel };
    const piece = part.gap === undefined ? base : { ...base, gap: part.gap };
    start = end;
    return piece;
  });
}

/** Joins words of one voice that adjoin without a space, because some providers cut Chinese and Thai into characters. */
function joinTorn(words: readonly Word[]): readonly Timed[] {
  const joined: Timed[] = [];
  const runs = new Map<string, { readonly places: number[]; readonly parts: Timed[] }>();
  const replacements = new Map<number, Timed | null>();
  for (const word of words) {
    const voice = JSON.stringify([word.channel, word.speaker]);
    const run = runs.get(voice);
    const last = run?.parts.at(-1);
    const adjoins =
      last !== undefined &&
      run !== undefined &&
      run.parts.length < MAX_PARTS &&
      word.start - last.end <= MAX_SECONDS_INSIDE_A_WORD &&
      gapBetween(last.text, word.text.trimStart()) === "" &&
      !/\s/u.test(last.text + word.text);
    if (adjoins) {
      run.places.push(joined.length);
      run.parts.push(word);
    } else {
      if (run !== undefined) mergeRun(run, replacements);
      runs.set(voice, { places: [joined.length], parts: [word] });
    }
    joined.push(word);
  }
  for (const run of runs.values()) mergeRun(run, replacements);
  return joined.flatMap((piece, place) => {
    const replacement = replacements.get(place);
    return replacement === undefined ? [piece] : replacement === null ? [] : [replacement];
  });
}

/** Sets null for a part that was merged into the piece before it. */
function mergeRun(
  { places, parts }: { readonly places: readonly number[]; readonly parts: readonly Timed[] },
  replacements: Map<number, Timed | null>,
): void {
  if (parts.length === 1) return;
  const torn = tornJoints(parts.map(({ text }) => text));
  let head = 0;
  for (const [index, part] of parts.entries()) {
    if (!torn.has(index)) {
      head = index;
      continue;
    }
    const place = places[head] ?? 0;
    const target = replacements.get(place) ?? parts[head] ?? part;
    replacements.set(place, { ...target, text: target.text + part.text, end: Math.max(target.end, part.end) });
    replacements.set(places[index] ?? 0, null);
  }
}
