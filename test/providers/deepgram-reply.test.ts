// The words of Deepgram's success body are judged one by one: one without its text or its times is no transcript.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readDeepgramReply } from "../../src/providers/deepgram/deepgram-reply.ts";
import { ProviderError } from "../../src/providers/io.ts";

const WORD = { word: "hello", punctuated_word: "Hello.", start: 0.1, end: 0.4, confidence: 0.9, speaker: 0 };
const bodyWith = (...words: readonly unknown[]) => ({
  metadata: {},
  results: { channels: [{ alternatives: [{ transcript: "Hello.", words }] }] },
});

const TAKEN: readonly (readonly [string, object, object])[] = [
  ["all of it", {}, { text: "Hello.", speaker: "0", confidence: 0.9 }],
  ["no punctuation", { punctuated_word: null }, { text: "hello" }],
  ["a speaker by name", { speaker: "A" }, { speaker: "A" }],
  ["no speaker", { speaker: undefined }, { speaker: null }],
  ["a confidence that is none", { confidence: "high" }, { confidence: null }],
];
for (const [what, change, expected] of TAKEN) {
  test(`providers.strict-reply: deepgram, a word is read with ${what}`, () => {
    const [word] = readDeepgramReply(bodyWith({ ...WORD, ...change }), false).words;
    assert.partialDeepStrictEqual(word, expected);
  });
}

const REFUSED: readonly (readonly [string, unknown])[] = [
  ["no object", "hello"],
  ["null", null],
  ["no text", { ...WORD, word: undefined }],
  ["a number for text", { ...WORD, word: 1 }],
  ["no start", { ...WORD, start: undefined }],
  ["an endless end", { ...WORD, end: Number.POSITIVE_INFINITY }],
  ["a list for punctuated text", { ...WORD, punctuated_word: [] }],
  ["an object for a speaker", { ...WORD, speaker: {} }],
];
for (const [what, word] of REFUSED) {
  test(`providers.strict-reply: deepgram, a reply with a word that is or has ${what} is a bad reply`, () => {
    assert.throws(
      () => readDeepgramReply(bodyWith(WORD, word), false),
      (error) => error instanceof ProviderError && error.kind === "bad_reply",
    );
  });
}
