// The text of a transcript in timed pieces that a line keeps whole: words, joined where a provider cut inside one, cut where one is
// wider than a line; out of words, or out of segments where words do not say it all.
import type { Segment, Word } from "../contract/transcription.ts";
import { gapBetween } from "../lib/text/join-words.ts";
import type { CooperativeTask } from "../lib/concurrency/cooperative-task.ts";
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
  /** Its width. */
  readonly columns: number;
  /** In front of it, on its line; by its script where absent. */
  readonly gap?: "" | " ";
}

export type PieceSource = { readonly words: readonly Word[] } | { readonly segments: readonly Segment[] };

/** Between two yields; segmenting them takes a few milliseconds. */
const CHARACTERS_A_STEP = 5_000;
/** Parts that are looked at together. */
const MAX_PARTS = 2_000;
/** Pieces further apart are no parts of one word. */
const MAX_SECONDS_INSIDE_A_WORD = 0.5;

export function* linePieces(
  source: PieceSource,
  columnsFor: (speaker: string | null) => number,
): CooperativeTask<Piece[]> {
  const isWords = "words" in source;
  const whole: readonly Timed[] = isWords ? yield* joinTorn(source.words) : source.segments;
  const pieces: Piece[] = [];
  let characters = 0;
  for (const each of whole) {
    const columns = columnsFor(each.speaker);
    const text = each.text.replace(/\s+/gu, " ").trim();
    const width = columnsOf(text);
    if (isWords && text !== "" && width <= columns) pieces.push({ ...each, text, columns: width });
    else for (const piece of cut(text, each, isWords ? undefined : " ", columns)) pieces.push(piece);
    characters += each.text.length + 1;
    if (characters < CHARACTERS_A_STEP) continue;
    characters = 0;
    yield;
  }
  return pieces;
}

/** `gap`: in front of its first part. */
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
    const own = { text: part.text, columns: columnsOf(part.text), start, end, speaker, channel };
    const piece = part.gap === undefined ? own : { ...own, gap: part.gap };
    start = end;
    return piece;
  });
}

/** Words of one voice that adjoin without a space, as some providers cut Chinese and Thai into characters. */
function* joinTorn(words: readonly Word[]): CooperativeTask<readonly Timed[]> {
  const joined: Timed[] = [];
  const runs = new Map<string, { readonly places: number[]; readonly parts: Timed[] }>();
  const merged = new Map<number, Timed | null>();
  let characters = 0;
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
      if (run !== undefined) mergeRun(run, merged);
      runs.set(voice, { places: [joined.length], parts: [word] });
    }
    joined.push(word);
    characters += word.text.length + 1;
    if (characters < CHARACTERS_A_STEP) continue;
    characters = 0;
    yield;
  }
  for (const run of runs.values()) mergeRun(run, merged);
  return joined.flatMap((piece, place) => {
    const instead = merged.get(place);
    return instead === undefined ? [piece] : instead === null ? [] : [instead];
  });
}

/** Null: part of the piece in front of it. */
function mergeRun(
  { places, parts }: { readonly places: readonly number[]; readonly parts: readonly Timed[] },
  merged: Map<number, Timed | null>,
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
    const whole = merged.get(place) ?? parts[head] ?? part;
    merged.set(place, { ...whole, text: whole.text + part.text, end: Math.max(whole.end, part.end) });
    merged.set(places[index] ?? 0, null);
  }
}
