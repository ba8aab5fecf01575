// The measurer as a machine: kill, crash, order, abort, close, memory.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { GatewayError } from "../../src/contract/errors.ts";
import * as fc from "fast-check";
import { measureBytes, measureInPlace } from "../../src/audio/measure-source.ts";
import { readBytes } from "../../src/audio/readers/byte-reader.ts";
import { createMeasurer, type Measurement, type Measurer } from "../../src/audio/measure.ts";
import { fixture, mp3, wav } from "./build-audio.ts";

const faulty = (): Measurer =>
  createMeasurer({ workerUrl: new URL("./faulty-worker.ts", import.meta.url), killAfterMs: () => 1500 });
const send = (measurer: Measurer, ...bytes: number[]): Promise<Measurement> =>
  measurer.measure({ kind: "bytes", bytes: Uint8Array.from(bytes) });
const codeOf = (error: unknown): unknown => (error instanceof GatewayError ? error.code : error);
const invalid = (reason: string): Measurement => ({ ok: false, code: "INVALID_AUDIO", reason });

test("measuring.processor-limit: a job that exceeds its limit is killed, answered, and the next one gets a new worker", async () => {
  const measurer = faulty();
  const answers = await Promise.all([send(measurer, 1, 0), send(measurer, 0, 7)]);
  assert.deepEqual(answers, [invalid("could not be read in time"), invalid("answered 7")]);
  await measurer.close();
});

test("measuring.processor-limit, measuring.starved: the limit is of the processor: what the clock alone has used up is no verdict on the audio", async () => {
  const used = [0, 400, 1000];
  const measurer = createMeasurer({
    workerUrl: new URL("./faulty-worker.ts", import.meta.url),
    killAfterMs: () => 500,
    processorMs: async () => used.shift() ?? assert.fail("asked after the verdict"),
  });
  assert.deepEqual(await send(measurer, 1), invalid("could not be read in time"));
  assert.deepEqual(used, []);
  await measurer.close();
});

test("measuring.starved: a worker that is starved for long is given up: 503 OVERLOADED, retryable, and the next one gets a new worker", async () => {
  const measurer = createMeasurer({
    workerUrl: new URL("./faulty-worker.ts", import.meta.url),
    killAfterMs: (sizeBytes) => (sizeBytes === 1 ? 20 : 60_000),
    processorMs: async () => 0,
  });
  const answers = await Promise.all([send(measurer, 1).catch(codeOf), send(measurer, 0, 7)]);
  assert.deepEqual(answers, ["OVERLOADED", invalid("answered 7")]);
  await measurer.close();
});

for (const [fault, what] of [
  [2, "throws"],
  [3, "exits"],
  [4, "eats all its memory"],
] as const) {
  test(`measuring.worker-crash: a worker that ${what} gives INVALID_AUDIO and is replaced`, async () => {
    const measurer = createMeasurer({
      workerUrl: new URL("./faulty-worker.ts", import.meta.url),
      killAfterMs: () => 20_000,
    });
    const answers = await Promise.all([send(measurer, fault), send(measurer, 0, 8)]);
    assert.deepEqual(answers, [invalid("could not be read"), invalid("answered 8")]);
    await measurer.close();
  });
}

test("measuring.fair-queue: jobs are answered first in, first out", async () => {
  const measurer = faulty();
  const order: number[] = [];
  await Promise.all([1, 2, 3, 4].map(async (number) => order.push(await send(measurer, 0, number).then(() => number))));
  assert.deepEqual(order, [1, 2, 3, 4]);
  await measurer.close();
});

test("measuring.fair-queue: an owner with many recordings delays another one by one recording at most", async () => {
  const measurer = faulty();
  const order: string[] = [];
  const measure = async (owner: string, number: number): Promise<void> => {
    await measurer.measure({ kind: "bytes", bytes: Uint8Array.of(0, number) }, { owner });
    order.push(`${owner}${number}`);
  };
  const loud = [1, 2, 3, 4].map((number) => measure("loud", number));
  await Promise.all([...loud, measure("quiet", 1), measure("quiet", 2), measure("third", 1)]);
  assert.deepEqual(order, ["loud1", "quiet1", "third1", "loud2", "quiet2", "loud3", "loud4"]);
  await measurer.close();
});

test("measuring.fair-queue: two workers: a job that hangs does not delay the next one", async () => {
  const measurer = createMeasurer({
    workers: 2,
    workerUrl: new URL("./faulty-worker.ts", import.meta.url),
    killAfterMs: () => 60_000,
  });
  const hanging = send(measurer, 1).catch((error: unknown) => error);
  assert.deepEqual(await send(measurer, 0, 9), invalid("answered 9"));
  await measurer.close();
  assert.match(String(await hanging), /closed/);
});

