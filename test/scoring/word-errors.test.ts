// The scorer compared with sclite: with its stored counts, and with the program itself where it is installed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { alignWords, countWordErrors, scoredWords, sumWordErrors, wordErrorRate } from "../harness/word-errors.ts";
import { type Pair, SEED, wordPairs } from "./pairs.ts";
import { type Counts, findSclite, runSclite } from "./sclite.ts";
import { FIXTURE, FIXTURE_PAIRS } from "./write-fixture.ts";

const LIVE_PAIRS = 3_000;
const sclite = findSclite();

const wordsIn = (text: string): readonly string[] => text.toLowerCase().split(" ").filter(Boolean);

function countsOf({ reference, transcript }: Pair): Counts {
  const { matches, substitutions, deletions, insertions } = alignWords(wordsIn(reference), wordsIn(transcript));
  return [matches.length, substitutions, deletions, insertions];
}

const errorsIn = ([, substitutions, deletions, insertions]: Counts): number => substitutions + deletions + insertions;

test("local.word-errors: words, errors and their kinds are those that sclite counts, for every stored pair", () => {
  const stored = JSON.parse(readFileSync(FIXTURE, "utf8")) as readonly (Pair & { readonly counts: Counts })[];
  assert.deepEqual(
    stored.map(({ kind, reference, transcript }) => ({ kind, reference, transcript })),
    wordPairs(FIXTURE_PAIRS),
  );
  assert.ok(stored.length >= 300);
  for (const pair of stored) {
    assert.deepEqual(countsOf(pair), pair.counts, JSON.stringify(pair));
    const { words, errors } = countWordErrors(pair.reference, pair.transcript);
    assert.deepEqual([words, errors], [pair.counts[0] + pair.counts[1] + pair.counts[2], errorsIn(pair.counts)]);
  }
});

// Of two alignments that cost the same, versions of sclite may choose another, so that only the number of errors has to agree.
test("local.word-errors: the number of errors is that of the installed sclite, for other pairs", {
  skip: sclite === null ? "SKIPPED: sclite is not installed (apt-get install sctk)" : false,
}, (t) => {
  const pairs = wordPairs(LIVE_PAIRS, SEED + 1);
  const counts = runSclite(sclite ?? "", pairs);
  for (const [index, pair] of pairs.entries())
    assert.equal(errorsIn(countsOf(pair)), errorsIn(counts[index] ?? [0, 0, 0, -1]), JSON.stringify(pair));
  t.diagnostic(`${pairs.length} pairs compared with ${sclite}`);
});

test("local.word-errors: case, punctuation and hyphens are no errors, and titles count as they are spoken", () => {
  assert.deepEqual(scoredWords("And Mr. Dashwood -- ill-disposed -- DIDN’T: ‘ask’ 3."), [
    "and",
    "mister",
    "dashwood",
    "ill",
    "disposed",
    "didn't",
    "ask",
    "3",
  ]);
  assert.equal(countWordErrors("ask what you can do", "Ask what you can do!").errors, 0);
});

test("local.word-errors: the rate is errors for each word of the reference, and without a reference every word is one too many", () => {
  const first = countWordErrors("a b c d", "a x c");
  assert.deepEqual([first.errors, wordErrorRate(first)], [2, 0.5]);
  assert.equal(wordErrorRate(sumWordErrors([first, countWordErrors("a b c d", "a b c d")])), 0.25);
  assert.equal(wordErrorRate(countWordErrors("", "")), 0);
  assert.equal(wordErrorRate(countWordErrors("", "a")), Number.POSITIVE_INFINITY);
  assert.equal(wordErrorRate(countWordErrors("a", "b c d")), 3);
});
