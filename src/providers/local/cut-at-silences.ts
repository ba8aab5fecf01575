// Cuts samples into pieces at silences while they arrive [local.pieces]. The pieces cover the audio without gap or overlap, so that no word is lost or doubled
// at a seam.
import type { Samples } from "./local-calls.ts";

export interface Piece extends Samples {
  readonly startSeconds: number;
  /** Nothing in it is louder than silence. */
  readonly isSilent: boolean;
  /** Where it is loud. */
  readonly activity: Activity;
}

/** Levels in decibels of frames of 20 ms, and the level up to which a frame is a pause. */
export interface Activity {
  readonly levels: readonly number[];
  readonly pauseLevel: number;
}

export interface CutRules {
  /** No piece is longer. */
  readonly maxSeconds: number;
  /** A piece ends in the first pause after so much audio. Infinite: only when it would be too long. */
  readonly cutAfterSeconds: number;
  /** The shortest silence that counts as a pause. */
  readonly pauseSeconds: number;
  /** A pause is searched for each time that so much more audio has arrived, in whatever chunks, so that the same audio is always cut at the same places. */
  readonly stepSeconds: number;
}

/** Recordings: long pieces, because each decode has a fixed cost. Shorter than 60 s, because the memory of some models grows with the square of the length. */
export const RECORDING_CUTS: CutRules = { maxSeconds: 30, cutAfterSeconds: 20, pauseSeconds: 0.4, stepSeconds: 1 };
/** Live audio, and models without times of words: each piece is an utterance. */
export const UTTERANCE_CUTS: CutRules = { maxSeconds: 20, cutAfterSeconds: 0.5, pauseSeconds: 0.5, stepSeconds: 0.1 };

export const FRAME_SECONDS = 0.02;
/** Quieter than this is always silence. */
const SILENCE_DB = -60;
/** What is no louder than the quietest parts and this share of the way to the loud ones is a pause. */
const PAUSE_SHARE = 0.3;
const LEAST_ABOVE_FLOOR_DB = 6;
/** So many louder frames are speech. Audio without any is a piece of its own only after a while. */
const SPEECH_FRAMES = 4;
const SPEECHLESS_SECONDS = 5;
/** Without a pause, the quietest window of this length in the second half of the longest possible piece is the cut. */
const WINDOW_SECONDS = 0.2;

/** `seconds`: the length of a recording, so that no memory is allocated in vain. Infinite: live audio. Each piece has memory of its own. */
export async function* cutAtSilences(
  chunks: AsyncIterable<Samples>,
  rules: CutRules,
  seconds = Number.POSITIVE_INFINITY,
): AsyncGenerator<Piece> {
  let cutter: Cutter | null = null;
  for await (const { samples, sampleRate } of chunks) {
    cutter ??= createCutter(sampleRate, rules, seconds);
    cutter.add(samples);
    for (let piece = cutter.next(); piece !== null; piece = cutter.next()) yield piece;
  }
  const last = cutter?.rest() ?? null;
  if (last !== null) yield last;
}

interface Cutter {
  add(samples: Int16Array): void;
  /** Null: more audio is needed to decide. */
  next(): Piece | null;
  rest(): Piece | null;
}

