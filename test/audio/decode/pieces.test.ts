// Cuts a recording into pieces (`split_long_audio`): they tile it to the sample, each within the limit, cut in its pauses.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { decodeRecording } from "../../../src/audio/decode/decoded-recording.ts";
import { createDecoder } from "../../../src/audio/decode/decoder.ts";
import { levelMeter } from "../../../src/audio/decode/levels.ts";
import { type EncodedAudio, Undecodable } from "../../../src/audio/decode/pcm.ts";
import { planCuts } from "../../../src/audio/decode/plan-cuts.ts";
import { createMeasurer, type Measurer } from "../../../src/audio/measure.ts";
import { openSpool, type Spool } from "../../../src/audio/spool.ts";
import { inOrder, pcmWav, RATE, silence, syllables, tone } from "../pcm.ts";

const NEVER = new AbortController().signal;
let directory: string;
let spool: Spool;
let measurer: Measurer;
before(async () => {
  directory = await mkdtemp(joinPath(tmpdir(), "patchbay-pieces-"));
  // Nothing in memory: the pieces come from the file.
  spool = await openSpool({ directory, memoryLimitBytes: 4096 });
  measurer = createMeasurer();
});
after(async () => {
  await spool.close();
  await measurer.close();
  await rm(directory, { recursive: true, force: true });
});

function levelsOf(samples: Int16Array) {
  const meter = levelMeter({ sampleRate: RATE, channels: 1 });
  meter.add(samples);
  return meter.end();
}

/** Sound and pauses in any order and length. */
const RECORDING = fc
  .array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 2 * RATE })), { minLength: 1, maxLength: 12 })
  .map((parts) =>
    inOrder(
      ...parts.map(([isLoud, length]) => {
        const seconds = length / RATE;
        return isLoud ? tone(seconds, 300) : silence(seconds);
      }),
    ),
  );

test("transcription.split-place: pieces tile every recording, each within its limit and none too short (property, n = 300)", () => {
  fc.assert(
    fc.property(RECORDING, fc.integer({ min: RATE, max: 6 * RATE }), (samples, cap) => {
      const spans = planCuts(levelsOf(samples), RATE, cap);
      assert.equal(spans[0]?.from, 0);
      assert.equal(spans.at(-1)?.to, samples.length);
      for (const [index, { from, to }] of spans.entries()) {
        if (index > 0) assert.equal(from, spans[index - 1]?.to);
        assert.ok(to - from <= cap);
        if (spans.length > 1) assert.ok(to - from >= Math.min(RATE, Math.floor(cap / 2)));
      }
    }),
    { numRuns: 300, seed: 20_261_121 },
  );
});

test("routing.split-pieces: a recording of exactly the limit is one piece; of one sample more, two", () => {
  const cap = 4 * RATE;
  assert.equal(planCuts(levelsOf(syllables(4)), RATE, cap).length, 1);
  assert.equal(planCuts(levelsOf(inOrder(syllables(4), new Int16Array(1))), RATE, cap).length, 2);
});

test("transcription.split-place: the cut is in the pause, even one well before the longest piece", () => {
  for (const pauseAt of [5.2, 6, 8.1, 9.3]) {
    const sound = inOrder(tone(pauseAt, 300), silence(0.4), tone(15 - pauseAt, 300));
    const [first] = planCuts(levelsOf(sound), RATE, 10 * RATE);
    const seconds = (first?.to ?? 0) / RATE;
    assert.ok(seconds >= pauseAt && seconds <= pauseAt + 0.4, `${seconds} s, the pause is at ${pauseAt} s`);
  }
});

test("transcription.split-place: of equal pauses the last is taken; without any the quietest place is", () => {
  const pauses = inOrder(tone(5.5, 300), silence(0.5), tone(2, 300), silence(0.5), tone(6, 300));
  const [first] = planCuts(levelsOf(pauses), RATE, 10 * RATE);
  const seconds = (first?.to ?? 0) / RATE;
  assert.ok(seconds >= 8 && seconds <= 8.5, String(seconds));
  const restless = inOrder(tone(7, 300), tone(0.4, 300, 2000), tone(6, 300));
  const [quiet] = planCuts(levelsOf(restless), RATE, 10 * RATE);
  const place = (quiet?.to ?? 0) / RATE;
  assert.ok(place >= 7 && place <= 7.4, String(place));
});

async function encoded(bytes: Uint8Array): Promise<EncodedAudio> {
  const facts = await measurer.measure({ kind: "bytes", bytes });
  if (!facts.ok) throw new Error(facts.reason);
  return {
    ...facts,
    async *open() {
      yield bytes;
    },
  };
}

const services = () => ({ decoder: createDecoder({ ffmpeg: null, directory }), spool });

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

test("transcription.split, routing.split-pieces: the pieces are WAV files whose samples, put together, are the recording to the last one", async () => {
  const left = syllables(5);
  const stereo = Int16Array.from({ length: left.length * 2 }, (_, index) =>
    index % 2 === 0 ? (left[index / 2] ?? 0) : 100,
  );
  for (const [file, channels, expected] of [
    [pcmWav(left), "mono", left],
    [pcmWav(stereo, RATE, 2), "all", stereo],
  ] as const) {
    const recording = await decodeRecording(services(), await encoded(file), { channels, signal: NEVER });
    const spans = planCuts(recording.levels, RATE, 2 * RATE);
    assert.ok(spans.length >= 3);
    const parts: Int16Array[] = [];
    for (const span of spans) {
      const piece = recording.piece(span);
      const bytes = await bytesOf(piece.open());
      assert.equal(bytes.length, piece.sizeBytes);
      // Read twice, it is the same: an attempt opens its own.
      assert.deepEqual(await bytesOf(piece.open()), bytes);
      const measured = await measurer.measure({ kind: "bytes", bytes });
      assert.ok(measured.ok);
      assert.deepEqual([measured.codec, measured.sampleRate, measured.channels], ["pcm", RATE, recording.channels]);
      assert.ok(Math.abs(measured.durationSeconds - (span.to - span.from) / RATE) < 0.001);
      parts.push(new Int16Array(bytes.buffer, 44));
    }
    assert.deepEqual(inOrder(...parts), expected);
    await recording.dispose();
  }
  assert.equal(spool.bytesInFlight, 0);
  assert.deepEqual(await readdir(directory), []);
});

test("measuring.decoder-length: a recording whose decoded length is not the measured one is not sent at all, and leaves nothing", async () => {
  const audio = await encoded(pcmWav(syllables(10)));
  const cut = { ...audio, durationSeconds: 20 };
  await assert.rejects(decodeRecording(services(), cut, { channels: "mono", signal: NEVER }), Undecodable);
  assert.equal(spool.bytesInFlight, 0);
  assert.deepEqual(await readdir(directory), []);
});
