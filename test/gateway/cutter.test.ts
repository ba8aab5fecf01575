// What the targets of a run get of one recording: samples that are there already are read out of the upload.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createDecoder, type Decoder } from "../../src/audio/decode/decoder.ts";
import { openSpool } from "../../src/audio/spool.ts";
import { newId } from "../../src/contract/ids.ts";
import { createCutter } from "../../src/gateway/calls/cutter.ts";
import type { SpeechAudio } from "../../src/providers/provider.ts";
import { pcmWav, syllables } from "../audio/pcm.ts";

const payer = { workspaceId: newId("workspace") };
const { signal } = new AbortController();

function wav(samples: Int16Array, channels: number): SpeechAudio {
  const bytes = pcmWav(samples, 16_000, channels);
  return {
    format: "wav",
    mediaType: "audio/wav",
    fileName: "audio.wav",
    sizeBytes: bytes.length,
    durationSeconds: samples.length / channels / 16_000,
    channels,
    codec: "pcm",
    sampleRate: 16_000,
    open: async function* () {
      yield bytes;
    },
  };
}

test("measuring.decoder-direct: the samples of a WAV with one channel are no second recording in the spool, those of others are", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "patchbay-cutter-"));
  t.after(() => rm(directory, { recursive: true }));
  const spool = await openSpool({ directory });
  t.after(() => spool.close());
  const services = { decoder: createDecoder({ ffmpeg: null, directory }), spool };
  const sound = syllables(2);
  const bytes = new Uint8Array(sound.buffer, sound.byteOffset, sound.byteLength);
  for (const [channels, spooledBytes] of [
    [1, 0],
    [2, bytes.length / 2],
  ] as const) {
    await using cutter = createCutter(services, { audio: wav(sound, channels), signal, payer });
    const samples = await cutter.samples();
    assert.equal(spool.bytesInFlight, spooledBytes);
    assert.deepEqual([samples.channels, samples.samplesPerSecond], [1, 16_000]);
    const read = Buffer.concat(await Array.fromAsync(samples.open(), (chunk) => Buffer.from(chunk)));
    assert.equal(read.length, samples.sizeBytes);
    if (channels === 1) assert.ok(read.equals(bytes));
  }
  assert.equal(spool.bytesInFlight, 0);
  assert.deepEqual(await readdir(directory), []);
});

test("measuring.decoder-abort: the end of a run stops a decoder that still works for it, and leaves nothing", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "patchbay-cutter-"));
  t.after(() => rm(directory, { recursive: true }));
  const spool = await openSpool({ directory });
  t.after(() => spool.close());
  const decoder = createDecoder({ ffmpeg: null, directory });
  const [reached, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
  const endless: Decoder["decode"] = (audio, wish) => ({
    ...decoder.decode(audio, wish),
    chunks: (async function* () {
      wish.signal.addEventListener("abort", () => gone.reject(wish.signal.reason));
      yield new Int16Array(1_000);
      reached.resolve();
      await gone.promise;
    })(),
  });
  const services = { decoder: { ...decoder, decode: endless }, spool };
  const cutter = createCutter(services, { audio: wav(syllables(2), 2), signal, payer });
  const samples = cutter.samples();
  samples.catch(() => undefined);
  await reached.promise;
  await cutter[Symbol.asyncDispose]();
  await assert.rejects(samples, { name: "AbortError" });
  // What only begins to decode when the run has ended.
  await assert.rejects(cutter.samples(), { name: "AbortError" });
  assert.equal(spool.bytesInFlight, 0);
});
