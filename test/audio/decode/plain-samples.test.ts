// Reads the samples of a WAV at the rate of speech models out of the upload, without a decoder and without the spool.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { Undecodable } from "../../../src/audio/decode/pcm.ts";
import { openPlainSamples } from "../../../src/audio/decode/plain-samples.ts";
import { createMeasurer, type Measurer } from "../../../src/audio/measure.ts";
import { chunk, fmt, join, le32, riff, zeros } from "../build-audio.ts";
import { pcmWav, syllables } from "../pcm.ts";

const NEVER = new AbortController().signal;
let measurer: Measurer;
before(() => {
  measurer = createMeasurer();
});
after(() => measurer.close());

async function recording(bytes: Uint8Array, step = 4_096) {
  const facts = await measurer.measure({ kind: "bytes", bytes });
  if (!facts.ok) throw new Error(facts.reason);
  return {
    ...facts,
    sizeBytes: bytes.length,
    /** All chunks are in the same memory, as those of an upload are. */
    async *open() {
      const memory = new Uint8Array(step);
      for (let at = 0; at < bytes.length; at += step) {
        const part = bytes.subarray(at, at + step);
        memory.set(part);
        yield memory.subarray(0, part.length);
      }
    },
  };
}

async function bytesOf(open: () => AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of open()) parts.push(new Uint8Array(part));
  return join(...parts);
}

const SOUND = syllables(0.4);
const SOUND_BYTES = new Uint8Array(SOUND.buffer, SOUND.byteOffset, SOUND.byteLength);

async function assertSound(file: Uint8Array, step?: number): Promise<void> {
  const plain = await openPlainSamples(await recording(file, step), NEVER);
  assert.ok(plain !== null);
  assert.equal(plain.sizeBytes, SOUND_BYTES.length);
  assert.deepEqual(await bytesOf(plain.open), SOUND_BYTES);
  assert.deepEqual(await bytesOf(plain.open), SOUND_BYTES, "read twice, it is the same");
}

test("measuring.decoder-direct: samples are read out of the file as they are, however its bytes arrive and as often as asked", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 50, max: 20_000 }), (step) => assertSound(pcmWav(SOUND), step)),
    { numRuns: 40 },
  );
});

test("measuring.decoder-direct, measuring.wav-odd-chunks, measuring.wav-data-size: chunks around the sound and a wrong size in the header change nothing", async () => {
  const file = pcmWav(SOUND);
  const odd = join(Buffer.from("LIST"), le32(9), Buffer.from("INFOISFTA"));
  for (const chunks of [odd, join(odd, [0]), join(odd, odd)])
    for (const at of [12, 36]) await assertSound(join(file.slice(0, at), chunks, file.slice(at)), 7);
  await assertSound(join(file, chunk("LIST", zeros(200))));
  for (const claim of [0, 0xffffffff]) {
    const wrong = file.slice();
    wrong.set(le32(claim), 40);
    await assertSound(wrong);
  }
});

test("measuring.decoder-direct: what is not 16 bits, one channel and 16 kHz has to be decoded", async () => {
  const wide = riff(fmt({ tag: 1, channels: 1, rate: 16_000, bits: 24 }), chunk("data", zeros(48_000)));
  for (const file of [pcmWav(SOUND, 16_000, 2), pcmWav(SOUND, 8_000), wide])
    assert.equal(await openPlainSamples(await recording(file), NEVER), null);
});

test("measuring.decoder-length: samples that are shorter than the measured recording are not sent", async () => {
  const audio = { ...(await recording(pcmWav(SOUND))), durationSeconds: 20 };
  await assert.rejects(openPlainSamples(audio, NEVER), Undecodable);
});
