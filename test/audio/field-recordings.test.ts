// Recordings as they are met in the field: files that browsers, recorders, editors and telephone systems write, and how long they are.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { createMeasurer, type Measurement } from "../../src/audio/measure.ts";
import {
  ascii,
  be32,
  box,
  chunk,
  cluster,
  ebmlHeader,
  element,
  fixture,
  fmt,
  FRAME_SECONDS,
  fullBox,
  id3,
  info,
  join,
  le16,
  le32,
  mp3,
  mp4,
  muLaw,
  noise,
  patch,
  riff,
  SEGMENT,
  TRACKS,
  unknownSize,
  wav,
  webm,
  webmTracks,
  zeros,
} from "./build-audio.ts";

const measurer = createMeasurer();
after(() => measurer.close());
const measure = (bytes: Uint8Array): Promise<Measurement> => measurer.measure({ kind: "bytes", bytes });
const fieldCase = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../cases/audio/${name}`, import.meta.url)));

async function lengthOf(bytes: Uint8Array) {
  const measured = await measure(bytes);
  assert.ok(measured.ok, JSON.stringify(measured));
  return measured;
}
async function refusalOf(bytes: Uint8Array) {
  const measured = await measure(bytes);
  assert.ok(!measured.ok, JSON.stringify(measured));
  return [measured.code, measured.reason];
}
const near = (seconds: number, expected: number, tolerance = 0.01): void =>
  assert.ok(Math.abs(seconds - expected) <= tolerance, `${seconds} s, not ${expected} s`);

// --- Matroska --------------------------------------------------------------------------------------------------------

for (const [name, codec] of [
  ["recorder-pcm.webm", "pcm"],
  ["recorder-h264.webm", "opus"],
] as const) {
  test(`measuring.browser-matroska: FLD-01: ${name}, which a browser labels matroska, is webm of 2.03 s`, async () => {
    const measured = await lengthOf(fieldCase(name));
    assert.deepEqual([measured.format, measured.codec, measured.trailingBytes], ["webm", codec, 0]);
    near(measured.durationSeconds, 2.03);
  });
}

const trackEntry = (number: number, type: number, codec: string, ...more: readonly Uint8Array[]): Uint8Array =>
  element([0xae], element([0xd7], [number]), element([0x83], [type]), element([0x86], ascii(codec)), ...more);
const soundOf = (rate: number, bits: number): Uint8Array =>
  element(
    [0xe1],
    element([0xb5], new Uint8Array(Float32Array.of(rate).buffer).toReversed()),
    element([0x9f], [1]),
    element([0x62, 0x64], [bits]),
  );
const OPUS = trackEntry(1, 2, "A_OPUS", soundOf(48_000, 16));
const matroska = (tracks: readonly Uint8Array[], ...clusters: readonly Uint8Array[]): Uint8Array =>
  join(ebmlHeader("matroska"), element(SEGMENT, info(), element(TRACKS, ...tracks), ...clusters));

for (const picture of ["V_MPEG4/ISO/AVC", "V_MPEGH/ISO/HEVC", "V_AV1"])
  test(`measuring.browser-matroska: FLD-01: Opus next to a ${picture} picture in Matroska is as long as its packets`, async () => {
    near((await lengthOf(matroska([OPUS, trackEntry(2, 1, picture)], cluster(0)))).durationSeconds, 1);
  });

test("measuring.browser-matroska: FLD-01: float samples in Matroska are as long as their bytes, whatever the clock of the clusters says", async () => {
  const samples = element(
    [0x1f, 0x43, 0xb6, 0x75],
    element([0xe7], be32(0)),
    element([0xa3], [0x81, 0, 0, 0x80], zeros(96_000)),
  );
  const measured = await lengthOf(matroska([trackEntry(1, 2, "A_PCM/FLOAT/IEEE", soundOf(48_000, 32))], samples));
  assert.deepEqual([measured.codec, measured.durationSeconds], ["float", 0.5]);
});

const SUBTITLES = [2, 3, 4].map((number) => trackEntry(number, 0x11, "S_TEXT/UTF8"));
for (const [title, tracks] of [
  ["with three subtitle tracks", [OPUS, ...SUBTITLES]],
  ["of Opus alone, which a browser calls webm", [OPUS]],
  ["of AAC", [trackEntry(1, 2, "A_AAC", soundOf(48_000, 16))]],
  [
    "with two tracks of sound",
    [trackEntry(1, 2, "A_PCM/INT/LIT", soundOf(8000, 16)), trackEntry(2, 2, "A_OPUS", soundOf(48_000, 16))],
  ],
] as const)
  test(`measuring.browser-matroska: FLD-01: Matroska ${title} is refused by name, with what to record instead`, async () => {
    const [code, reason] = await refusalOf(matroska(tracks, cluster(0)));
    assert.equal(code, "UNSUPPORTED_MEDIA_TYPE");
    assert.match(String(reason), /Matroska.*audio\/webm;codecs=opus/);
  });

test("measuring.trailing-data: FLD-03: bytes behind a webm, or between two, are no sound, and the recording behind them is", async () => {
  for (const junk of [zeros(60_000), noise(60_000)]) {
    const trailing = await lengthOf(join(webm(), junk));
    assert.deepEqual([trailing.durationSeconds, trailing.trailingBytes], [2, 60_000]);
    near((await lengthOf(join(webm(), junk, webm()))).durationSeconds, 4);
    const live = join(
      ebmlHeader(),
      unknownSize(SEGMENT, info(), webmTracks(), unknownSize([0x1f, 0x43, 0xb6, 0x75], cluster(0).slice(9))),
    );
    const preallocated = await lengthOf(join(live, junk));
    assert.deepEqual([preallocated.durationSeconds, preallocated.trailingBytes], [1, 60_000]);
  }
});

// --- WAV codecs ------------------------------------------------------------------------------------------------------

test("measuring.wav-codec-length: FLD-02: g722.wav, whose header declares twice the bytes a second of the codec, is 2.03 s long", async () => {
  const measured = await lengthOf(fieldCase("g722.wav"));
  near(measured.durationSeconds, 2.03, 0.001);
  assert.equal(measured.codec, "g722");
});

type Layout = { channels?: number; rate?: number; bits?: number; align?: number };
/** Of each tag: what a second of it has, and what it is called. */
const CODECS: readonly (readonly [tag: number, codec: string, layout: Layout, bytes: number, seconds: number])[] = [
  [0x0001, "pcm", { bits: 24, rate: 8000 }, 24_000, 1],
  [0x0002, "adpcm", { bits: 4, rate: 8000, align: 1024 }, 4096, (4 * 2036) / 8000],
  [0x0002, "adpcm", { bits: 4, rate: 8000, align: 1024 }, 4096 + 107, (4 * 2036 + 202) / 8000],
  [0x0003, "float", { bits: 32, rate: 8000 }, 32_000, 1],
  [0x0006, "alaw", {}, 8000, 1],
  [0x0007, "mulaw", {}, 8000, 1],
  [0x0010, "adpcm", { bits: 4 }, 4000, 1],
  [0x0011, "adpcm", { bits: 4, align: 1024 }, 4096, (4 * 2041) / 8000],
  [0x0014, "g726", { bits: 3 }, 3000, 1],
  [0x0017, "adpcm", { bits: 4 }, 4000, 1],
  [0x0020, "adpcm", { bits: 4 }, 4000, 1],
  [0x0022, "truespeech", { bits: 1, align: 32 }, 3200, 3],
  [0x0031, "gsm", { bits: 0, align: 65 }, 6500, 4],
  [0x0040, "g726", { bits: 4 }, 4000, 1],
  [0x0045, "g726", { bits: 2 }, 2000, 1],
  [0x0064, "g726", { bits: 5 }, 5000, 1],
  [0x0065, "g722", { rate: 16_000, bits: 4 }, 8000, 1],
  [0x028f, "g722", { rate: 16_000, bits: 4 }, 8000, 1],
];
const hex = (tag: number): string => `0x${tag.toString(16).padStart(4, "0")}`;
const subFormat = (tag: number): Uint8Array =>
  join(le16(22), le16(16), le32(4), le16(tag), [0, 0, 0, 0, 16, 0], zeros(8));

for (const [tag, codec, layout, bytes, seconds] of CODECS) {
  test(`measuring.wav-codec-length: FLD-02: ${bytes} bytes of tag ${hex(tag)} (${codec}) are ${seconds} s, whatever byte rate the header declares`, async () => {
    const lie = { ...layout, align: layout.align ?? 77, byteRate: 123_456 };
    const body = noise(bytes, tag);
    for (const file of [
      riff(fmt({ ...lie, tag }), chunk("fact", le32(0x7fffffff)), chunk("data", body)),
      riff(fmt({ ...lie, tag: 0xfffe, extra: subFormat(tag) }), chunk("data", body)),
    ]) {
      const measured = await lengthOf(file);
      assert.equal(measured.codec, codec);
      near(measured.durationSeconds, seconds, 0.0006);
    }
  });
}

for (const [tag, name] of [
  [0x0042, "G.723.1"],
  [0x0083, "G.729"],
  [0x00ff, "AAC"],
  [0x0161, "Windows Media Audio"],
  [0x0057, "AMR"],
  [0xfffe, "sub-format"],
] as const)
  test(`measuring.wav-unmeasurable: FLD-02: a WAV of tag ${hex(tag)}, whose packets contain no length that is read here, is refused by name`, async () => {
    const [code, reason] = await refusalOf(riff(fmt({ tag }), chunk("data", noise(16_000))));
    assert.equal(code, "INVALID_AUDIO");
    assert.match(String(reason), new RegExp(`${name}.*send PCM`));
  });

for (const [title, layout] of [
  ["ADPCM blocks smaller than their head", { tag: 2, bits: 4, align: 6 }],
  ["IMA ADPCM blocks of no size", { tag: 0x11, bits: 4, align: 0 }],
  ["G.726 of 16 bits a sample", { tag: 0x45, bits: 16 }],
  ["GSM in two channels", { tag: 0x31, bits: 0, channels: 2 }],
  ["floats of 8 bits", { tag: 3, bits: 8 }],
] as const)
  test(`measuring.wav-unmeasurable: FLD-02: ${title} are refused`, async () => {
    assert.equal((await refusalOf(riff(fmt(layout), chunk("data", noise(16_000)))))[0], "INVALID_AUDIO");
  });

// --- WAV sizes -------------------------------------------------------------------------------------------------------

test("measuring.trailing-data: FLD-03: zeros-behind-data.wav is 2.03 s long, and its zeros are trailing data", async () => {
  const measured = await lengthOf(fieldCase("zeros-behind-data.wav"));
  assert.ok((measured.trailingBytes ?? 0) >= 60_000);
  near(measured.durationSeconds, 2.03, 0.001);
});

const sized = (size: number, seconds: number): Uint8Array =>
  riff(fmt(), join(ascii("data"), le32(size), muLaw(seconds)));
for (const [title, size] of [
  ["0", 0],
  ["0xFFFFFFFF", 0xffffffff],
  ["0x7FFFFFFF", 0x7fffffff],
  ["beyond the file", 24_001],
  ["36, the size of a header", 36],
] as const)
  test(`measuring.wav-data-size: FLD-03: a data size of ${title} is a placeholder: the sound continues to the end of the file`, async () => {
    const measured = await lengthOf(sized(size, 3));
    assert.deepEqual([measured.durationSeconds, measured.trailingBytes], [3, 0]);
  });

for (const [title, behind, seconds, trailing] of [
  ["noise", noise(20_000), 2, 20_000],
  ["text", ascii("<html>not a chunk</html>"), 2, 24],
  ["a tag of an mp3", join(ascii("TAG"), zeros(125)), 2, 128],
  ["a chunk that is cut off", join(ascii("LIST"), le32(400), zeros(100)), 2, 108],
  ["metadata", chunk("LIST", ascii("INFOISFT")), 2, 0],
  ["metadata of odd size without its pad byte", join(ascii("LIST"), le32(9), ascii("INFOISFT\0")), 2, 0],
  ["a second data chunk, which decoders play", chunk("data", muLaw(1)), 3, 0],
  [
    "a second data chunk behind odd metadata without its pad byte",
    join(ascii("LIST"), le32(9), noise(9), chunk("data", muLaw(1))),
    3,
    0,
  ],
  ["fewer bytes than a chunk has", zeros(7), 2, 0],
] as const)
  test(`measuring.wav-data-size: FLD-03: behind a plausible data size, ${title}: ${seconds} s`, async () => {
    const measured = await lengthOf(join(wav(2), behind));
    assert.deepEqual([measured.durationSeconds, measured.trailingBytes], [seconds, trailing]);
  });

test("measuring.joined, measuring.trailing-data: FLD-04: two-waves-joined.wav is 2.03 s long, and the second file is trailing data", async () => {
  const measured = await lengthOf(fieldCase("two-waves-joined.wav"));
  near(measured.durationSeconds, 2.03, 0.001);
  assert.equal(measured.trailingBytes, fieldCase("two-waves-joined.wav").length / 2);
});

for (const [title, id] of [
  ["LIST", "LIST"],
  ["an unknown id", "xyzw"],
])
  for (const isPadded of [true, false]) {
    const odd = join(ascii(id ?? ""), le32(9), ascii("INFOISFT\x41"), isPadded ? [0] : []);
    test(`measuring.wav-odd-chunks: FLD-21: a chunk of odd size with ${title}, ${isPadded ? "with" : "without"} a pad byte, before fmt or before data`, async () => {
      for (const file of [
        riff(odd, fmt(), chunk("data", muLaw(2))),
        riff(fmt(), odd, chunk("data", muLaw(2))),
        riff(odd, fmt(), odd, odd, chunk("data", muLaw(2))),
      ])
        assert.equal((await lengthOf(file)).durationSeconds, 2);
    });
  }

test("measuring.wav-odd-chunks: FLD-21: a pad byte that is not zero is one", async () => {
  const odd = join(ascii("LIST"), le32(9), noise(9), ascii("x"));
  assert.equal((await lengthOf(riff(odd, fmt(), odd, chunk("data", muLaw(2))))).durationSeconds, 2);
});

// --- mp3 -------------------------------------------------------------------------------------------------------------

for (const [title, behind, trailing] of [
  ["ID3v1", join(ascii("TAG"), zeros(125)), 0],
  ["ID3v2", id3(noise(3000)), 0],
  ["a frame that is cut off", mp3(1).slice(0, 60), 0],
  ["60 kB of zeros", zeros(60_000), 60_000],
  ["60 kB of noise", noise(60_000), 60_000],
] as const)
  test(`measuring.trailing-data: FLD-03: ${title} behind the last frame of an mp3 is no sound`, async () => {
    const measured = await lengthOf(join(mp3(80), behind));
    assert.deepEqual(
      [measured.durationSeconds, measured.trailingBytes],
      [Math.round(80 * FRAME_SECONDS * 1000) / 1000, trailing],
    );
  });

test("measuring.joined: FLD-03: two mp3s joined are both played", async () => {
  near((await lengthOf(join(mp3(80), mp3(80)))).durationSeconds, 160 * FRAME_SECONDS);
});

// --- mp4 -------------------------------------------------------------------------------------------------------------

test("measuring.edit-list: FLD-04: edit-list.m4a, a lossless trim, is as long as what is played: 0.844 s of 0.896 s", async () => {
  const measured = await lengthOf(fieldCase("edit-list.m4a"));
  assert.deepEqual([measured.durationSeconds, measured.uneditedSeconds], [0.844, 0.896]);
});

/** Durations in milliseconds of the movie's clock, starts in samples of the track's; -1 waits. */
const edited = (...edits: readonly (readonly [milliseconds: number, start: number])[]): Uint8Array =>
  box(
    "edts",
    fullBox(
      "elst",
      be32(edits.length),
      ...edits.map(([duration, start]) => join(be32(duration), be32(start >>> 0), be32(0x10000))),
    ),
  );
const editedLong = (duration: number, start: number): Uint8Array =>
  box("edts", patch(fullBox("elst", be32(1), be32(0), be32(duration), be32(0), be32(start), be32(0x10000)), 8, [1]));
const WHOLE = 1.92;

for (const [title, edts, seconds, isNoticeable] of [
  ["of an encoder's priming and filling", edited([1800, 1024]), 1.8, false],
  ["of Apple's priming, two packets and a bit", edited([1700, 2112]), 1.7, false],
  ["that skips less than a packet, which no encoder writes", edited([1800, 832]), 1.8, true],
  ["without an end, behind the priming", edited([0, 1024]), WHOLE - 0.064, false],
  ["that begins later", edited([1000, 8000]), 1, true],
  ["that ends earlier", edited([1000, 0]), 1, true],
  ["with a wait first, which contains no audio data", edited([5000, -1], [1000, 0]), 1, true],
  ["of two stretches", edited([500, 0], [500, 16_000]), 1, true],
  ["that plays one stretch twice", edited([500, 0], [500, 0]), 1, true],
  ["that asks for more than there is", edited([60_000, 16_000]), WHOLE - 1, true],
  ["of 64 bits", editedLong(1000, 8000), 1, true],
  ["of waits alone, which says nothing", edited([5000, -1]), WHOLE, false],
] as const)
  test(`measuring.edit-list: FLD-04: an edit list ${title} makes ${seconds} s`, async () => {
    const measured = await lengthOf(mp4({ edts }));
    near(measured.durationSeconds, seconds, 0.0011);
    assert.equal(measured.uneditedSeconds, isNoticeable ? WHOLE : undefined);
  });

test("measuring.edit-list, measuring.mp4-rates: FLD-04: an edit of a track whose clock runs twice as fast as its codec keeps the same share of it", async () => {
  const measured = await lengthOf(mp4({ timescale: 32_000, edts: edited([480, 0]) }));
  near(measured.durationSeconds, 0.96, 0.0011);
});

test("measuring.joined: FLD-04: of two mp4s joined the first is played, and the second is trailing data", async () => {
  const second = mp4();
  const measured = await lengthOf(join(fixture("speech-moov-at-end.m4a"), second));
  assert.equal(measured.trailingBytes, second.length);
  near(measured.durationSeconds, 7.424, 0.05);
});

test("measuring.trailing-data: FLD-03: bytes behind the last box of an mp4 are no sound", async () => {
  for (const junk of [zeros(60_000), noise(60_000)]) {
    const measured = await lengthOf(join(mp4(), junk));
    assert.deepEqual([measured.durationSeconds, measured.trailingBytes], [WHOLE, 60_000]);
  }
});
