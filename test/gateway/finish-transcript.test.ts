// Invariants of a finished transcript over arbitrary provider replies.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RESPONSE_FORMATS, type TranscriptionFields } from "../../src/contract/transcription/transcription-fields.ts";
import { segment, word } from "../../src/contract/transcription/transcription-envelope.ts";
import { finishTranscript } from "../../src/gateway/transcription/finish-transcript.ts";
import { captionText } from "../../src/gateway/transcription/caption-text.ts";
import { createSegmentEmitter } from "../../src/gateway/transcription/stream-segments.ts";
import { createTranscriptThread } from "../../src/gateway/transcription/transcript-thread.ts";
import type { ProviderTranscript, ProviderWord } from "../../src/providers/provider.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";
import { countTurns } from "../harness/until.ts";

const DURATION = 30;
const time = fc.double({ min: -5, max: 40, noNaN: true });
const piece: fc.Arbitrary<ProviderWord> = fc.record({
  text: fc.stringMatching(/^ ?[a-zA-Z.,!?é]{1,8}$/),
  start: time,
  end: time,
  confidence: fc.option(fc.double({ min: -0.1, max: 1.1, noNaN: true })),
  speaker: fc.option(fc.constantFrom("0", "1", "A", "speaker_2")),
  channel: fc.constantFrom(0, 1),
});
const reply: fc.Arbitrary<ProviderTranscript> = fc.record({
  text: fc.string({ maxLength: 40 }),
  language: fc.constant(null),
  languageConfidence: fc.constant(null),
  segments: fc.array(piece, { maxLength: 12 }),
  words: fc.array(piece, { maxLength: 30 }),
  providerSeconds: fc.constant(null),
  providerRequestId: fc.constant(null),
  receipts: fc.constant([]),
});
const fields: fc.Arbitrary<TranscriptionFields> = fc.record(
  {
    diarization: fc.boolean(),
    multichannel: fc.boolean(),
    timestamps: fc.constantFrom("word", "segment", "both"),
    response_format: fc.constantFrom(...RESPONSE_FORMATS),
  },
  { requiredKeys: [] },
);

const SILENCE: ProviderTranscript = {
  text: "",
  language: null,
  languageConfidence: null,
  segments: [],
  words: [],
  providerSeconds: null,
  providerRequestId: null,
  receipts: [],
};

const compact = (text: string) => text.replace(/\s+/gu, "");

test("transcription.envelope: the bare text is the content of the transcript with words and segments, with the same warnings", () => {
  const wanted = requiredFeatures({}, "transcribe");
  fc.assert(
    fc.property(reply, (provider) => {
      const alone = finishTranscript(provider, wanted, DURATION);
      const existing = finishTranscript(provider, { ...wanted, wantsWords: true }, DURATION);
      assert.deepEqual(alone, { ...existing, words: [] });
    }),
  );
});

test("transcription.times, transcription.speakers, transcription.text-preserved: times inside the audio, starts in order, speakers S1… by first appearance, segments add up to the content", () => {
  fc.assert(
    fc.property(reply, fields, (provider, asked) => {
      const wanted = requiredFeatures(asked, "transcribe");
      const finished = finishTranscript(provider, wanted, DURATION);
      for (const list of [finished.segments, finished.words]) {
        for (const [index, item] of list.entries()) {
          assert(item.start >= 0 && item.start <= item.end && item.end <= DURATION, JSON.stringify(item));
          assert(index === 0 || (list[index - 1]?.start ?? 0) <= item.start);
          assert(item.confidence === null || (item.confidence >= 0 && item.confidence <= 1));
          assert(item.speaker === null || /^S[1-9]\d*$/.test(item.speaker));
          if (!wanted.features.includes("diarization")) assert.equal(item.speaker, null);
        }
      }
      for (const item of finished.segments) segment.parse(item);
      for (const item of finished.words) word.parse(item);
      assert.deepEqual(
        finished.segments.map((item) => item.id),
        finished.segments.map((_, index) => index),
      );
      if (!wanted.wantsSegments) assert.equal(finished.segments.length, 0);
      if (!wanted.wantsWords) assert.equal(finished.words.length, 0);
      if (finished.segments.length > 0 && ["json", "verbose_json", "diarized_json"].includes(wanted.responseFormat)) {
        assert.equal(compact(finished.segments.map((item) => item.text).join("")), compact(finished.content));
      }
      const misplaced = [provider.segments, provider.words].some((pieces) =>
        pieces.some((item, index) => {
          const before = pieces.slice(0, index + 1).filter(({ channel }) => channel === item.channel);
          const start = Math.min(Math.max(0, ...before.map((each) => each.start)), DURATION);
          const end = Math.min(Math.max(start, item.end), DURATION);
          return Math.abs(item.start - start) > 0.05 || Math.abs(item.end - end) > 0.05;
        }),
      );
      assert.equal(finished.warnings.length > 0, misplaced);
    }),
    { numRuns: 500 },
  );
});

