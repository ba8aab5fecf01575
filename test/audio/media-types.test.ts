// Content decides the format, hints only warn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MEDIA, mediaTypeMatches } from "../../src/audio/media-types.ts";
import { sniffAudio } from "../../src/audio/sniff-audio.ts";
import type { AudioFormat } from "../../src/contract/transcription/audio-formats.ts";
import { ascii, box, fixture, join, mp3, zeros } from "./build-audio.ts";

test("measuring.content-decides: the first bytes alone decide the format", () => {
  const expected: Readonly<Record<string, AudioFormat>> = {
    "speech-16k.wav": "wav",
    "speech-cbr.mp3": "mp3",
    "speech-cbr-info.mp3": "mp3",
    "speech.mpga": "mp3",
    "speech.m4a": "m4a",
    "video-faststart.mp4": "mp4",
    "speech-live.webm": "webm",
    "video.mpeg": "mpeg",
  };
  for (const [name, format] of Object.entries(expected)) {
    assert.equal(sniffAudio(fixture(name)), format, name);
    assert.equal(sniffAudio(fixture(name).subarray(0, 4096)), format, `${name}, 4 KiB`);
  }
});

test("measuring.mp3-sync: a stream cut out of the middle, and zeros in front, are still mp3; 5 KiB of something else are not", () => {
  const stream = fixture("speech-vbr.mp3");
  assert.equal(sniffAudio(stream.subarray(10_077)), "mp3");
  assert.equal(sniffAudio(join(zeros(30_000), mp3())), "mp3");
  assert.equal(sniffAudio(join(ascii("x".repeat(5000)), mp3())), null);
});

test("measuring.unsupported, measuring.no-crash: every prefix of nothing and of noise gets a verdict, never an exception", () => {
  const starts = [
    "",
    "R",
    "RIFF",
    "RIFF\0\0\0\0WAV",
    "ID3",
    "\x1a\x45\xdf\xa3",
    "\x1a\x45\xdf\xa3\0",
    "\0\0\x01",
    "\xff\xfb",
    "\0\0\0\x08ftyp",
    "APETAGEX",
  ];
  for (const start of starts) assert.ok([null, "mp3", "mp4", "webm"].includes(sniffAudio(ascii(start))), start);
});

test("measuring.unsupported: QuickTime, HEIC and AVIF share the box structure and are not mp4; 3GP and DASH brands are", () => {
  const brand = (name: string): AudioFormat | null => sniffAudio(box("ftyp", ascii(name), zeros(4)));
  assert.deepEqual(["qt  ", "heic", "avif", "mif1"].map(brand), [null, null, null, null]);
  assert.deepEqual(["isom", "mp42", "dash", "3gp4", "M4A ", "M4B "].map(brand), [
    "mp4",
    "mp4",
    "mp4",
    "mp4",
    "m4a",
    "m4a",
  ]);
});

const MATCHES: readonly (readonly [AudioFormat, string | null, string | null, boolean])[] = [
  ["mp3", null, null, true],
  ["mp3", "audio/mpeg", "a.mp3", true],
  ["mp3", "Audio/MPEG; charset=binary", "A.MPGA", true],
  ["mp3", "audio/wav", null, false],
  ["mp3", null, "a.wav", false],
  ["mp3", "audio/mpeg", "a.wav", false],
  ["mp3", "audio/wav", "a.mp3", false],
  ["mp3", "application/octet-stream", "recording", true],
  ["mp3", "text/x-unknown", "a.b.unknown", true],
  ["mp3", "", "", true],
  ["m4a", "audio/mp4", "a.mp4", true],
  ["mp4", "audio/x-m4a", "a.m4a", true],
  ["mpeg", "video/mpeg", "a.mpg", true],
  ["webm", "video/webm", "a.webm", true],
  ["webm", "audio/ogg", null, false],
  ["wav", "audio/x-wav", "dir.mp3/take1.wav", true],
];
for (const [format, declared, fileName, expected] of MATCHES) {
  test(`measuring.hints: MEDIA_TYPE_MISMATCH: ${format} declared as ${declared} in ${fileName}: ${expected ? "agrees" : "warns"}`, () => {
    assert.equal(mediaTypeMatches(format, declared, fileName), expected);
  });
}

test("measuring.provider-naming: what a provider receives agrees with itself", () => {
  for (const format of ["mp3", "mp4", "m4a", "mpeg", "wav", "webm"] as const) {
    assert.ok(mediaTypeMatches(format, MEDIA[format].mediaType, `audio${MEDIA[format].extension}`));
  }
});
