// Decodes MP3 without ffmpeg: to its true length, sample by sample as ffmpeg does, whatever the content, with bounded memory.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { createDecoder } from "../../../src/audio/decode/decoder.ts";
import { findFfmpeg } from "../../../src/audio/decode/find-ffmpeg.ts";
import { decodeMpeg } from "../../../src/audio/decode/mpeg.ts";
import { createMpegThreads, startMpegWorker } from "../../../src/audio/decode/mpeg-threads.ts";
import { type EncodedAudio, Undecodable } from "../../../src/audio/decode/pcm.ts";
import { createMeasurer, type Measurer } from "../../../src/audio/measure.ts";
import { ascii, fixture, frame, id3, join, noise, repeat, zeros } from "../build-audio.ts";
import { inOrder, pcmWav, syllables } from "../pcm.ts";

const FFMPEG = findFfmpeg(process.env["PATH"]);
const NO_FFMPEG = FFMPEG === null ? "SKIPPED: this machine has no ffmpeg on its PATH" : false;
const hasEncoder =
  FFMPEG !== null && execFileSync(FFMPEG, ["-hide_banner", "-encoders"], { timeout: 60_000 }).includes("libmp3lame");
const NO_ENCODER = hasEncoder ? false : "SKIPPED: this machine has no ffmpeg with an encoder of MP3 on its PATH";
const NEVER = new AbortController().signal;
const TRUTH = JSON.parse(Buffer.from(fixture("truth.json")).toString("utf8")) as Readonly<
  Record<string, { readonly seconds: number; readonly format: string }>
>;
const MP3 = Object.entries(TRUTH).filter(([, { format }]) => format === "mp3");

let measurer: Measurer;
before(() => {
  measurer = createMeasurer();
});
after(() => measurer.close());

const threads = createMpegThreads();
const decoder = createDecoder({ ffmpeg: null, directory: "/nonexistent" });

async function measured(bytes: Uint8Array, step = 65_536): Promise<EncodedAudio> {
  const facts = await measurer.measure({ kind: "bytes", bytes });
  if (!facts.ok) throw new Error(facts.reason);
  return { ...facts, open: () => inSteps(bytes, step) };
}

