// Transcripts of pieces merged into one: no word lost, none moved out of its piece, times of the whole.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type HeardPiece, mergePieces } from "../../src/gateway/calls/merge-pieces.ts";
import type { ProviderTranscript, ProviderWord } from "../../src/providers/provider.ts";

const said = (text: string, start: number, end: number): ProviderWord => ({
  text,
  start,
  end,
  confidence: null,
  speaker: null,
  channel: null,
});

function transcript(words: readonly ProviderWord[], rest: Partial<ProviderTranscript> = {}): ProviderTranscript {
  return {
    text: words.map(({ text }) => text).join(" "),
    language: null,
    languageConfidence: null,
    segments: [],
    words,
    providerSeconds: 1,
    providerRequestId: null,
    receipts: [],
    ...rest,
  };
}

const piece = (startSeconds: number, durationSeconds: number, heard: ProviderTranscript): HeardPiece => ({
  startSeconds,
  durationSeconds,
  transcript: heard,
});

test("routing.split-merge: times are moved to where the piece begins, and stay within it", () => {
  const merged = mergePieces(
    [
      piece(0, 10, transcript([said("one", 0.5, 1), said("two", 9.8, 10.7)])),
      piece(10, 5, transcript([said("three", -0.2, 0.4), said("four", 6, 7)])),
    ],
    1,
  );
  assert.deepEqual(
    merged.words.map(({ text, start, end }) => [text, start, end]),
    [
      ["one", 0.5, 1],
      ["two", 9.8, 10],
      ["three", 10, 10.4],
      ["four", 15, 15],
    ],
  );
  assert.equal(merged.text, "one two three four");
  assert.equal(merged.providerSeconds, 2);
});

test("routing.split-merge: every word of every piece is in the whole, in order, with times that never go back (property)", () => {
  const time = fc.double({ min: -5, max: 50, noNaN: true });
  const word = fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/u), time, time);
  const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.array(word, { maxLength: 8 })), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(pieces, (parts) => {
      let at = 0;
      const heard = parts.map(([seconds, words]) => {
        const startSeconds = at;
        at += seconds;
        const sorted = words.map(([text, start, end]) => said(text, start, end)).toSorted((a, b) => a.start - b.start);
        return piece(startSeconds, seconds, transcript(sorted));
      });
      const merged = mergePieces(heard, 1);
      const expected = heard.flatMap((each) => each.transcript.words.map(({ text }) => text));
      assert.deepEqual(
        merged.words.map(({ text }) => text),
        expected,
      );
      assert.equal(merged.text, expected.join(" "));
      for (const [index, { start, end }] of merged.words.entries()) {
        assert.ok(start <= end && end <= at);
        assert.ok(start >= (merged.words[index - 1]?.start ?? 0));
      }
    }),
    { numRuns: 500, seed: 20_261_121 },
  );
});

test("routing.split-merge: the language is that of most of the recording; a confidence is given for all or for none", () => {
  const spoken = (seconds: number, language: string | null, languageConfidence: number | null = null) =>
    piece(0, seconds, transcript([], { language, languageConfidence }));
  const languageOf = (...pieces: HeardPiece[]) => {
    const { language, languageConfidence } = mergePieces(pieces, 1);
    return [language, languageConfidence];
  };
  assert.deepEqual(languageOf(spoken(5, "en", 0.9), spoken(5, "en", 0.7)), ["en", 0.7]);
  assert.deepEqual(languageOf(spoken(5, "en", 0.9), spoken(9, "de", 0.7)), ["de", null]);
  assert.deepEqual(languageOf(spoken(5, null), spoken(1, "fr", 0.8)), ["fr", 0.8]);
  assert.deepEqual(languageOf(spoken(5, null)), [null, null]);
});

test("routing.split-merge: a receipt counts when every piece gave it", () => {
  const receipt = (delivered: boolean) => ({
    receipts: [{ feature: "timestamps.word", grade: "shown", delivered } as const],
  });
  for (const [first, second, all] of [
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ] as const) {
    const merged = mergePieces(
      [piece(0, 1, transcript([], receipt(first))), piece(1, 1, transcript([], receipt(second)))],
      1,
    );
    assert.deepEqual(
      merged.receipts.map(({ delivered }) => delivered),
      [all],
    );
  }
});