const said = (text: string, start: number, end: number, channel: number | null = null): ProviderWord => ({
  text,
  start,
  end,
  confidence: null,
  speaker: null,
  channel,
});
/** Windows of 30 s whose clocks disagree, and a piece that ends before it begins. */
const JUMPING = [said("One two,", 0, 4), said("three", 9, 8), said("four", 5, 7), said("five.", 6, 10)];
const PULLED_UP = [
  [0, 4],
  [9, 9],
  [9, 9],
  [9, 10],
];

for (const format of RESPONSE_FORMATS)
  test(`transcription.provider-order: FLD-07: the provider's order of segments and words is kept, and times that jump back are pulled up (${format})`, () => {
    const provider = { ...SILENCE, text: "One two, three four five.", segments: JUMPING, words: JUMPING };
    const wanted = requiredFeatures({ response_format: format, timestamps: "both" }, "transcribe");
    const { segments, words, content, warnings } = finishTranscript(provider, wanted, DURATION);
    for (const pieces of [segments, words]) {
      assert.deepEqual(
        pieces.map(({ text }) => text),
        JUMPING.map(({ text }) => text),
      );
      assert.deepEqual(
        pieces.map(({ start, end }) => [start, end]),
        PULLED_UP,
      );
    }
    assert.deepEqual(
      content.match(/One|two|three|four|five/gu),
      ["One", "two", "three", "four", "five"],
      "captions and text too",
    );
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ["TIMES_CLAMPED"],
    );
  });

test("transcription.built-segments, transcription.provider-order: FLD-07: segments built from words keep the words' order", () => {
  const wanted = requiredFeatures({ timestamps: "segment" }, "transcribe");
  const { segments } = finishTranscript(
    { ...SILENCE, text: "One two, three four five.", words: JUMPING },
    wanted,
    DURATION,
  );
  assert.equal(segments.map(({ text }) => text).join(" "), "One two, three four five.");
});

test("transcription.stream-whole, transcription.provider-order: FLD-07: segments that arrive one by one are sent in the provider's order, each at once", () => {
  const tell = createSegmentEmitter(requiredFeatures({ timestamps: "segment" }, "transcribe"), DURATION);
  const sent = JUMPING.map((each) => tell(each)?.segment);
  assert.deepEqual(
    sent.map((each) => [each?.text, each?.start, each?.end]),
    JUMPING.map(({ text }, index) => [text, ...(PULLED_UP[index] ?? [])]),
  );
});

test("transcription.provider-order: FLD-07: across channels segments are sorted by start, and within each channel the provider's order is kept", () => {
  const channels = [
    said("a1", 0, 1, 0),
    said("a2", 6, 7, 0),
    said("a3", 2, 3, 0),
    said("b1", 1, 2, 1),
    said("b2", 8, 9, 1),
  ];
  const wanted = requiredFeatures({ timestamps: "segment", multichannel: true }, "transcribe");
  const { segments } = finishTranscript({ ...SILENCE, text: "", segments: channels }, wanted, DURATION);
  assert.deepEqual(
    segments.map(({ text, start }) => [text, start]),
    [
      ["a1", 0],
      ["b1", 1],
      ["a2", 6],
      ["a3", 6],
      ["b2", 8],
    ],
  );
});

test("transcription.provider-order: FLD-07: a start a few hundredths before the last one is rounding, and no warning", () => {
  const wanted = requiredFeatures({ timestamps: "segment" }, "transcribe");
  const segments = [said("a", 0, 2), said("b", 2, 3), said("c", 1.96, 4)];
  assert.deepEqual(finishTranscript({ ...SILENCE, text: "a b c", segments }, wanted, DURATION).warnings, []);
});

test("transcription.speakers: speaker labels are the same in segments and words of one transcript", () => {
  const spoken = (text: string, start: number, speaker: string): ProviderWord => ({
    text,
    start,
    end: start + 1,
    confidence: null,
    speaker,
    channel: 0,
  });
  const words = [spoken("hi", 0, "7"), spoken("ho", 1, "3"), spoken("hi", 2, "7")];
  const provider = {
    text: "hi ho hi",
    language: null,
    languageConfidence: null,
    segments: words,
    words,
    providerSeconds: null,
    providerRequestId: null,
    receipts: [],
  };
  const finished = finishTranscript(
    provider,
    requiredFeatures({ diarization: true, timestamps: "both" }, "transcribe"),
    10,
  );
  assert.deepEqual(
    finished.segments.map((item) => item.speaker),
    ["S1", "S2", "S1"],
  );
  assert.deepEqual(
    finished.words.map((item) => item.speaker),
    ["S1", "S2", "S1"],
  );
});