async function* inSteps(bytes: Uint8Array, step: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

async function samplesOf(chunks: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const parts: Int16Array[] = [];
  for await (const part of chunks) parts.push(part);
  return inOrder(...parts);
}

const decode = async (bytes: Uint8Array, channels: "mono" | "all" = "all", step?: number) =>
  samplesOf(decoder.decode(await measured(bytes, step), { channels, signal: NEVER }).chunks);

test(`measuring.decoder-mpeg, measuring.true-length: every MP3 has its true length without ffmpeg, and its own rate (${MP3.length} files)`, async () => {
  assert.ok(MP3.length >= 8);
  for (const [name, { seconds }] of MP3) {
    const audio = await measured(fixture(name));
    const rate = decoder.rateOf(audio);
    assert.equal(rate, audio.sampleRate, name);
    const samples = await samplesOf(decoder.decode(audio, { channels: "mono", signal: NEVER }).chunks);
    const heard = samples.length / (rate ?? 0);
    assert.ok(Math.abs(heard - seconds) < 0.06, `${name}: ${heard} s, not ${seconds} s`);
  }
});

test("measuring.decoder-mpeg: ffmpeg and the built-in decoder give the same samples at the same places, also at the beginning and at the end", {
  skip: NO_FFMPEG,
}, async () => {
  for (const [name] of MP3) {
    const audio = await measured(fixture(name));
    const own = await decode(fixture(name));
    const theirs = byFfmpeg(fixture(name), audio.channels);
    assert.ok(
      Math.abs(own.length - theirs.length) <= SLACK_FRAMES * audio.channels,
      `${name}: ${own.length}, ffmpeg ${theirs.length}`,
    );
    const largest = own.reduce((most, value, at) => Math.max(most, Math.abs(value - (theirs[at] ?? value))), 0);
    // Rounding, of which ffmpeg's fixed-point layers have more.
    assert.ok(largest <= 4, `${name}: samples differ by ${largest}`);
  }
});

/** A last frame that is cut off is completed by one of them. */
const SLACK_FRAMES = 1_152;

function byFfmpeg(bytes: Uint8Array, channels: number): Int16Array {
  const output = execFileSync(
    FFMPEG ?? "",
    ["-loglevel", "quiet", "-f", "mp3", "-i", "pipe:0", "-ac", String(channels), "-f", "s16le", "pipe:1"],
    { input: bytes, maxBuffer: 100_000_000, timeout: 60_000 },
  );
  return new Int16Array(Uint8Array.from(output).buffer);
}

test("measuring.decoder-mpeg: the samples are the same however the bytes arrive", async () => {
  const bytes = fixture("speech-vbr-xing.mp3");
  const whole = await decode(bytes);
  for (const step of [1, 997, 8_192, 1_000_000]) {
    const some = step === 1 ? bytes.subarray(0, 6_000) : bytes;
    const expected = step === 1 ? await decode(some) : whole;
    assert.deepEqual(await decode(some, "all", step), expected, `in steps of ${step}`);
  }
});

test("measuring.decoder-mpeg: two channels stay separate, and mono is their mean", { skip: NO_ENCODER }, async () => {
  const left = syllables(2, 44_100);
  const right = left.map((sample, at) => (at % 44_100 < 22_050 ? -(sample >> 1) : 0));
  const frames = Int16Array.from({ length: left.length * 2 }, (_, at) => (at % 2 === 0 ? left : right)[at >> 1] ?? 0);
  const stereo = Uint8Array.from(
    execFileSync(FFMPEG ?? "", ["-loglevel", "quiet", "-i", "pipe:0", "-joint_stereo", "0", "-f", "mp3", "pipe:1"], {
      input: pcmWav(frames, 44_100, 2),
      timeout: 60_000,
    }),
  );
  const whole = await decode(stereo);
  const theirs = byFfmpeg(stereo, 2);
  assert.equal(whole.length, theirs.length);
  assert.ok(whole.every((sample, at) => Math.abs(sample - (theirs[at] ?? 0)) <= 4));
  const mono = await decode(stereo, "mono");
  assert.equal(mono.length * 2, whole.length);
  const mean = (at: number) => ((whole[at * 2] ?? 0) + (whole[at * 2 + 1] ?? 0)) / 2;
  assert.ok(mono.every((sample, at) => Math.abs(sample - mean(at)) <= 1));
});

test("measuring.decoder-mpeg: tags of any size, garbage, and noise between frames change neither the sound before nor the end of the thread", async () => {
  const sound = fixture("speech-cbr.mp3");
  const plain = await decode(sound);
  const cover = id3(noise(2_000_000));
  for (const [what, bytes, step] of [
    ["a large tag", join(cover, sound), 65_536],
    ["a tag in small pieces", join(id3(zeros(3_000)), sound), 7],
    ["two tags", join(id3(zeros(5)), cover, sound), 1_000],
    ["a tag at the end", join(sound, ascii("TAG"), zeros(125)), 65_536],
  ] as const)
    assert.deepEqual(await decode(bytes, "all", step), plain, what);
  const broken = join(sound.subarray(0, 20_000), noise(5_000), sound.subarray(20_000));
  const heard = await decode(broken);
  assert.ok(Math.abs(heard.length - plain.length) < plain.length / 4);
});

test("measuring.decoder-mpeg: what is no MP3, or of another rate, gives no sound and ends no process", async () => {
  const audio = await measured(fixture("speech-cbr.mp3"));
  const as = (bytes: Uint8Array): EncodedAudio => ({ ...audio, open: () => inSteps(bytes, 65_536) });
  const decodeAs = (bytes: Uint8Array) => samplesOf(decodeMpeg(as(bytes), { threads, isMono: true, signal: NEVER }));
  for (const bytes of [
    zeros(0),
    zeros(100_000),
    noise(200_000),
    id3(zeros(50), [0x7f, 0x7f, 0x7f, 0x7f]),
    FREE_FORMAT,
    fixture("speech-mpeg2.mp3"),
  ]) {
    const samples = await decodeAs(bytes);
    // The length is compared with the measured one (measuring.decoder-length), so no sound is enough of an error.
    assert.ok(samples.length < audio.durationSeconds * (audio.sampleRate ?? 0) * 0.5);
  }
  for (let cut = 1; cut < 400; cut += 37) await decodeAs(fixture("speech-cbr.mp3").subarray(cut, -cut));
});

/** Bit rate 0: a frame is as long as the encoder likes. Measuring refuses it, so it never comes this far. */
const FREE_FORMAT = repeat(frame(0x00, 0xc0, 500), 200);

test("measuring.decoder-mpeg: a recording is read piece by piece, one ahead of its reader", async () => {
  const bytes = fixture("speech-cbr.mp3");
  const audio = await measured(bytes);
  let readBytes = 0;
  const open = async function* () {
    for await (const chunk of inSteps(bytes, 4_096)) {
      readBytes += chunk.length;
      yield chunk;
    }
  };
  const chunks = decodeMpeg({ ...audio, open }, { threads, isMono: true, signal: NEVER });
  const first = await chunks.next();
  assert.ok(first.value instanceof Int16Array);
  assert.ok(readBytes <= 16_384, `${readBytes} bytes were read for the first samples`);
  await chunks.return(undefined);
});

test("measuring.decoder-mpeg: the thread has the next piece before it answers the one ahead", async () => {
  const log: string[] = [];
  const watched = createMpegThreads(() => {
    const worker = startMpegWorker();
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (order: object, transfer) => {
      if ("piece" in order) log.push("piece");
      post(order, transfer);
    };
    return worker.on("message", () => log.push("answer"));
  });
  const audio = await measured(fixture("speech-cbr.mp3"), 4_096);
  const samples = await samplesOf(decodeMpeg(audio, { threads: watched, isMono: false, signal: NEVER }));
  assert.deepEqual(samples, await decode(fixture("speech-cbr.mp3")));
  assert.deepEqual(log.slice(0, 3), ["piece", "piece", "answer"]);
  assert.equal(log.filter((each) => each === "piece").length * 2, log.length);
});

test("measuring.decoder-thread: recordings one after the other share a thread, and nothing of one is in the next", async () => {
  let started = 0;
  const counted = createMpegThreads(() => {
    started += 1;
    return startMpegWorker();
  });
  const call = { threads: counted, isMono: false, signal: NEVER };
  const decodeIn = async (bytes: Uint8Array, limit = Number.POSITIVE_INFINITY) => {
    const parts: Int16Array[] = [];
    for await (const part of decodeMpeg(await measured(bytes), call)) if (parts.push(part) >= limit) break;
    return inOrder(...parts);
  };
  const [first, second] = [fixture("speech-cbr.mp3"), fixture("speech-mpeg25.mp3")];
  const expected = [await decode(first), await decode(second)];
  // A piece of the first is left over in the decoder when its reader leaves.
  await decodeIn(first, 1);
  assert.deepEqual(await decodeIn(second), expected[1]);
  assert.deepEqual(await decodeIn(first), expected[0]);
  assert.equal(started, 1);
  // At the same time each has its own.
  assert.deepEqual(await Promise.all([decodeIn(first), decodeIn(second), decodeIn(first)]), [
    expected[0],
    expected[1],
    expected[0],
  ]);
  assert.equal(started, 3);
});

test("measuring.decoder-direct: an MP3 at the rate of speech models is decoded without ffmpeg", {
  skip: NO_ENCODER,
}, async () => {
  const sound = syllables(2);
  const encode = (rate: number) =>
    Uint8Array.from(
      execFileSync(FFMPEG ?? "", ["-loglevel", "quiet", "-i", "pipe:0", "-ar", `${rate}`, "-f", "mp3", "pipe:1"], {
        input: pcmWav(sound),
        timeout: 60_000,
      }),
    );
  const withFfmpeg = createDecoder({ ffmpeg: "/nonexistent/ffmpeg", directory: tmpdir() });
  const file = encode(16_000);
  const pcm = withFfmpeg.decode(await measured(file), { channels: "mono", signal: NEVER });
  assert.equal(pcm.sampleRate, 16_000);
  assert.deepEqual(await samplesOf(pcm.chunks), await decode(file, "mono"));
  const other = withFfmpeg.decode(await measured(encode(44_100)), { channels: "mono", signal: NEVER });
  await assert.rejects(samplesOf(other.chunks), Undecodable, "another rate needs ffmpeg");
});

test("measuring.decoder-abort: a caller who leaves ends the thread, in the middle of a recording and before it", async () => {
  const gone = new AbortController();
  const pcm = decoder.decode(await measured(fixture("speech-cbr.mp3")), { channels: "mono", signal: gone.signal });
  await assert.rejects(
    async () => {
      for await (const _ of pcm.chunks) gone.abort();
    },
    { name: "AbortError" },
  );
  const late = decoder.decode(await measured(fixture("speech-cbr.mp3")), { channels: "mono", signal: gone.signal });
  await assert.rejects(samplesOf(late.chunks), { name: "AbortError" });
});
