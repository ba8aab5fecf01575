// Builds the transcript of a recording from its recognised pieces: times shifted back, segments from silences, speakers from the turns [local.segments]
// [local.speakers]. Pure.
import { joinWords } from "../../lib/text/join-words.ts";
import type { ProviderSegment, ProviderWord } from "../provider.ts";
import type { SpeakerTurn } from "./engine/engine-protocol.ts";
import type { LocalWord } from "./local-words.ts";

/** One recognised piece. Times of words are relative to it. */
export interface HeardPiece {
  readonly startSeconds: number;
  readonly text: string;
  /** BCP 47, or empty. */
  readonly language: string;
  readonly words: readonly LocalWord[];
  /** Where its sound begins and ends. */
  readonly bounds: { readonly start: number; readonly end: number };
}

export interface LocalTranscript {
  readonly text: string;
  readonly language: string | null;
  readonly words: readonly ProviderWord[];
  readonly segments: readonly ProviderSegment[];
}

export function buildTranscript(pieces: readonly HeardPiece[], turns: readonly SpeakerTurn[] | null): LocalTranscript {
  const ordered = turns?.toSorted((one, other) => one.start - other.start) ?? null;
  const timed = pieces.map((piece) => ({ piece, words: shiftedWords(piece, ordered) }));
  const words = timed.flatMap((each) => each.words);
  const segments = timed.flatMap((each) =>
    each.words.length > 0 ? segmentsFromWords(each.words) : wholeSegment(each.piece, ordered),
  );
  return {
    text: joinWords(pieces.map(({ text }) => text.trim()).filter((text) => text !== "")),
    language: languageOf(pieces),
    words,
    segments,
  };
}

/** The segments of one piece, as they are streamed. */
export function segmentsOf(piece: HeardPiece): readonly ProviderSegment[] {
  return buildTranscript([piece], null).segments;
}

function shiftedWords(
  { words, startSeconds }: HeardPiece,
  turns: readonly SpeakerTurn[] | null,
): readonly ProviderWord[] {
  return words.map(({ text, start, end, confidence }) => {
    const times = { start: startSeconds + start, end: startSeconds + end };
    return { text, ...times, confidence, channel: null, speaker: speakerOf(times, turns) };
  });
}

function wholeSegment(
  { text, startSeconds, bounds }: HeardPiece,
  turns: readonly SpeakerTurn[] | null,
): readonly ProviderSegment[] {
  if (text.trim() === "") return [];
  const times = { start: startSeconds + bounds.start, end: startSeconds + bounds.end };
  return [{ text: text.trim(), ...times, confidence: null, channel: null, speaker: speakerOf(times, turns) }];
}

/** A silence of this length ends a segment, after a sentence a shorter one. */
const PAUSE_SECONDS = 0.6;
const SENTENCE_PAUSE_SECONDS = 0.2;
const MAX_SEGMENT_SECONDS = 30;

function segmentsFromWords(words: readonly ProviderWord[]): readonly ProviderSegment[] {
  const groups: ProviderWord[][] = [];
  for (const word of words) {
    const current = groups.at(-1);
    if (current === undefined || endsBefore(current, word)) groups.push([word]);
    else current.push(word);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    const last = group.at(-1);
    if (first === undefined || last === undefined) return [];
    const confidences = group.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]));
    const mean = confidences.reduce((sum, value) => sum + value, 0) / confidences.length;
    return [
      {
        text: joinWords(group.map(({ text }) => text)),
        start: first.start,
        end: last.end,
        confidence: confidences.length === 0 ? null : mean,
        channel: null,
        speaker: first.speaker,
      },
    ];
  });
}

function endsBefore(group: readonly ProviderWord[], next: ProviderWord): boolean {
  const [first] = group;
  const last = group.at(-1);
  if (first === undefined || last === undefined) return false;
  const silence = next.start - last.end;
  const isSentence = /[.!?…。！？]$/u.test(last.text);
  return (
    last.speaker !== next.speaker ||
    silence >= (isSentence ? SENTENCE_PAUSE_SECONDS : PAUSE_SECONDS) ||
    next.end - first.start > MAX_SEGMENT_SECONDS
  );
}

/** Turns that begin before a moment and may still last: no more speakers talk at once. */
const LOOK_BACK = 32;

/** The speaker who speaks most of it, or else the nearest one. `turns` is ordered by start, and only those around the moment are compared. */
function speakerOf(
  { start, end }: Pick<ProviderWord, "start" | "end">,
  turns: readonly SpeakerTurn[] | null,
): string | null {
  if (turns === null) return null;
  const later = firstFrom(turns, end);
  let best: SpeakerTurn | null = null;
  let bestOverlap = Number.NEGATIVE_INFINITY;
  for (const turn of turns.slice(Math.max(0, later - LOOK_BACK), later + 1)) {
    // Negative: the distance.
    const overlap = Math.min(end, turn.end) - Math.max(start, turn.start);
    if (overlap > bestOverlap) [best, bestOverlap] = [turn, overlap];
  }
  return best === null ? null : String(best.speaker);
}

/** Index of the first turn that begins at this moment or later. */
function firstFrom(turns: readonly SpeakerTurn[], moment: number): number {
  let [low, high] = [0, turns.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle]?.start ?? 0) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The language of most words. */
function languageOf(pieces: readonly HeardPiece[]): string | null {
  const lengths = new Map<string, number>();
  for (const { language, text } of pieces)
    if (language !== "") lengths.set(language, (lengths.get(language) ?? 0) + text.length);
  return [...lengths].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? null;
}
