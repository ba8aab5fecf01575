// Word errors of a transcript compared with its reference, counted as `sclite` counts them [local.word-errors]. The only scorer of the project: tests, benchmarks
// and the measurements of the demonstration model use it.

export interface WordErrors {
  /** Of the reference. */
  readonly words: number;
  readonly substitutions: number;
  readonly deletions: number;
  readonly insertions: number;
  readonly errors: number;
}

export interface Alignment extends WordErrors {
  /** Indices of equal words in the reference and in the transcript. */
  readonly matches: readonly (readonly [reference: number, transcript: number])[];
}

/** Compares words without their case and punctuation. */
export function countWordErrors(reference: string, transcript: string): WordErrors {
  return alignWords(scoredWords(reference), scoredWords(transcript));
}

/** Errors per word of the reference. Above 1 if more words were inserted than were said. */
export function wordErrorRate({ errors, words }: Pick<WordErrors, "errors" | "words">): number {
  if (words === 0) return errors === 0 ? 0 : Number.POSITIVE_INFINITY;
  return errors / words;
}

export function sumWordErrors(all: readonly WordErrors[]): WordErrors {
  const sum = (of: (each: WordErrors) => number): number => all.reduce((total, each) => total + of(each), 0);
  return {
    words: sum((each) => each.words),
    substitutions: sum((each) => each.substitutions),
    deletions: sum((each) => each.deletions),
    insertions: sum((each) => each.insertions),
    errors: sum((each) => each.errors),
  };
}

const SPOKEN_OUT: Readonly<Record<string, string>> = { mr: "mister", mrs: "missus", dr: "doctor", st: "saint" };

/** Lower case, no punctuation, titles as they are spoken. A hyphen separates words. */
export function scoredWords(text: string): readonly string[] {
  const words =
    text
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? [];
  return words.map((word) => SPOKEN_OUT[word] ?? word);
}

/** The weights of sclite: a substitution is cheaper than a deletion and an insertion together, and a match is worth more than with equal weights. */
const SUBSTITUTION = 4;
const DELETION = 3;
const INSERTION = 3;

/**
 * The cheapest alignment of words that are compared exactly. Of equally cheap steps it prefers a pair, then an insertion, as sclite does, because equally
 * cheap alignments can differ in their number of errors.
 */
export function alignWords(reference: readonly string[], transcript: readonly string[]): Alignment {
  const width = transcript.length + 1;
  const costs = new Int32Array((reference.length + 1) * width);
  const costAt = (row: number, column: number): number => costs[row * width + column] ?? 0;
  const pairCost = (row: number, column: number): number =>
    costAt(row - 1, column - 1) + (reference[row - 1] === transcript[column - 1] ? 0 : SUBSTITUTION);
  for (let row = 0; row <= reference.length; row++)
    for (let column = 0; column < width; column++)
      if (row === 0 || column === 0) costs[row * width + column] = row * DELETION + column * INSERTION;
      else
        costs[row * width + column] = Math.min(
          pairCost(row, column),
          costAt(row - 1, column) + DELETION,
          costAt(row, column - 1) + INSERTION,
        );
  const matches: (readonly [number, number])[] = [];
  let [substitutions, deletions, insertions] = [0, 0, 0];
  let [row, column] = [reference.length, transcript.length];
  while (row > 0 || column > 0) {
    const cost = costAt(row, column);
    if (row > 0 && column > 0 && cost === pairCost(row, column)) {
      row--;
      column--;
      if (reference[row] === transcript[column]) matches.unshift([row, column]);
      else substitutions++;
    } else if (column > 0 && cost === costAt(row, column - 1) + INSERTION) {
      insertions++;
      column--;
    } else {
      deletions++;
      row--;
    }
  }
  const errors = substitutions + deletions + insertions;
  return { words: reference.length, substitutions, deletions, insertions, errors, matches };
}
