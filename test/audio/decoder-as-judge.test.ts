// ffmpeg as the judge: what we measure of a recording is what it decodes. Skipped with a message where the machine has none.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { after, test } from "node:test";
import { findFfmpeg } from "../../src/audio/decode/find-ffmpeg.ts";
import { createMeasurer } from "../../src/audio/measure.ts";
import { join, noise, zeros } from "./build-audio.ts";

const FFMPEG = findFfmpeg(process.env["PATH"]);
const skip = FFMPEG === null ? "SKIPPED: this machine has no ffmpeg on its PATH" : false;
const directory = mkdtempSync(joinPath(tmpdir(), "patchbay-judge-"));
const measurer = createMeasurer();
after(async () => {
  await measurer.close();
  rmSync(directory, { recursive: true, force: true });
});

function ffmpeg(...list: readonly string[]): Buffer {
  const run = spawnSync(FFMPEG ?? "", ["-nostdin", "-v", "error", "-y", ...list], { maxBuffer: 64 * 1024 * 1024 });
  assert.equal(run.status, 0, run.stderr.toString());
  return run.stdout;
}
const made = (name: string): string => joinPath(directory, name);
const TONE = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=16000:duration=3.03"];
const RATE = 16_000;

function decodedSeconds(path: string): number {
  const samples = ffmpeg(
    "-i",
    `file:${path}`,
    "-map",
    "0:a:0",
    "-ac",
    "1",
    "-ar",
    String(RATE),
    "-f",
    "s16le",
    "pipe:1",
  );
  return samples.length / 2 / RATE;
}

async function assertAgrees(path: string, tolerance: number): Promise<void> {
  const measured = await measurer.measure({ kind: "bytes", bytes: new Uint8Array(readFileSync(path)) });
  assert.ok(measured.ok, JSON.stringify(measured));
  const decoded = decodedSeconds(path);
  assert.ok(
    Math.abs(measured.durationSeconds - decoded) <= tolerance,
    `measured ${measured.durationSeconds} s, decoded ${decoded} s`,
  );
}

/** Its encoders differ from build to build: one that is missing judges nothing. */
const ENCODERS = FFMPEG === null ? "" : ffmpeg("-hide_banner", "-encoders").toString();

for (const [codec, ...options] of [
  ["pcm_s16le"],
  ["pcm_s24le"],
  ["pcm_f32le"],
  ["pcm_alaw"],
  ["pcm_mulaw"],
  ["adpcm_ms"],
  ["adpcm_ima_wav"],
  ["adpcm_yamaha"],
  ["g722"],
  ["g726", "-ar", "8000"],
  ["libgsm_ms", "-ar", "8000"],
  ["libmp3lame"],
  ["mp2"],
] as const)
  test(`measuring.true-length, measuring.wav-codec-length: FLD-02: a WAV of ${codec} is measured as it is decoded`, {
    skip,
  }, async (context) => {
    if (!ENCODERS.includes(` ${codec} `)) return context.skip(`SKIPPED: this ffmpeg has no ${codec}`);
    const path = made(`${codec}.wav`);
    ffmpeg(...TONE, "-c:a", codec, ...options, path);
    await assertAgrees(path, 0.001);
  });

/** A trim without re-encoding can only cut at packets; an edit list hides what is behind the cut. A packet of AAC: 64 ms. */
const PACKET = 0.065;
for (const [title, tolerance, ...options] of [
  ["whole", PACKET],
  ["trimmed at its start", PACKET, "-ss", "1.01"],
  ["trimmed at both ends", PACKET, "-ss", "0.53", "-t", "1.2"],
  ["that waits before it plays", PACKET, "-itsoffset", "2"],
  ["in fragments", PACKET, "-movflags", "frag_keyframe+empty_moov", "-frag_duration", "500000"],
  ["in fragments with an edit list", PACKET, "-movflags", "frag_keyframe+delay_moov", "-frag_duration", "500000"],
] as const)
  test(`measuring.true-length, measuring.edit-list: FLD-04: an m4a ${title} is measured as it is decoded`, {
    skip,
  }, async () => {
    const whole = made("whole.m4a");
    ffmpeg(...TONE, "-c:a", "aac", whole);
    const path = made("edited.m4a");
    const isInput = options[0] === "-ss" || options[0] === "-itsoffset";
    ffmpeg(...(isInput ? options : []), "-i", whole, "-c", "copy", ...(isInput ? [] : options), path);
    await assertAgrees(path, tolerance);
  });

for (const [name, options] of [
  ["joined.wav", []],
  ["joined.mp3", ["-c:a", "libmp3lame"]],
  ["joined.webm", ["-c:a", "libopus"]],
  ["joined.m4a", ["-c:a", "aac"]],
] as const)
  test(`measuring.true-length, measuring.joined, measuring.trailing-data: FLD-04: ${name}, two joined files or with junk behind, is measured as it is decoded`, {
    skip,
  }, async () => {
    const one = made(`one-${name}`);
    ffmpeg(...TONE, ...options, one);
    const bytes = new Uint8Array(readFileSync(one));
    for (const [index, parts] of [
      [bytes, bytes],
      [bytes, zeros(50_000)],
      [bytes, noise(50_000)],
    ].entries()) {
      const path = made(`${index}-${name}`);
      writeFileSync(path, join(...parts));
      await assertAgrees(path, PACKET);
    }
  });
