// Audio beyond a target's limits on a route with `split_long_audio`: cut where no required feature is lost, refused with the lack named
// otherwise. Pure tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TranscriptionFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { SpeechLimits } from "../../src/providers/provider.ts";
import { type AudioFacts, judgeTarget } from "../../src/routing/judge-target.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";
import { model } from "./routing-fixtures.ts";

const NATIVE = { support: "native", grade: "shown" } as const;
const ABLE = {
  diarization: NATIVE,
  "timestamps.word": NATIVE,
  "redaction.pci": NATIVE,
  multichannel: NATIVE,
  streaming: NATIVE,
  keyterms: NATIVE,
};
const LONG: AudioFacts = { format: "mp3", sizeBytes: 1000, durationSeconds: 601, channels: 2, pcmRate: 16_000 };

function judge(limits: SpeechLimits, fields: TranscriptionFields = {}, facts: Partial<AudioFacts> = {}, splits = true) {
  const wanted = requiredFeatures(fields, "transcribe");
  const { missing, cut } = judgeTarget(
    model(ABLE, { limits }),
    wanted,
    { ...LONG, ...facts },
    {
      acceptWeak: [],
      splitLongAudio: splits,
    },
  );
  return { missing, cut };
}

const CUT = { sampleRate: 16_000, channels: 1, maxFrames: 600 * 16_000 };

test("routing.split-opt-in: without the switch nothing is cut; with it the limit is no lack; within the limit there is no cut", () => {
  assert.deepEqual(judge({ maxSeconds: 600 }, {}, {}, false), { missing: ["duration"], cut: null });
  assert.deepEqual(judge({ maxSeconds: 600 }), { missing: [], cut: CUT });
  assert.deepEqual(judge({ maxSeconds: 601 }), { missing: [], cut: null });
});

test("routing.split-pieces: pieces keep within both limits, whichever is tighter, the header counted", () => {
  const maxBytes = 44 + 2 * 16_000 * 100;
  assert.equal(judge({ maxSeconds: 600, maxBytes }).cut?.maxFrames, 100 * 16_000);
  assert.equal(judge({ maxSeconds: 600, maxBytes: maxBytes - 1 }).cut?.maxFrames, 100 * 16_000 - 1);
  assert.equal(judge({ maxSeconds: 99.5, maxBytes }).cut?.maxFrames, 99.5 * 16_000);
});

test("routing.split-opt-in: too many bytes are cut as too many seconds are, and are no lack then", () => {
  const maxBytes = 44 + 2 * 16_000 * 100;
  const cut = { ...CUT, maxFrames: 100 * 16_000 };
  assert.deepEqual(judge({ maxSeconds: 600, maxBytes }, {}, { sizeBytes: maxBytes + 1 }), { missing: [], cut });
});

for (const [asked, fields, lost] of [
  ["speakers", { diarization: true }, "diarization"],
  ["redaction", { redaction: ["pci"] }, "redaction.pci"],
  ["a stream", { stream: true }, "streaming"],
] satisfies [string, TranscriptionFields, string][]) {
  test(`routing.split-excluded: ${asked} cannot survive a cut: the target is not eligible, and lists it`, () => {
    assert.deepEqual(judge({ maxSeconds: 600 }, { ...fields }), {
      missing: ["duration", lost],
      cut: null,
    });
    assert.deepEqual(judge({ maxSeconds: 700 }, { ...fields }).missing, []);
  });
}

test("routing.split-excluded: words, key terms and channels survive; channels stay separate and cost size", () => {
  assert.deepEqual(judge({ maxSeconds: 600 }, { timestamps: "word", keyterms: ["Ada"] }), { missing: [], cut: CUT });
  assert.deepEqual(judge({ maxSeconds: 600 }, { multichannel: true }).cut, { ...CUT, channels: 2 });
  const limits = { maxBytes: 44 + 4 * 16_000 * 10 };
  const facts = { sizeBytes: limits.maxBytes + 1 };
  assert.equal(judge(limits, { multichannel: true }, facts).cut?.maxFrames, 10 * 16_000);
  assert.equal(judge(limits, {}, facts).cut?.maxFrames, 20 * 16_000);
});

test("routing.split-decoder: without a decoder for this recording the target is not eligible, and lists it", () => {
  assert.deepEqual(judge({ maxSeconds: 600 }, {}, { pcmRate: null }), { missing: ["duration", "decoder"], cut: null });
});

test("routing.split-decoder: a target that accepts no WAV, or less than a second of it, is not cut for", () => {
  assert.deepEqual(judge({ maxSeconds: 600, formats: ["mp3"] }).missing, ["duration", "format"]);
  assert.deepEqual(judge({ maxSeconds: 0.9 }), { missing: ["duration"], cut: null });
  assert.deepEqual(judge({ maxBytes: 32_043 }, {}, { sizeBytes: 40_000 }), { missing: ["size"], cut: null });
  assert.equal(judge({ maxBytes: 32_044 }, {}, { sizeBytes: 40_000 }).cut?.maxFrames, 16_000);
});

test("routing.split-pieces: a limit that a feature tightens is the limit of its pieces", () => {
  const limits = { maxSeconds: 600, maxSecondsWith: { "timestamps.word": 60 } };
  assert.equal(judge(limits, { timestamps: "word" }).cut?.maxFrames, 60 * 16_000);
});
