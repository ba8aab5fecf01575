// Decodes recordings to samples: the gateway's own reader of WAV to the sample, ffmpeg as it is called (by a stand-in that is always
// there) and by itself where the machine has it.
import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { createDecoder } from "../../../src/audio/decode/decoder.ts";
import { decodeByFfmpeg } from "../../../src/audio/decode/ffmpeg.ts";
import { createFfmpegProcess } from "../../../src/audio/decode/ffmpeg-process.ts";
import { findFfmpeg } from "../../../src/audio/decode/find-ffmpeg.ts";
import { type EncodedAudio, type Pcm, Undecodable } from "../../../src/audio/decode/pcm.ts";
import { createMeasurer, type Measurer } from "../../../src/audio/measure.ts";
import { countTurns } from "../../harness/until.ts";
import { chunk, fixture, fmt, join, le16, le32, riff, zeros } from "../build-audio.ts";
import { inOrder, pcmWav, syllables } from "../pcm.ts";

const FFMPEG = findFfmpeg(process.env["PATH"]);
const NO_FFMPEG = FFMPEG === null ? "SKIPPED: this machine has no ffmpeg on its PATH" : false;
const NEVER = new AbortController().signal;

let directory: string;
let measurer: Measurer;
before(async () => {
  directory = await mkdtemp(joinPath(tmpdir(), "patchbay-decode-"));
  measurer = createMeasurer();
});
after(async () => {
  await measurer.close();
  await rm(directory, { recursive: true, force: true });
});

async function measured(bytes: Uint8Array, step = 4096): Promise<EncodedAudio> {
  const facts = await measurer.measure({ kind: "bytes", bytes });
  if (!facts.ok) throw new Error(facts.reason);
  return {
    ...facts,
    async *open() {
      for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
    },
  };
}

async function samplesOf({ chunks }: Pcm): Promise<Int16Array> {
  const parts: Int16Array[] = [];
  for await (const part of chunks) parts.push(part);
  return inOrder(...parts);
}

const own = () => createDecoder({ ffmpeg: null, directory });
const decodeOwn = async (bytes: Uint8Array, channels: "mono" | "all" = "all", step?: number) =>
  samplesOf(own().decode(await measured(bytes, step), { channels, signal: NEVER }));

test("measuring.decoder-exact: 16-bit WAV comes back sample by sample, however the bytes arrive", async () => {
  const sound = syllables(0.4);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 9000 }), async (step) => {
      assert.deepEqual(await decodeOwn(pcmWav(sound), "all", step), sound);
    }),
    { numRuns: 40 },
  );
});

test("measuring.decoder-exact, measuring.wav-odd-chunks: FLD-21: samples behind a chunk of odd size, with or without its pad byte, are read from where they begin", async () => {
  const sound = syllables(0.4);
  const file = pcmWav(sound);
  const odd = join(Buffer.from("LIST"), le32(9), Buffer.from("INFOISFTA"));
  for (const chunks of [odd, join(odd, [0]), join(odd, odd), join(odd, [0], odd)])
    for (const at of [12, 36])
      assert.deepEqual(await decodeOwn(join(file.slice(0, at), chunks, file.slice(at)), "all", 7), sound);
});

/** What 0x4000 of 32768 is in every layout, and its negative. */
const HALF = [16_384, -16_384];
const float32 = (value: number) => new Uint8Array(Float32Array.of(value).buffer);
const float64 = (value: number) => new Uint8Array(Float64Array.of(value).buffer);
const LAYOUTS: readonly (readonly [name: string, tag: number, bits: number, one: Uint8Array, other: Uint8Array])[] = [
  ["8-bit", 1, 8, Uint8Array.of(192), Uint8Array.of(64)],
  ["16-bit", 1, 16, le16(0x4000), le16(0xc000)],
  ["24-bit", 1, 24, Uint8Array.of(0, 0, 0x40), Uint8Array.of(0, 0, 0xc0)],
  ["32-bit", 1, 32, le32(0x40000000), le32(0xc0000000)],
  ["float", 3, 32, float32(0.5), float32(-0.5)],
  ["double", 3, 64, float64(0.5), float64(-0.5)],
];

