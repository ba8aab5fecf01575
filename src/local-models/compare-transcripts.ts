// Compares a saved transcript with one that was decoded again [local.verify-transcript]. Pure.
import { commonSubsequence } from "../lib/text/common-subsequence.ts";

export interface ComparedWord {
  readonly text: string;
  /** Null: unknown. */
  readonly start: number | null;
  readonly end: number | null;
}

/** Words that follow each other on one side, in place of those on the other, or the times of one word. */
export interface TranscriptDifference {
  readonly kind: "words" | "times";
  /** Of the first saved word, or of the first decoded one. */
  readonly seconds: number | null;
  readonly saved: string;
  readonly decoded: string;
}

/** Saved times are rounded to the millisecond. */
const TOLERATED_SECONDS = 0.002;

export function compareTranscripts(
  saved: readonly ComparedWord[],
  decoded: readonly ComparedWord[],
): readonly TranscriptDifference[] {
  const texts = (words: readonly ComparedWord[]) => words.map(({ text }) => text);
  const matches = commonSubsequence(texts(saved), texts(decoded));
  const differences: TranscriptDifference[] = [];
  let [fromSaved, fromDecoded] = [0, 0];
  for (const [inSaved, inDecoded] of [...matches, [saved.length, decoded.length] as const]) {
    const [one, other] = [saved.slice(fromSaved, inSaved), decoded.slice(fromDecoded, inDecoded)];
    if (one.length > 0 || other.length > 0)
      differences.push({
        kind: "words",
        seconds: (one[0] ?? other[0])?.start ?? null,
        saved: texts(one).join(" "),
        decoded: texts(other).join(" "),
      });
    const [word, again] = [saved[inSaved], decoded[inDecoded]];
    if (word !== undefined && again !== undefined && hasOtherTimes(word, again))
      differences.push({ kind: "times", seconds: word.start, saved: timesOf(word), decoded: timesOf(again) });
    [fromSaved, fromDecoded] = [inSaved + 1, inDecoded + 1];
  }
  return differences;
}

function hasOtherTimes(one: ComparedWord, other: ComparedWord): boolean {
  const differ = (left: number | null, right: number | null): boolean =>
    left !== null && right !== null && Math.abs(left - right) > TOLERATED_SECONDS;
  return differ(one.start, other.start) || differ(one.end, other.end);
}

function timesOf({ text, start, end }: ComparedWord): string {
  return `${text} ${start?.toFixed(3)}–${end?.toFixed(3)}`;
}
