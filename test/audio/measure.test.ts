// Compares lengths with an independent tool's, and checks what damage can never do to them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import {
  type Arbitrary,
  array,
  assert as check,
  asyncProperty,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
  tuple,
} from "fast-check";
import { createMeasurer, type Measurement } from "../../src/audio/measure.ts";
import type { AudioFormat } from "../../src/contract/transcription/audio-formats.ts";
import { be32, box, ESDS, fixture, fullBox, mp4, ratedEntry, zeros } from "./build-audio.ts";
import { assertSane } from "./sane.ts";

const measurer = createMeasurer();
after(() => measurer.close());
const measure = (bytes: Uint8Array): Promise<Measurement> => measurer.measure({ kind: "bytes", bytes });

type Truth = { readonly seconds: number; readonly tool: string; readonly format: AudioFormat };
const truth: Readonly<Record<string, Truth>> = JSON.parse(
  readFileSync(new URL("../fixtures/audio/truth.json", import.meta.url), "utf8"),
);
const names = Object.keys(truth);

test("measuring.true-length: every recording among the fixtures has a true length", () => {
  const recordings = readdirSync(new URL("../fixtures/audio/", import.meta.url)).filter(
    (name) => !/^(truth\.json|video-only\..*)$/.test(name),
  );
  assert.deepEqual(recordings.toSorted(), names.toSorted());
  assert.ok(names.length >= 25);
});

for (const [name, { seconds, tool, format }] of Object.entries(truth)) {
  test(`measuring.true-length: ${name} is ${format} and ${seconds} s long (${tool})`, async () => {
    const measurement = await measure(fixture(name));
    assert.ok(measurement.ok, JSON.stringify(measurement));
    assert.equal(measurement.format, format);
    const tolerance = format === "mpeg" ? seconds / 100 : 0.05;
    assert.ok(
      Math.abs(measurement.durationSeconds - seconds) <= tolerance,
      `measured ${measurement.durationSeconds} s`,
    );
    assert.equal(measurement.channels, name.includes("stereo") ? 2 : 1);
    assert.equal(measurement.audioTracks, 1);
  });
}

test("measuring.several-tracks: the recording is found behind the picture, and its codec is named", async () => {
  const codecs = await Promise.all(
    ["video-faststart.mp4", "video-opus.webm", "video.mpeg", "speech-vorbis.webm", "speech-alac.m4a"].map(
      async (name) => measure(fixture(name)),
    ),
  );
  assert.deepEqual(
    codecs.map((measurement) => measurement.ok && measurement.codec),
    ["aac", "opus", "mp2", "vorbis", "alac"],
  );
});

test("measuring.truncated, measuring.invalid: an mp4 cut off in its sound is as long as the sound that is there; cut off before its index it is refused", async () => {
  const whole = fixture("speech.m4a");
  const cut = await measure(whole.slice(0, whole.length * 0.8));
  assert.ok(cut.ok && cut.durationSeconds > 5 && cut.durationSeconds < 6.2, JSON.stringify(cut));
  const unindexed = await measure(fixture("speech-moov-at-end.m4a").slice(0, 20_000));
  assert.deepEqual(unindexed, { ok: false, code: "INVALID_AUDIO", reason: "is cut off before its index" });
});

for (const entry of ["alac", "fLaC"]) {
  test(`measuring.mp4-rates: ${entry} at 96 kHz, more than the 16 bits of its mp4 entry can hold, has the rate of its track's clock`, async () => {
    const stsd = fullBox("stsd", be32(1), ratedEntry(entry, { rate: 0 }));
    const measured = await measure(mp4({ timescale: 96_000, stsd }));
    assert.ok(measured.ok, JSON.stringify(measured));
    assert.equal(measured.sampleRate, 96_000);
    assert.equal(measured.durationSeconds, (30 * 1024) / 96_000);
  });
}

test("measuring.mp4-rates: the 16 bytes of QuickTime's version 1 are skipped under version 0 of stsd; ISO's version 1 has none, and has its rate in srat", async () => {
  const rate = fullBox("srat", be32(22_050));
  const ofIso = (entry: string, ...children: Uint8Array[]) =>
    box("stsd", be32(0x0100_0000), be32(1), ratedEntry(entry, { rate: 1, version: 1 }, ...children));
  const quickTime = fullBox("stsd", be32(1), ratedEntry("mp4a", { rate: 16_000, version: 1 }, zeros(16), ESDS));
  const clockOf = async (stsd: Uint8Array) => {
    const measured = await measure(mp4({ stsd, timescale: 90_000 }));
    return measured.ok ? [measured.codec, measured.durationSeconds, measured.sampleRate] : measured;
  };
  // AAC's packets say their length, which the track's clock does not.
  assert.deepEqual(await clockOf(ofIso("mp4a", ESDS, rate)), ["aac", 1.92, 16_000]);
  assert.deepEqual(await clockOf(quickTime), ["aac", 1.92, 16_000]);
  assert.deepEqual(await clockOf(ofIso("alac", rate)), ["alac", 0.341, 22_050]);
});

const recordings = names.map((name) => ({ name, bytes: fixture(name) }));
const anyRecording = constantFrom(...recordings);
/** Positions crowd at the start, where the structure is. */
const position = (length: number): Arbitrary<number> => oneof(nat(Math.min(length, 2000) - 1), nat(length - 1));
const LIMITS = { numRuns: 300, interruptAfterTimeLimit: 8000, markInterruptAsFailure: false } as const;

test("measuring.truncated: cutting any recording anywhere never throws, hangs or lengthens it", async () => {
  const cut = anyRecording.chain(({ name, bytes }) => record({ name: constant(name), length: position(bytes.length) }));
  await check(
    asyncProperty(cut, async ({ name, length }) => {
      const bytes = fixture(name).slice(0, length);
      const measurement = await measure(bytes);
      assertSane(measurement, bytes);
      // 0.1 s: an encoder's padding is taken off only while the end is there.
      if (measurement.ok)
        assert.ok(measurement.durationSeconds <= (truth[name]?.seconds ?? 0) + 0.1, `${measurement.durationSeconds} s`);
    }),
    LIMITS,
  );
});

test("measuring.truncated, measuring.no-crash: changing bytes of any recording never throws, hangs or gives an impossible length", async () => {
  const damage = anyRecording.chain(({ name, bytes }) =>
    record({
      name: constant(name),
      changes: array(tuple(position(bytes.length), oneof(constantFrom(0, 1, 127, 128, 255), nat(255))), {
        minLength: 1,
        maxLength: 12,
      }),
    }),
  );
  await check(
    asyncProperty(damage, async ({ name, changes }) => {
      const bytes = fixture(name);
      for (const [offset, value] of changes) bytes[offset] = value;
      assertSane(await measure(bytes), bytes);
    }),
    LIMITS,
  );
});