test("measuring.abort: an abort ends a running job and a waiting one with the caller's reason, and the queue continues", async () => {
  const measurer = createMeasurer({
    workerUrl: new URL("./faulty-worker.ts", import.meta.url),
    killAfterMs: () => 60_000,
  });
  const controllers = [new AbortController(), new AbortController()];
  const outcomes = controllers.map((controller) =>
    measurer
      .measure({ kind: "bytes", bytes: Uint8Array.of(1) }, { signal: controller.signal })
      .catch((error: unknown) => error),
  );
  const last = send(measurer, 0, 5);
  const reason = new Error("the caller hung up");
  controllers[1]?.abort(reason);
  controllers[0]?.abort(reason);
  assert.deepEqual(await Promise.all(outcomes), [reason, reason]);
  assert.deepEqual(await last, invalid("answered 5"));
  await assert.rejects(
    measurer.measure({ kind: "bytes", bytes: wav() }, { signal: AbortSignal.abort(reason) }),
    reason,
  );
  await measurer.close();
});

test("measuring.worker: a WAV whose first chunks contain its length is measured without a worker, with the same result as by one", async () => {
  const measurer = faulty();
  assert.deepEqual(await measurer.measure({ kind: "bytes", bytes: wav() }), measureBytes(readBytes(wav())));
  await measurer.close();
  const chunk = fc
    .tuple(
      fc.constantFrom("fmt ", "data", "LIST", "JUNK"),
      fc.nat(600),
      fc.uint8Array({ minLength: 16, maxLength: 40 }),
    )
    .map(([id, claimed, content]) =>
      Buffer.concat([Buffer.from(id), Buffer.from(Uint32Array.of(claimed).buffer), content]),
    );
  let measured = 0;
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), fc.nat(4), (chunks, keeps) => {
      const sound = keeps === 0 ? chunks : [wav().subarray(12, 12 + 24), ...chunks];
      const bytes = Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE"), ...sound]);
      const inPlace = measureInPlace(bytes);
      if (inPlace === null) return;
      measured += 1;
      assert.deepEqual(inPlace, measureBytes(readBytes(bytes)));
    }),
    { seed: 1, numRuns: 2_000 },
  );
  assert.ok(measured > 500, `${measured} were measured in place`);
  assert.equal(measureInPlace(mp3()), null);
});

test("measuring.shutdown: a closed measurer refuses, and closing twice is harmless", async () => {
  const measurer = createMeasurer();
  await measurer.close();
  await measurer.close();
  await assert.rejects(measurer.measure({ kind: "bytes", bytes: wav() }), /closed/);
});

test("measuring.caller-bytes: the caller's bytes stay the caller's: a small view of a pool is measured alone and not transferred", async () => {
  const measurer = createMeasurer();
  const pool = new Uint8Array(1_000_000);
  const sound = wav(1);
  pool.set(sound, 500_000);
  const view = pool.subarray(500_000, 500_000 + sound.length);
  const measurement = await measurer.measure({ kind: "bytes", bytes: view });
  assert.ok(measurement.ok && measurement.durationSeconds === 1);
  assert.equal(view.length, sound.length);
  assert.equal(pool.length, 1_000_000);
  await measurer.close();
});

test("measuring.caller-bytes: a spooled file gives the same answer as its bytes; sizeBytes limits it; a missing one is an internal error, not a verdict", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "measure-"));
  context.after(() => rm(directory, { recursive: true }));
  const measurer = createMeasurer();
  context.after(() => measurer.close());
  const inputs = [
    wav(),
    mp3(30_000),
    fixture("speech-moov-at-end.m4a"),
    fixture("speech-live.webm"),
    fixture("video.mpeg"),
    new Uint8Array(0),
  ];
  for (const [index, bytes] of inputs.entries()) {
    const path = join(directory, String(index));
    await writeFile(path, bytes);
    const fromFile = await measurer.measure({ kind: "file", path, sizeBytes: bytes.length });
    assert.deepEqual(fromFile, await measurer.measure({ kind: "bytes", bytes }));
  }
  const half = await measurer.measure({ kind: "file", path: join(directory, "0"), sizeBytes: 44 + 8000 });
  assert.ok(half.ok && half.durationSeconds === 1);
  await assert.rejects(
    measurer.measure({ kind: "file", path: join(directory, "missing"), sizeBytes: 10 }),
    /could not be read/,
  );
});

test("measuring.shutdown: an idle worker does not keep the process alive", async () => {
  const script = fileURLToPath(new URL("./idle-process.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 300_000 });
  assert.equal(stdout, "2");
});