function createCutter(sampleRate: number, rules: CutRules, seconds: number): Cutter {
  const frame = Math.max(1, Math.round(sampleRate * FRAME_SECONDS));
  const framesIn = (seconds: number): number => Math.max(1, Math.floor(seconds / FRAME_SECONDS));
  const maxFrames = framesIn(rules.maxSeconds);
  const leastFrames = Number.isFinite(rules.cutAfterSeconds) ? framesIn(rules.cutAfterSeconds) : maxFrames;
  const pauseFrames = framesIn(rules.pauseSeconds);
  const speechlessFrames = framesIn(SPEECHLESS_SECONDS);
  const stepFrames = framesIn(rules.stepSeconds);
  let buffer = new Int16Array(0);
  let filled = 0;
  /** Samples that are expected to follow. */
  let remaining = Math.ceil(seconds * sampleRate);
  /** Level of each whole frame in the buffer. */
  let levels: number[] = [];
  let startSample = 0;
  /** Frames before this one contain no cut. Whole steps. */
  let searched = 0;

  /** Of a recording at once, for the rest of it or of the longest piece. */
  function reserve(needed: number): void {
    if (needed <= buffer.length) return;
    const expected = Number.isFinite(remaining) ? needed + Math.min(remaining, maxFrames * frame) : needed * 2;
    const larger = new Int16Array(expected);
    larger.set(buffer.subarray(0, filled));
    buffer = larger;
  }

  function add(samples: Int16Array): void {
    remaining = Math.max(0, remaining - samples.length);
    reserve(filled + samples.length);
    buffer.set(samples, filled);
    filled += samples.length;
    for (let at = levels.length * frame; at + frame <= filled; at += frame)
      levels.push(levelOf(buffer, at, at + frame));
  }

  function take(count: number): Piece {
    const samples = buffer.subarray(0, count);
    const frames = Math.ceil(count / frame);
    const own = levels.slice(0, frames);
    const activity = { levels: own, pauseLevel: pauseLevel(own) };
    const isSilent = own.length > 0 && own.every((level) => level < SILENCE_DB);
    const startSeconds = startSample / sampleRate;
    const rest = buffer.subarray(count, filled);
    buffer = new Int16Array(0);
    filled = 0;
    reserve(rest.length);
    buffer.set(rest);
    filled = rest.length;
    levels = levels.slice(frames);
    startSample += count;
    searched = 0;
    return { samples, sampleRate, startSeconds, isSilent, activity };
  }

  function next(): Piece | null {
    while (searched < maxFrames) {
      const to = Math.min(searched + stepFrames, maxFrames);
      if (levels.length < to) return null;
      const end = endOfPause(to);
      if (end !== null) return take((end - Math.floor(pauseFrames / 2)) * frame);
      searched = to;
    }
    return take(quietestCut(levels, maxFrames, framesIn(WINDOW_SECONDS)) * frame);
  }

  /** The end of the first pause that ends in this step, by what has arrived up to its end. */
  function endOfPause(to: number): number | null {
    // A pause that is not over yet may be decided in its middle: what follows it belongs to the next piece.
    const first = Math.max(searched, leastFrames, pauseFrames);
    if (to < first) return null;
    const threshold = pauseLevel(levels, to);
    for (let end = first; end <= to; end++) {
      if (!isPause(levels, end - pauseFrames, end, threshold)) continue;
      if (end < speechlessFrames && !holdsSpeech(levels, end - pauseFrames, threshold)) continue;
      return end;
    }
    return null;
  }

  return { add, next, rest: () => (filled === 0 ? null : take(filled)) };
}

function isPause(levels: readonly number[], from: number, to: number, threshold: number): boolean {
  for (let at = from; at < to; at++) if ((levels[at] ?? 0) > threshold) return false;
  return true;
}

function holdsSpeech(levels: readonly number[], to: number, threshold: number): boolean {
  let count = 0;
  for (let at = 0; at < to; at++) if ((levels[at] ?? 0) > threshold) count++;
  return count >= SPEECH_FRAMES;
}

function levelOf(samples: Int16Array, from: number, to: number): number {
  let energy = 0;
  for (let at = from; at < to; at++) {
    const value = samples[at] ?? 0;
    energy += value * value;
  }
  const meanSquare = energy / (to - from) / (32_768 * 32_768);
  return meanSquare === 0 ? -100 : 10 * Math.log10(meanSquare);
}

/** The level up to which a frame of this piece counts as pause, by its first frames. */
function pauseLevel(levels: readonly number[], count = levels.length): number {
  if (count === 0) return SILENCE_DB;
  // Sorts four times as fast as an array of numbers.
  const sorted = new Float64Array(count);
  for (let at = 0; at < count; at++) sorted[at] = levels[at] ?? SILENCE_DB;
  sorted.sort();
  const floor = sorted[Math.floor(sorted.length * 0.05)] ?? SILENCE_DB;
  const loud = sorted[Math.floor(sorted.length * 0.9)] ?? SILENCE_DB;
  return Math.max(SILENCE_DB, floor + Math.max(LEAST_ABOVE_FLOOR_DB, PAUSE_SHARE * (loud - floor)));
}

/** The middle of the quietest window in the second half. Of equally quiet ones the last. */
function quietestCut(levels: readonly number[], maxFrames: number, window: number): number {
  let best = maxFrames;
  let quietest = Number.POSITIVE_INFINITY;
  for (let from = Math.floor(maxFrames / 2); from + window <= maxFrames; from++) {
    let sum = 0;
    for (let at = from; at < from + window; at++) sum += levels[at] ?? 0;
    if (sum > quietest) continue;
    quietest = sum;
    best = from + Math.floor(window / 2);
  }
  return best;
}