for (const [name, tag, bits, one, other] of LAYOUTS) {
  test(`measuring.decoder-exact: ${name} samples are read exactly, mixed and per channel`, async () => {
    const frames = 4000;
    const body = join(...Array.from({ length: frames }, () => join(one, other)));
    const file = riff(fmt({ tag, channels: 2, rate: 8000, bits }), chunk("data", body));
    const apart = await decodeOwn(file);
    assert.equal(apart.length, frames * 2);
    for (const [channel, expected] of HALF.entries()) assert.ok(Math.abs((apart[channel] ?? 0) - expected) <= 1);
    const mixed = await decodeOwn(file, "mono");
    assert.equal(mixed.length, frames);
    assert.ok(mixed.every((sample) => Math.abs(sample) <= 1));
  });
}

test("measuring.decoder-exact: µ-law and the same speech as PCM are one sound", async () => {
  const [companded, plain] = [await decodeOwn(fixture("speech-mulaw.wav")), await decodeOwn(fixture("speech-16k.wav"))];
  assert.ok(Math.abs(companded.length / 8000 - plain.length / 16_000) < 0.01);
  assert.ok(Math.abs(loudness(companded) / loudness(plain) - 1) < 0.1);
});

function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
}

test("measuring.wav-data-size: a header with a wrong length changes nothing: the sound that was measured is decoded", async () => {
  const sound = syllables(1);
  const honest = pcmWav(sound);
  const size = honest.length - 44;
  for (const claim of [0, 0xffffffff, size * 3]) {
    const file = honest.slice();
    file.set(le32(claim), 40);
    assert.deepEqual(await decodeOwn(file), sound, String(claim));
  }
  const trailing = join(pcmWav(sound), chunk("LIST", zeros(200)));
  assert.deepEqual(await decodeOwn(trailing), sound);
});

test("measuring.decoder: without ffmpeg nothing but MP3 and WAV of a known codec can be decoded, and that is known beforehand", async () => {
  for (const [name, rate] of [
    ["speech-16k.wav", 16_000],
    ["speech-44k-stereo.wav", 44_100],
    ["speech-mulaw.wav", 8000],
    ["speech.m4a", null],
    ["speech-cbr.mp3", 44_100],
    ["speech-mpeg25.mp3", 8000],
    ["speech.mpga", 44_100],
    ["speech.mpeg", null],
    ["speech-opus.webm", null],
  ] as const)
    assert.equal(own().rateOf(await measured(fixture(name))), rate, name);
  const gsm = riff(fmt({ tag: 49, byteRate: 1625, align: 65 }), chunk("data", zeros(6500)));
  assert.equal(own().rateOf(await measured(gsm)), null);
});

test("measuring.ffmpeg-confined: the format is never left to ffmpeg, nor a protocol, a shell or the process's environment", async () => {
  const { program, said } = await standIn(`process.stdout.write(Buffer.alloc(32000));`);
  process.env["PATCHBAY_TEST_CANARY"] = "secret";
  const decoder = createDecoder({ ffmpeg: program, directory });
  const pcm = decoder.decode(await measured(fixture("speech-cbr.mp3")), { channels: "mono", signal: NEVER });
  assert.deepEqual([pcm.sampleRate, pcm.channels], [16_000, 1]);
  assert.equal((await samplesOf(pcm)).length, 16_000);
  const { args, env, input } = await said();
  const path = args[args.indexOf("-i") + 1] ?? "";
  assert.match(path, /^file:\/.*\/audio-[0-9a-f-]+\.spool$/u);
  assert.deepEqual(
    ["-nostdin", "-protocol_whitelist", "-f", "-map", "-ac", "-ar"].map((name) => [name, args[args.indexOf(name) + 1]]),
    [
      ["-nostdin", "-hide_banner"],
      ["-protocol_whitelist", "file,pipe"],
      ["-f", "mp3"],
      ["-map", "0:a:0"],
      ["-ac", "1"],
      ["-ar", "16000"],
    ],
  );
  assert.equal(args.at(-1), "pipe:1");
  assert.equal(env.includes("PATCHBAY_TEST_CANARY"), false);
  assert.equal(input, Buffer.from(fixture("speech-cbr.mp3")).toString("base64"));
  assert.deepEqual(await leftFiles(), []);
});