test("transcription.channels-split: with several channels content is all segments by start, then channel", () => {
  const on = (text: string, start: number, channel: number): ProviderWord => ({
    text,
    start,
    end: start + 1,
    confidence: null,
    speaker: null,
    channel,
  });
  const provider = {
    text: "a c\nb d",
    language: null,
    languageConfidence: null,
    segments: [on("a", 0, 0), on("c", 2, 0), on("b", 0, 1), on("d", 2, 1)],
    words: [],
    providerSeconds: null,
    providerRequestId: null,
    receipts: [],
  };
  const finished = finishTranscript(provider, requiredFeatures({ multichannel: true }, "transcribe"), 10);
  assert.equal(finished.content, "a b c d");
});

test("transcription.text-preserved: none of the text is lost where a provider times only some of the words", () => {
  const one = (text: string, start: number) => ({
    text,
    start,
    end: start + 0.4,
    confidence: 0.9,
    speaker: null,
    channel: 0,
  });
  const finished = finishTranscript(
    {
      text: "Good morning, everybody here.",
      segments: [],
      words: [one("Good", 0), one("morning", 0.5)],
    },
    requiredFeatures({ timestamps: "both" }, "transcribe"),
    DURATION,
  );
  assert.equal(finished.content, "Good morning, everybody here.");
  assert.deepEqual(
    finished.segments.map(({ text, start, end }) => ({ text, start, end })),
    [{ text: "Good morning, everybody here.", start: 0, end: 0.9 }],
  );
  assert.equal(finished.words.length, 2);
});

test("transcription.text-preserved: text without a time is kept with the speaker whose line or sentence it is in, and the others keep theirs", () => {
  const said = (text: string, start: number, speaker: string | null, channel: number | null): ProviderWord => ({
    text,
    start,
    end: start + 0.4,
    confidence: null,
    speaker,
    channel,
  });
  const heard = (text: string, words: readonly ProviderWord[], fields: TranscriptionFields) => {
    const provider = { ...SILENCE, text, words };
    const finished = finishTranscript(provider, requiredFeatures(fields, "transcribe"), DURATION);
    assert.equal(compact(finished.segments.map((item) => item.text).join("")), compact(finished.content));
    return finished.segments.map((item) => [item.speaker ?? item.channel, item.text, item.start, item.end]);
  };
  const speakers = { diarization: true, timestamps: "both" } as const;
  assert.deepEqual(
    heard(
      "Well, good morning. How are you? Fine, thank you.",
      [said("good", 1, "A", null), said("fine", 5, "B", null)],
      speakers,
    ),
    [
      ["S1", "Well, good morning.", 1, 5],
      ["S2", "How are you? Fine, thank you.", 1.4, 5.4],
    ],
  );
  assert.deepEqual(
    heard("left bank\nright side", [said("left", 0, null, 0), said("side", 3, null, 1)], { multichannel: true }),
    [
      [0, "left bank", 0, 0.4],
      [1, "right side", 3, 3.4],
    ],
  );
  // Redacted, spelled out or punctuated: the text's own way of writing it.
  assert.deepEqual(
    heard(
      "[NAME] owes $20.",
      ["Ann", "owes", "twenty", "dollars"].map((text, at) => said(text, at, "A", null)),
      speakers,
    ),
    [["S1", "[NAME] owes $20.", 0, 2.4]],
  );
});

test("transcription.built-segments: segments built from words are written as their script writes them", () => {
  const segmentOf = (text: string, said: readonly string[]) => {
    const words = said.map((each, index) => ({
      text: each,
      start: index / 10,
      end: (index + 1) / 10,
      confidence: null,
      speaker: null,
      channel: null,
    }));
    const wanted = requiredFeatures({ timestamps: "segment" }, "transcribe");
    return finishTranscript({ ...SILENCE, text, words }, wanted, DURATION).segments.map((item) => item.text);
  };
  assert.deepEqual(segmentOf("你好，世界", ["你", "好，", "世", "界"]), ["你好，世界"]);
  // Some of them timed.
  assert.deepEqual(segmentOf("你好，大世界", ["你", "好", "界"]), ["你好，大世界"]);
  assert.deepEqual(segmentOf("Hello, world", ["Hello,", "world"]), ["Hello, world"]);
});

