// Makes words with times and confidence of what the engine returns for one piece [local.words] [local.confidence]. Pure.
import { type Activity, FRAME_SECONDS } from "./cut-at-silences.ts";
import type { EngineResult } from "./engine/engine-protocol.ts";

export interface LocalWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number | null;
}

/** Where a piece is loud, and how long it is. */
export interface Sound {
  readonly activity: Activity;
  readonly seconds: number;
}

/** Times are relative to the piece. None if the model returns no times. */
export function wordsOf(result: EngineResult, { activity, seconds }: Sound): readonly LocalWord[] {
  const groups = tokenGroups(result);
  if (result.tokens.some(isPauseMark)) return untilPauseMarks(groups, result, activity, seconds);
  if (result.durations.length === result.tokens.length && result.durations.some((duration) => duration > 0))
    return groups.map((group) => wordOf(group, group.first, Math.min(seconds, group.last + group.lastDuration)));
  return activity.levels.length > 0 ? betweenPauses(groups, activity, seconds) : betweenTokens(groups, seconds);
}

/** Assumed length of a last token. */
const TOKEN_SECONDS = 0.25;

/** Without the sound, a word ends where the next one begins. */
function betweenTokens(groups: readonly TokenGroup[], seconds: number): readonly LocalWord[] {
  return groups.map((group, index) => {
    const next = groups[index + 1]?.first ?? Number.POSITIVE_INFINITY;
    return wordOf(group, group.first, Math.min(next, group.last + TOKEN_SECONDS, seconds));
  });
}

/** A mark of a word's beginning without a word: the demonstration model writes it where a pause begins. */
function isPauseMark(token: string): boolean {
  return token === "\u2581" || token === " ";
}

/** A model with pause marks reports where words begin, so a word lasts until the next mark or word. */
function untilPauseMarks(
  groups: readonly TokenGroup[],
  { tokens, timestamps }: EngineResult,
  activity: Activity,
  seconds: number,
): readonly LocalWord[] {
  const marks = timestamps.filter((_, index) => isPauseMark(tokens[index] ?? ""));
  return groups.map((group, index) => {
    const ends = [...marks, groups[index + 1]?.first ?? Number.POSITIVE_INFINITY].filter((time) => time > group.last);
    const end = Math.min(...ends);
    return wordOf(group, group.first, Number.isFinite(end) ? end : edge(group.last, 1, activity, seconds));
  });
}

interface TokenGroup {
  readonly text: string;
  /** Start of the first and of the last token. */
  readonly first: number;
  readonly last: number;
  readonly lastDuration: number;
  readonly confidence: number | null;
}

/** What begins a word: a blank, or the mark that sentence pieces have instead. */
const WORD_START = /^[\u2581 ]/u;
/** Marks of the model, such as `<unk>`. */
const SPECIAL = /^<[^>]*>$/u;

function tokenGroups({ tokens, timestamps, durations, logProbs }: EngineResult): readonly TokenGroup[] {
  if (timestamps.length !== tokens.length) return [];
  const indexes = [...tokens.keys()].filter((index) => !SPECIAL.test((tokens[index] ?? "").trim()));
  // Without any mark, as in Chinese, each token is a word.
  const hasMarks = indexes.some((index) => WORD_START.test(tokens[index] ?? ""));
  const groups: number[][] = [];
  for (const index of indexes) {
    const current = groups.at(-1);
    if (current === undefined || !hasMarks || WORD_START.test(tokens[index] ?? "")) groups.push([index]);
    else current.push(index);
  }
  return groups.flatMap((group) => {
    const text = group
      .map((index) => tokens[index] ?? "")
      .join("")
      .replace(WORD_START, "")
      .trim();
    const [first] = group;
    const last = group.at(-1);
    if (text === "" || first === undefined || last === undefined) return [];
    return [
      {
        text,
        first: timestamps[first] ?? 0,
        last: timestamps[last] ?? 0,
        lastDuration: durations[last] ?? 0,
        confidence: logProbs.length === tokens.length ? confidenceOf(group.map((index) => logProbs[index] ?? 0)) : null,
      },
    ];
  });
}