test("measuring.ffmpeg-failure: an ffmpeg that fails, writes too much, dies or is missing is one error, and leaves no file", async () => {
  for (const [what, body] of [
    ["fails", `process.stdout.write(Buffer.alloc(3200)); process.exitCode = 1;`],
    ["says too much", `process.stdout.write(Buffer.alloc(1_000_000));`],
    ["dies", `process.kill(process.pid, "SIGKILL");`],
  ] as const) {
    const { program } = await standIn(body);
    await assert.rejects(decodeWith(program), Undecodable, what);
  }
  await assert.rejects(decodeWith("/nonexistent/ffmpeg"), Undecodable);
  assert.deepEqual(await leftFiles(), []);
});

test("measuring.decoder-turns: R9: while a recording is decoded other requests are served, between any two blocks, whatever decodes", async () => {
  const { program } = await standIn(`process.stdout.write(Buffer.alloc(960_000));`);
  const seconds = 30;
  for (const [decoder, file] of [
    [own(), pcmWav(syllables(seconds))],
    [createDecoder({ ffmpeg: program, directory }), narrow(seconds)],
  ] as const) {
    const audio = await measured(file, 1_000_000);
    const counted = countTurns();
    let turns = 0;
    let blocks = 0;
    let largest = 0;
    try {
      for await (const block of decoder.decode(audio, { channels: "mono", signal: NEVER }).chunks) {
        largest = Math.max(largest, block.length);
        blocks += 1;
      }
    } finally {
      turns = counted();
    }
    // Some four seconds of it, which take a millisecond or two.
    assert.ok(largest <= 70_000, `${decoder.name}: ${largest} samples at once`);
    assert.ok(blocks > 5 && turns >= blocks, `${decoder.name}: ${turns} turns in ${blocks} blocks`);
  }
});

test("measuring.decoder-abort: a caller who leaves stops ffmpeg", async () => {
  const { program } = await standIn(`process.stdout.write(Buffer.alloc(3200)); setInterval(() => {}, 1000);`);
  const gone = new AbortController();
  const pcm = createDecoder({ ffmpeg: program, directory }).decode(await measured(narrow(1)), {
    channels: "mono",
    signal: gone.signal,
  });
  await assert.rejects(async () => {
    for await (const _ of pcm.chunks) gone.abort();
  });
  assert.deepEqual(await leftFiles(), []);
});

test("measuring.decoder-process: recordings that share the process do not affect each other: one leaves, one fails, one is complete", async () => {
  const starter = createFfmpegProcess();
  const decoding = async (body: string, signal = NEVER): Promise<AsyncGenerator<Int16Array>> => {
    const { program } = await standIn(body);
    const audio = await measured(narrow(1));
    return decodeByFfmpeg({ starter, program, directory, audio, rate: 16_000, channels: 1, signal });
  };
  const gone = new AbortController();
  const left = await decoding(`process.stdout.write(Buffer.alloc(3200)); setInterval(() => {}, 1000);`, gone.signal);
  const complete = await decoding(`process.stdout.write(Buffer.alloc(32_000, 1));`);
  const failed = await decoding(`process.exitCode = 1;`);
  const lengths: number[] = [];
  assert.equal((await left.next()).done, false);
  await assert.rejects(failed.next(), Undecodable);
  gone.abort();
  await assert.rejects(left.next());
  for await (const { length } of complete) lengths.push(length);
  assert.equal(
    lengths.reduce((sum, length) => sum + length, 0),
    16_000,
  );
  assert.deepEqual(await leftFiles(), []);
});

test("measuring.decoder-process: a recording that has no samples yet when the process that starts ffmpeg dies is tried once more, and others get a new process", async () => {
  const starter = createFfmpegProcess();
  const audio = await measured(narrow(1));
  const lengths = async (body: string): Promise<readonly number[]> => {
    const { program } = await standIn(body);
    const samples = decodeByFfmpeg({ starter, program, directory, audio, rate: 16_000, channels: 1, signal: NEVER });
    const found: number[] = [];
    for await (const { length } of samples) found.push(length);
    return found;
  };
  const kill = `process.kill(process.ppid, "SIGKILL");`;
  const marker = JSON.stringify(joinPath(directory, "tried"));
  const whole = `process.stdout.write(Buffer.alloc(3200, 1));`;
  const once = `if (require("node:fs").existsSync(${marker})) ${whole} else { writeFileSync(${marker}, ""); ${kill} }`;
  await assert.rejects(lengths(kill), Undecodable);
  assert.deepEqual(await lengths(once), [1_600]);
  assert.deepEqual(await lengths(whole), [1_600]);
  assert.deepEqual(await leftFiles(), []);
});