test("transcription.built-segments: hundreds of thousands of words without a time or a full stop are one segment", () => {
  const words = Array.from(
    { length: 200_000 },
    (): ProviderWord => ({ text: "so", start: 0, end: 0, confidence: null, speaker: null, channel: null }),
  );
  const wanted = requiredFeatures({ timestamps: "segment" }, "transcribe");
  const { segments } = finishTranscript({ ...SILENCE, text: "", words }, wanted, DURATION);
  assert.deepEqual([segments.length, segments[0]?.start, segments[0]?.end], [1, 0, 0]);
});

test("transcription.stream-whole: segments sent as they arrive are those of the finished transcript, each once, whatever begins at the same time", () => {
  const begun = (one: ProviderWord) => Math.min(Math.max(0, one.start), DURATION);
  const ordered = fc
    .array(piece)
    .map((list) =>
      list.toSorted((one, other) => begun(one) - begun(other) || (one.channel ?? 0) - (other.channel ?? 0)),
    );
  fc.assert(
    fc.property(ordered, fields, (segments, asked) => {
      const wanted = { ...requiredFeatures(asked, "transcribe"), responseFormat: "json", wantsSegments: true } as const;
      const tell = createSegmentEmitter(wanted, DURATION);
      const emitted = segments.map((each) => tell(each)?.segment);
      assert.deepEqual(emitted, finishTranscript({ ...SILENCE, segments }, wanted, DURATION).segments);
    }),
  );
});

test("transcription.stream-whole: a segment that comes too late, or has no text, is in the whole transcript alone", () => {
  const wanted = requiredFeatures({ timestamps: "segment", multichannel: true }, "transcribe");
  const said = (text: string, start: number, channel: number): ProviderWord => ({
    text,
    start,
    end: start + 1,
    confidence: null,
    speaker: null,
    channel,
  });
  const tell = createSegmentEmitter(wanted, DURATION);
  const emitted = [said("a", 0, 1), said("late", 0, 0), said(" ", 2, 0), said("b", 3, 0)].map((each) => tell(each));
  assert.deepEqual(
    emitted.map((each) => each?.segment.id ?? null),
    [0, null, null, 1],
  );
});

test("transcription.long-transcripts: R9: sending a segment costs the same, however many were sent before", () => {
  const tell = createSegmentEmitter(requiredFeatures({ diarization: true }, "transcribe"), DURATION);
  let reads = 0;
  for (let at = 0; at < 2_000; at += 1)
    tell({
      start: at / 100,
      end: at / 100,
      confidence: null,
      speaker: "A",
      channel: null,
      get text() {
        reads += 1;
        return "so it goes";
      },
    });
  assert.equal(reads, 2_000);
});

test("transcription.long-transcripts: R9: a long transcript with gaps is finished over many turns of the loop, with the result of a single turn", async (t) => {
  const thread = createTranscriptThread();
  t.after(() => thread.close());
  const spoken = Array.from({ length: 20_000 }, (_, at) => `w${(at * at) % 701}`);
  const words = spoken.flatMap((text, at): ProviderWord[] =>
    at % 9 === 0 ? [] : [{ text, start: at, end: at + 0.5, confidence: null, speaker: null, channel: at % 2 }],
  );
  const reply = { ...SILENCE, text: spoken.join(" "), words };
  const wanted = requiredFeatures({ timestamps: "both", multichannel: true }, "transcribe");
  const counted = countTurns();
  const finished = await thread.finish("acme", reply, wanted, 20_000);
  const turns = counted();
  assert(turns > 2, `${turns}`);
  assert.deepEqual(finished, finishTranscript(reply, wanted, 20_000));
});

test("transcription.long-transcripts: captions of a long transcript are those of a short one, in a thread and after it was closed", async (t) => {
  const thread = createTranscriptThread();
  t.after(() => thread.close());
  const words = Array.from({ length: 6_000 }, (_, at) => ({
    text: `w${at % 701}`,
    start: at / 3,
    end: at / 3 + 0.2,
    confidence: null,
    speaker: null,
    channel: null,
  }));
  const spoken = { format: "vtt", segments: [], words, durationSeconds: 2_000 } as const;
  const waiting = [thread.caption("acme", spoken), thread.caption("acme", spoken)];
  assert.equal(await waiting[0], captionText(spoken));
  await thread.close();
  assert.equal(await waiting[1], captionText(spoken), "a transcript that waits when the thread ends is not lost");
  assert.equal(await thread.caption("acme", spoken), captionText(spoken), "nor one that comes later");
});
