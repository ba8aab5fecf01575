// Whether an empty answer is doubted: the check for speech must not lose an answer that is paid for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDecoder } from "../../src/audio/decode/decoder.ts";
import { newId } from "../../src/contract/ids.ts";
import { createSpeechDetector } from "../../src/gateway/transcription/empty-guard.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { pcmWav, syllables } from "../audio/pcm.ts";

const payer = { requestId: newId("request"), workspaceId: newId("workspace") };

function recording(open: () => AsyncIterable<Uint8Array>, sizeBytes: number) {
  const facts = {
    format: "wav",
    mediaType: "audio/wav",
    fileName: "audio.wav",
    durationSeconds: 2,
    channels: 1,
  } as const;
  return { ...facts, codec: "pcm", sampleRate: 16_000, sizeBytes, open };
}

test("transcription.empty-believed: an empty answer is believed where the check for speech fails; a fault that is neither the recording's nor the end of the call is logged", async () => {
  const lines: string[] = [];
  const logger = createLogger({ write: (line: string) => void lines.push(line) }, { isStrict: true });
  const services = { decoder: createDecoder({ ffmpeg: null, directory: "/nowhere" }), logger };
  const wav = pcmWav(syllables(2), 16_000, 1);
  const { signal } = new AbortController();
  const whole = recording(async function* () {
    yield wav;
  }, wav.length);
  assert.equal(await createSpeechDetector(services, { audio: whole, signal, payer })(), true);
  const broken = recording(async function* () {
    yield wav.subarray(0, 8_000);
    throw new Error("EIO: the disk cannot be read");
  }, wav.length);
  const cut = recording(async function* () {
    yield wav.subarray(0, 20);
  }, wav.length);
  assert.equal(await createSpeechDetector(services, { audio: cut, signal, payer })(), false);
  const over = AbortSignal.abort();
  assert.equal(await createSpeechDetector(services, { audio: broken, signal: over, payer })(), false);
  assert.deepEqual(lines, []);
  assert.equal(await createSpeechDetector(services, { audio: broken, signal, payer })(), false);
  assert.equal(lines.length, 1);
  const { request_id, err } = JSON.parse(lines[0] ?? "") as { request_id: string; err: { message: string } };
  assert.deepEqual([request_id, err.message], [payer.requestId, "EIO: the disk cannot be read"]);
});