test("measuring.decoder: ffmpeg is looked for in absolute directories of the PATH, and must be executable", async () => {
  const { program } = await standIn("");
  const folder = joinPath(program, "..");
  assert.equal(findFfmpeg(`/nonexistent:${folder}`), program);
  await chmod(program, 0o600);
  assert.equal(findFfmpeg(folder), null);
  assert.equal(findFfmpeg(undefined), null);
  assert.equal(findFfmpeg(".:bin"), null);
});

const TRUTH = JSON.parse(Buffer.from(fixture("truth.json")).toString("utf8")) as Record<string, { seconds: number }>;
const PLAYABLE = Object.entries(TRUTH).filter(([, { seconds }]) => seconds > 0);

test(`measuring.decoder, measuring.true-length: ffmpeg decodes every accepted recording to its true length (${PLAYABLE.length} files)`, {
  skip: NO_FFMPEG,
}, async () => {
  for (const [name, { seconds }] of PLAYABLE) {
    const decoder = createDecoder({ ffmpeg: FFMPEG, directory });
    const samples = await samplesOf(decoder.decode(await measured(fixture(name)), { channels: "mono", signal: NEVER }));
    assert.ok(
      Math.abs(samples.length / 16_000 - seconds) < 0.06,
      `${name}: ${samples.length / 16_000} s, not ${seconds} s`,
    );
  }
  assert.deepEqual(await leftFiles(), []);
});

test("measuring.decoder-exact: ffmpeg and the gateway's own reader agree on a WAV, sample by sample", {
  skip: NO_FFMPEG,
}, async () => {
  const file = pcmWav(syllables(2));
  const audio = await measured(file);
  const chunks = decodeByFfmpeg({
    starter: createFfmpegProcess(),
    program: FFMPEG ?? "",
    directory,
    audio,
    rate: 16_000,
    channels: 1,
    signal: NEVER,
  });
  const byFfmpeg = await samplesOf({ sampleRate: 16_000, channels: 1, chunks });
  assert.deepEqual(byFfmpeg, await decodeOwn(file));
});

test("measuring.decoder-direct: a WAV at the rate of speech models is read without ffmpeg, unless it is resampled or its channels are mixed", async () => {
  const { program } = await standIn(`process.exitCode = 1;`);
  const decoder = createDecoder({ ffmpeg: program, directory });
  const sound = syllables(1);
  const decode = async (file: Uint8Array, channels: "mono" | "all") =>
    samplesOf(decoder.decode(await measured(file), { channels, signal: NEVER }));
  assert.deepEqual(await decode(pcmWav(sound), "mono"), sound);
  assert.deepEqual(await decode(pcmWav(sound, 16_000, 2), "all"), sound);
  await assert.rejects(decode(pcmWav(sound, 16_000, 2), "mono"), Undecodable);
  await assert.rejects(decode(narrow(1), "mono"), Undecodable);
});

async function decodeWith(ffmpeg: string): Promise<Int16Array> {
  const decoder = createDecoder({ ffmpeg, directory });
  return samplesOf(decoder.decode(await measured(narrow(1)), { channels: "mono", signal: NEVER }));
}

/** A WAV that has to be resampled, which only ffmpeg does. */
function narrow(seconds: number): Uint8Array {
  return pcmWav(syllables(seconds, 8_000), 8_000);
}

/** A stand-in for ffmpeg: records how it was called, and does what the test says. */
async function standIn(body: string) {
  const folder = await mkdtemp(joinPath(directory, "bin-"));
  const program = joinPath(folder, "ffmpeg");
  const notes = joinPath(folder, "notes.json");
  const script = `#!${process.execPath}
const { readFileSync, writeFileSync } = require("node:fs");
const args = process.argv.slice(2);
const input = readFileSync(args[args.indexOf("-i") + 1].slice("file:".length)).toString("base64");
writeFileSync(${JSON.stringify(notes)}, JSON.stringify({ args, env: Object.keys(process.env), input }));
${body}
`;
  await writeFile(program, script, { mode: 0o755 });
  const said = async () =>
    JSON.parse(await readFile(notes, "utf8")) as { args: string[]; env: string[]; input: string };
  return { program, said };
}

async function leftFiles(): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith(".spool"));
}
