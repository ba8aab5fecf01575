// How a recording goes through the engine: piece by piece, one ahead, and what happens to the others when one fails.
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import { ProviderError } from "../../../src/providers/io.ts";
import type { LocalCalls, LocalSession, Samples } from "../../../src/providers/local/local-calls.ts";
import type { EngineResult } from "../../../src/providers/local/engine/engine-protocol.ts";
import { type LocalBody, recogniseRecording } from "../../../src/providers/local/recognise.ts";
import type { SpeechAudio } from "../../../src/providers/provider.ts";
import { RATE, sentence, speak, wordsModel } from "../../harness/local-model.ts";
import { openRecognisers, openSession, WITH_ENGINE, wordsOf } from "./engines.ts";

const PLAN = { model: "words", hasWords: true, keyterms: [], diarization: false, speakers: null };

/** 75 s of words and pauses: four pieces. */
const SAMPLES = speak(...Array.from({ length: 110 }, () => ["hello", 0.5]).flat()).samples.slice(0, 75 * RATE);

function recording(samples: Int16Array): SpeechAudio {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  return {
    format: "wav",
    mediaType: "audio/wav",
    fileName: "audio.wav",
    sizeBytes: bytes.length,
    durationSeconds: samples.length / RATE,
    channels: 1,
    codec: "pcm",
    sampleRate: RATE,
    samplesPerSecond: RATE,
    /** All chunks are in the same memory. */
    async *open() {
      const memory = Buffer.alloc(65_536);
      for (let at = 0; at < bytes.length; at += memory.length)
        yield memory.subarray(0, bytes.copy(memory, 0, at, at + memory.length));
    },
  };
}

interface Decode {
  readonly seconds: number;
  readonly onSent: () => void;
  readonly settle: PromiseWithResolvers<EngineResult>;
}

function fakeEngine({ sendsAtOnce = true } = {}) {
  const decodes: Decode[] = [];
  let releases = 0;
  const session: LocalSession = {
    model: wordsModel,
    runtime: { engine: "sherpa-onnx 0", processor: "x64" },
    signal: new AbortController().signal,
    decode: ({ samples }: Samples, _keyterms, onSent = () => undefined) => {
      const settle = Promise.withResolvers<EngineResult>();
      decodes.push({ seconds: samples.length / RATE, onSent, settle });
      if (sendsAtOnce) onSent();
      return settle.promise;
    },
    listen: () => Promise.reject(new Error("not a streaming model")),
    diarize: () => Promise.reject(new Error("no speakers")),
    release: () => {
      releases += 1;
    },
  };
  const local: LocalCalls = {
    state: async () => ({ isEngineInstalled: true, models: [wordsModel] }),
    open: async () => session,
  };
  return { local, decodes, releases: () => releases };
}

function heard(text: string): EngineResult {
  return { text, tokens: [], timestamps: [], durations: [], logProbs: [], language: "en", startSeconds: 0 };
}

/** Until nothing more happens by itself. */
async function settled(): Promise<void> {
  for (let tick = 0; tick < 200; tick += 1) await setImmediate();
}

test("local.pieces: the next piece is cut and waits for its turn while one is heard, and no more than one", async () => {
  const { local, decodes, releases } = fakeEngine();
  const result = recogniseRecording(PLAN, recording(SAMPLES), { local });
  for (const [index, expected] of [2, 3, 4, 4].entries()) {
    await settled();
    assert.equal(decodes.length, expected);
    decodes[index]?.settle.resolve(heard(`piece ${index}`));
  }
  const { pieces } = (await result).body as LocalBody;
  assert.deepEqual(
    pieces.map(({ text }) => text),
    ["piece 0", "piece 1", "piece 2", "piece 3"],
  );
  assert.ok(Math.abs(decodes.reduce((sum, { seconds }) => sum + seconds, 0) - 75) < 0.001);
  assert.equal(releases(), 1);
});

test("local.pieces: the next piece is cut when the engine has the samples of the one before", async () => {
  const { local, decodes } = fakeEngine({ sendsAtOnce: false });
  const result = recogniseRecording(PLAN, recording(SAMPLES), { local });
  await settled();
  assert.equal(decodes.length, 1);
  for (const index of [0, 1, 2, 3]) {
    decodes[index]?.onSent();
    await settled();
    assert.equal(decodes.length, Math.min(index + 2, 4));
    decodes[index]?.settle.resolve(heard(`piece ${index}`));
    await settled();
  }
  assert.equal(((await result).body as LocalBody).pieces.length, 4);
});

test("local.pieces: a piece that fails is the failure of the recording, whatever becomes of the piece behind it", async () => {
  for (const other of ["fails", "is heard"]) {
    const { local, decodes, releases } = fakeEngine();
    const result = recogniseRecording(PLAN, recording(SAMPLES), { local });
    await settled();
    const failure = new ProviderError("server_error", { reason: "decode_failed" });
    decodes[0]?.settle.reject(failure);
    await assert.rejects(result, failure);
    assert.equal(releases(), 1);
    if (other === "fails") decodes[1]?.settle.reject(new ProviderError("aborted"));
    else decodes[1]?.settle.resolve(heard("late"));
    await settled();
    assert.equal(decodes.length, 2);
  }
});

test("local.pieces: a piece that waits when its session ends is never decoded", WITH_ENGINE, async (t) => {
  const engines = openRecognisers(t);
  const ending = await openSession(t, engines, { audioSeconds: 100 });
  const staying = await openSession(t, engines, { owner: "b" });
  const spoken = sentence("hello", "doctor");
  await staying.decode({ ...spoken, sampleRate: RATE }, []);
  const running = staying.decode({ samples: new Int16Array(RATE * 60), sampleRate: RATE }, []);
  const waiting = ending.decode({ ...spoken, sampleRate: RATE }, []);
  ending.release();
  await assert.rejects(
    waiting,
    (error) => error instanceof ProviderError && error.kind === "aborted" && error.reason === "session_ended",
  );
  await running;
  assert.equal((await staying.decode({ ...spoken, sampleRate: RATE }, [])).text.trim(), wordsOf(spoken));
  assert.equal(engines.processes.length, 1, "the decode of the other session was not ended");
});
