// Distinguishes speech from other sounds, for the empty-transcript guard: a table of sounds, and every recording of speech in the fixtures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDecoder } from "../../../src/audio/decode/decoder.ts";
import { holdsSpeech, levelMeter, measureLevels } from "../../../src/audio/decode/levels.ts";
import { createMeasurer } from "../../../src/audio/measure.ts";
import { fixture } from "../build-audio.ts";
import { hiss, inOrder, RATE, silence, syllables, tone } from "../pcm.ts";

const quieter = (samples: Int16Array, factor: number) => samples.map((value) => Math.round(value * factor));

const SOUNDS: readonly (readonly [name: string, samples: Int16Array, speech: boolean])[] = [
  ["digital silence", silence(3), false],
  ["an empty recording", silence(0), false],
  ["a steady tone", tone(3, 440), false],
  ["mains hum", tone(3, 50), false],
  ["hiss of a microphone", hiss(3, 300), false],
  ["loud hiss", hiss(3), false],
  ["hiss that begins", inOrder(silence(2), hiss(1)), false],
  ["one click", inOrder(silence(1), tone(0.02, 440, 30_000), silence(2)), false],
  [
    "two clicks a second",
    inOrder(...Array.from({ length: 6 }, () => inOrder(tone(0.03, 440, 30_000), silence(0.47)))),
    false,
  ],
  ["voice far below what can be heard", quieter(syllables(3), 0.01), false],
  ["syllables", syllables(3), true],
  ["quiet syllables", quieter(syllables(3), 0.05), true],
  ["one word in a long silence", inOrder(silence(20), syllables(0.3), silence(20)), true],
  ["syllables over hiss", inOrder(...[0, 1, 2].map(() => inOrder(hiss(0.5, 300), syllables(0.3)))), true],
];

for (const [name, samples, expected] of SOUNDS) {
  test(`measuring.speech-detection: ${name} is ${expected ? "" : "not "}speech`, () => {
    assert.equal(holdsSpeech(levelsOf(samples)), expected);
  });
}

test("measuring.speech-detection: the levels are the same however the samples arrive, and count every one", () => {
  const sound = inOrder(syllables(1.013), hiss(0.3));
  const whole = levelsOf(sound);
  const meter = levelMeter({ sampleRate: RATE, channels: 1 });
  for (let at = 0; at < sound.length; at += 777) meter.add(sound.subarray(at, at + 777));
  assert.deepEqual(meter.end(), whole);
  assert.equal(whole.samples, sound.length);
});

test("measuring.speech-detection: recorded speech is recognised as speech, in every WAV there is", async () => {
  const measurer = createMeasurer();
  const decoder = createDecoder({ ffmpeg: null, directory: "/nonexistent" });
  try {
    for (const name of ["speech-16k.wav", "speech-44k-stereo.wav", "speech-mulaw.wav", "speech-piped.wav"]) {
      const bytes = fixture(name);
      const facts = await measurer.measure({ kind: "bytes", bytes });
      assert.ok(facts.ok);
      const audio = {
        ...facts,
        async *open() {
          yield bytes;
        },
      };
      const pcm = decoder.decode(audio, { channels: "mono", signal: new AbortController().signal });
      assert.equal(holdsSpeech(await measureLevels(pcm)), true, name);
    }
  } finally {
    await measurer.close();
  }
});

function levelsOf(samples: Int16Array) {
  const meter = levelMeter({ sampleRate: RATE, channels: 1 });
  meter.add(samples);
  return meter.end();
}