/** The geometric mean of the tokens' probabilities. */
function confidenceOf(logProbs: readonly number[]): number {
  const mean = logProbs.reduce((sum, value) => sum + value, 0) / logProbs.length;
  return Math.min(1, Math.max(0, Math.exp(mean)));
}

function wordOf({ text, confidence }: TokenGroup, start: number, end: number): LocalWord {
  return { text, start, end: Math.max(start, end), confidence };
}

/** A first or last word reaches no further from its token than this. */
const MAX_REACH_SECONDS = 1.2;

/**
 * A CTC model reports a moment within each token and no length. Between two words the boundary is the pause between their tokens, or else the quietest frame;
 * around a run of words it is the pause before and after it.
 */
function betweenPauses(groups: readonly TokenGroup[], activity: Activity, seconds: number): readonly LocalWord[] {
  const gaps = groups.slice(1).map((group, index) => gapBetween(groups[index]?.last ?? 0, group.first, activity));
  return groups.map((group, index) => {
    const before = gaps[index - 1]?.end ?? edge(group.first, -1, activity, seconds);
    const after = gaps[index]?.start ?? edge(group.last, 1, activity, seconds);
    return wordOf(group, Math.min(before, group.first), Math.max(after, group.last));
  });
}

const frameOf = (seconds: number): number => Math.floor(seconds / FRAME_SECONDS);
const isPauseAt = ({ levels, pauseLevel }: Activity, frame: number): boolean => (levels[frame] ?? -100) <= pauseLevel;

/** Frames of a closed consonant within a word are as quiet as a pause, and shorter. */
const LEAST_PAUSE_FRAMES = 3;

/** The pause between two tokens, or the moment of the quietest frame. */
function gapBetween(left: number, right: number, activity: Activity): { readonly start: number; readonly end: number } {
  const from = frameOf(left);
  const to = Math.max(from, frameOf(right));
  let longest = { start: 0, length: 0 };
  let quietest = from;
  for (let frame = from, run = 0; frame <= to; frame++) {
    run = isPauseAt(activity, frame) ? run + 1 : 0;
    if (run > longest.length) longest = { start: frame - run + 1, length: run };
    if ((activity.levels[frame] ?? 0) < (activity.levels[quietest] ?? 0)) quietest = frame;
  }
  if (longest.length < LEAST_PAUSE_FRAMES) {
    const moment = Math.min(right, Math.max(left, (quietest + 0.5) * FRAME_SECONDS));
    return { start: moment, end: moment };
  }
  return { start: longest.start * FRAME_SECONDS, end: (longest.start + longest.length) * FRAME_SECONDS };
}

/** Where the sound around a token begins or ends. */
function edge(token: number, step: 1 | -1, activity: Activity, seconds: number): number {
  const limit = frameOf(Math.min(seconds, Math.max(0, token + step * MAX_REACH_SECONDS)));
  let quiet = 0;
  let frame = frameOf(token);
  // A token may be reported just before or after its sound.
  for (let looked = 0; looked < 10 && isPauseAt(activity, frame); looked++) frame -= step;
  for (; step > 0 ? frame <= limit : frame >= limit; frame += step) {
    quiet = isPauseAt(activity, frame) ? quiet + 1 : 0;
    if (quiet >= LEAST_PAUSE_FRAMES) break;
  }
  const boundary = step > 0 ? frame - quiet + 1 : frame + quiet;
  return Math.min(seconds, Math.max(0, boundary * FRAME_SECONDS));
}

/** Where the first sound begins and the last one ends, for a model without times of words. */
export function speechBounds({ activity, seconds }: Sound): { readonly start: number; readonly end: number } {
  const isLoud = (level: number): boolean => level > activity.pauseLevel;
  const first = activity.levels.findIndex(isLoud);
  const last = activity.levels.findLastIndex(isLoud);
  if (first < 0) return { start: 0, end: seconds };
  return { start: first * FRAME_SECONDS, end: Math.min(seconds, (last + 1) * FRAME_SECONDS) };
}
