// Every media row of bad-input.json as bytes, and rows of our own (OWN-…): what each must answer. Also for the endpoint tests.
import { crc32, gzipSync } from "node:zlib";
import {
  ascii,
  audioEntry,
  be16,
  be32,
  box,
  chunk,
  CLUSTER,
  cluster,
  clusterTime,
  EBML,
  ebmlHeader,
  element,
  FRAME_SECONDS,
  fixture,
  fmt,
  frame,
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
  repeat,
  riff,
  SEGMENT,
  simpleBlock,
  TRACKS,
  unknownSize,
  wav,
  webm,
  webmTracks,
  zeros,
} from "./build-audio.ts";

export type HostileRow = {
  readonly bytes: () => Uint8Array;
  readonly fileName: string;
  readonly status: 200 | 415 | 422;
  /** For status 200: the true length, to 0.05 s. */
  readonly seconds?: number;
};

const good = (fileName: string, seconds: number, bytes: () => Uint8Array): HostileRow => ({
  bytes,
  fileName,
  status: 200,
  seconds,
});
const invalid = (fileName: string, bytes: () => Uint8Array): HostileRow => ({ bytes, fileName, status: 422 });
const foreign = (fileName: string, bytes: () => Uint8Array): HostileRow => ({ bytes, fileName, status: 415 });

const MEBIBYTE = 1_048_576;
const SECONDS_80_FRAMES = 80 * FRAME_SECONDS;
const MP4_SECONDS = 30 * 0.064;
const MAX = 0xffffffff;

function storedZip(name: string, body: Uint8Array): Uint8Array {
  const common = join(
    le16(20),
    le16(0),
    le16(0),
    zeros(4),
    le32(crc32(body)),
    le32(body.length),
    le32(body.length),
    le16(name.length),
    le16(0),
  );
  const local = join(ascii("PK\x03\x04"), common, ascii(name), body);
  const central = join(ascii("PK\x01\x02"), le16(20), common, zeros(14), ascii(name));
  return join(
    local,
    central,
    ascii("PK\x05\x06"),
    zeros(4),
    le16(1),
    le16(1),
    le32(central.length),
    le32(local.length),
    zeros(2),
  );
}

const nestedZip = (): Uint8Array => {
  let body = zeros(4096);
  for (let level = 0; level < 6; level++) body = storedZip(`${level}.zip`, join(body, body));
  return body;
};
const flac = (): Uint8Array => join(ascii("fLaC"), [0x80, 0, 0, 34], noise(34), [0xff, 0xf8], noise(4000));
const elf = (): Uint8Array => join([0x7f], ascii("ELF"), [2, 1, 1], zeros(9), noise(4000));
const png = (): Uint8Array => join([0x89], ascii("PNG\r\n\x1a\n"), [0, 0, 0, 13], ascii("IHDR"), noise(4000));
const ogg = (): Uint8Array => join(ascii("OggS"), [0, 2], zeros(20), [1, 19], ascii("OpusHead"), noise(4000));
const html = (): Uint8Array => ascii(`<!doctype html><title>Not found</title>${"<p>404</p>".repeat(200)}`);

/** Each box holds only the next: built from the outside, for copying inside out would be quadratic. */
const nestedBoxes = (depth: number): Uint8Array =>
  join(
    box("ftyp", ascii("isom"), be32(0)),
    ...Array.from({ length: depth }, (_, level) => join(be32(8 * (depth - level)), ascii(level ? "trak" : "moov"))),
  );

const xingFrame = (claimedFrames: number): Uint8Array =>
  patch(frame(0x50, 0xc0, 209), 21, join(ascii("Xing"), be32(1), be32(claimedFrames)));
const frameMpeg2 = (): Uint8Array => patch(frame(0x40, 0xc0), 1, [0xf3]);
/** MPEG 2.5, 8 kHz, 8 kbit/s: 72 ms of silence in 72 bytes. */
const smallFrame = (): Uint8Array => patch(frame(0x18, 0xc0, 72), 1, [0xe3]);

const BROKEN_TAG = id3(zeros(0), [0xff, 0xff, 0xff, 0xff]);

const live = (...clusters: readonly Uint8Array[]): Uint8Array =>
  join(ebmlHeader(), unknownSize(SEGMENT, info(), webmTracks(), ...clusters));
const liveCluster = (time: number): Uint8Array =>
  unknownSize(CLUSTER, clusterTime(time), ...Array.from({ length: 50 }, (_, index) => simpleBlock(index * 20)));
const lacedWrongly = (time: number): Uint8Array => simpleBlock(time, join([254, 255, 255, 255], noise(20)), 0x82);
const webmOf = (tracks: Uint8Array, ...clusters: readonly Uint8Array[]): Uint8Array =>
  join(ebmlHeader(), element(SEGMENT, info(), tracks, ...clusters));

const dref = (url: string): Uint8Array =>
  box("dinf", fullBox("dref", be32(1), box("url ", zeros(4), ascii(`${url}\0`))));
const aacClockOnly = (): Uint8Array => fullBox("stsd", be32(1), audioEntry("zzzz"));
const fragmented = (trun: Uint8Array, defaultSize: number): Uint8Array => {
  const trex = box("mvex", fullBox("trex", be32(1), be32(1), be32(1024), be32(defaultSize), be32(0)));
  const empty = {
    stts: fullBox("stts", be32(0)),
    stsz: fullBox("stsz", be32(0), be32(0)),
    stsc: fullBox("stsc", be32(0)),
    stco: () => fullBox("stco", be32(0)),
  };
  return join(
    mp4({ packets: 1, ...empty, inMoov: trex }),
    box("moof", box("traf", box("tfhd", be32(0x20000), be32(1)), trun)),
    box("mdat", noise(400)),
  );
};

const pack = (): Uint8Array => join([0, 0, 1, 0xba, 0x44], zeros(8), [0xf8]);
const pes = (stream: number, body: Uint8Array): Uint8Array =>
  join([0, 0, 1, stream], be16(3 + body.length), [0x80, 0, 0], body);

const ROWS: readonly (readonly [string, HostileRow])[] = [
  ["BAD-001", invalid("a.wav", () => zeros(0))],
  ["BAD-005", foreign("a.mp3", () => noise(25 * MEBIBYTE, 5))],
  ["BAD-006", foreign("a.wav", elf)],
  ["BAD-007", foreign("a.mp3", png)],
  ["BAD-009", foreign("a.m4a", () => storedZip("a.txt", ascii("hello ".repeat(100))))],
  ["BAD-010", foreign("a.wav", () => new Uint8Array(gzipSync(wav())))],
  ["BAD-011", foreign("a.mp3", nestedZip)],
  ["BAD-012", foreign("a.mp3", html)],
  ["BAD-014", foreign("a.flac", flac)],
  ["BAD-015", foreign("a.webm", ogg)],
  [
    "BAD-016",
    foreign("a.webm", () => join(ebmlHeader("matroska"), element(SEGMENT, info(), webmTracks(), cluster(0)))),
  ],
  ["BAD-018", foreign("a.wav", () => patch(wav(), 0, ascii("RF64")))],
  ["BAD-020", good("a.wav", SECONDS_80_FRAMES, () => mp3())],
  ["BAD-022", good("a.mpga", SECONDS_80_FRAMES, () => mp3())],
  ["BAD-023", good("", SECONDS_80_FRAMES, () => mp3())],
  ["BAD-025", good("a.wav", 2, () => riff(chunk("LIST", html()), fmt(), chunk("data", muLaw(2))))],
  ["BAD-027", invalid("a.wav", () => riff(fmt(), chunk("data", zeros(0))))],
  ["BAD-028", good("a.wav", 0.125, () => riff(fmt(), join(ascii("data"), le32(MAX), muLaw(0.125))))],
  ["BAD-029", good("a.wav", 0.125, () => riff(fmt(), join(ascii("data"), le32(1000), muLaw(2500))))],
  ["BAD-030", invalid("a.wav", () => riff(fmt({ rate: 0 }), chunk("data", muLaw(2))))],
  ["BAD-031", invalid("a.wav", () => riff(fmt({ channels: 0 }), chunk("data", muLaw(2))))],
  ["BAD-038", invalid("a.wav", () => riff(fmt(), fmt({ rate: 16_000 }), chunk("data", muLaw(2))))],
  ["BAD-039", invalid("a.wav", () => join(riff(fmt()), repeat(chunk("JUNK", zeros(0)), 3_000_000)))],
  ["BAD-041", invalid("a.wav", () => riff(fmt(), chunk("LIST", zeros(20), 0xfffffff0), chunk("data", muLaw(2))))],
  [
    "BAD-042",
    good("a.wav", 2, () =>
      riff(
        chunk("LIST", zeros(9)),
        chunk("bext", zeros(602)),
        chunk("JUNK", zeros(28)),
        fmt(),
        chunk("data", muLaw(2)),
      ),
    ),
  ],
  [
    "BAD-043",
    good("a.wav", 2, () =>
      riff(
        fmt({ tag: 0xfffe, bits: 32, rate: 16_000, extra: join(le16(22), le16(32), le32(4), le16(3), zeros(14)) }),
        chunk("data", zeros(128_000)),
      ),
    ),
  ],
  ["BAD-044", good("a.wav", 2, () => riff(fmt({ tag: 0xbeef }), chunk("data", muLaw(2))))],
  ["BAD-045", invalid("a.wav", () => wav().slice(0, 26))],
  ["BAD-047", invalid("a.mp3", () => join(id3(zeros(200), [0xff, 0xff, 0xff, 0xff]), mp3()))],
  ["BAD-048", invalid("a.mp3", () => join(repeat(id3(zeros(10)), 200), mp3()))],
  ["BAD-049", good("a.mp3", 383 * FRAME_SECONDS, () => join(id3(noise(20 * 1_000_000)), mp3(383)))],
  ["BAD-050", good("a.mp3", SECONDS_80_FRAMES, () => join(xingFrame(4_000_000_000), mp3()))],
  ["BAD-052", invalid("a.mp3", () => repeat(frame(0xfc, 0xc0), 80))],
  ["BAD-053", invalid("a.mp3", () => repeat(frame(0x00, 0xc0), 80))],
  ["BAD-058", good("a.mp3", 79 * FRAME_SECONDS, () => mp3().slice(0, -40))],
  [
    "BAD-059",
    good("a.mp3", 20 * FRAME_SECONDS + (40 * 1152) / 44_100, () =>
      join(repeat(frame(0x10, 0x00), 20), repeat(frameMpeg2(), 40)),
    ),
  ],
  ["BAD-064", good("a.mp4", 7.488, () => fixture("speech-fragmented.mp4"))],
  ["BAD-065", good("a.mp4", MP4_SECONDS, () => mp4({ mdatHeader: () => join(be32(0), ascii("mdat")) }))],
  ["BAD-066", invalid("a.mp4", () => mp4({ inMoov: join(be32(0), ascii("udta")) }))],
  ["BAD-067", invalid("a.mp4", () => mp4({ mdatHeader: () => join(be32(5), ascii("mdat")) }))],
  ["BAD-068", invalid("a.mp4", () => mp4({ mdatHeader: () => join(be32(1), ascii("mdat"), [0x80], zeros(7)) }))],
  ["BAD-070", invalid("a.mp4", () => nestedBoxes(10_000))],
  ["BAD-072", invalid("a.mp4", () => mp4({ stsd: fullBox("stsd", be32(1), be32(0), ascii("mp4a"), zeros(28)) }))],
  ["BAD-073", invalid("a.mp4", () => mp4({ stts: fullBox("stts", be32(MAX), be32(30), be32(1024)) }))],
  ["BAD-077", good("a.mp4", MP4_SECONDS, () => mp4({ tracks: 2 }))],
  ["BAD-078", invalid("a.mp4", () => mp4({ entry: "enca" }))],
  ["BAD-079", good("a.mp4", MP4_SECONDS, () => mp4({ dinf: dref("file:///etc/passwd") }))],
  [
    "BAD-080",
    foreign("a.mp4", () => ascii("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1/secret\n")),
  ],
  ["BAD-081", foreign("a.mp4", () => ascii("ffconcat version 1.0\nfile /etc/passwd\n"))],
  ["BAD-083", good("a.webm", 3, () => live(liveCluster(0), liveCluster(1000), liveCluster(2000)))],
  [
    "BAD-084",
    invalid("a.webm", () =>
      join(ebmlHeader(), unknownSize(SEGMENT, info(), unknownSize(TRACKS, webmTracks().slice(12)), cluster(0))),
    ),
  ],
  ["BAD-085", invalid("a.webm", () => webm(cluster(0), element(CLUSTER, clusterTime(1000), [0x00, 0x81, 0, 0])))],
  ["BAD-088", invalid("a.webm", () => join(ebmlHeader(), element(SEGMENT, info(0), webmTracks(), cluster(0))))],
  ["BAD-089", invalid("a.webm", () => fixture("video-only.webm"))],
  [
    "BAD-090",
    good("a.webm", 1.02, () =>
      webm(cluster(0), element(CLUSTER, clusterTime(1000), lacedWrongly(0), simpleBlock(20, []))),
    ),
  ],
  ["BAD-092", good("a.mp3", 3600, () => repeat(smallFrame(), 50_000))],
  [
    "BAD-093",
    good("a.webm", 2, () =>
      join(
        ebmlHeader(),
        element(
          SEGMENT,
          info(1_000_000, element([0x44, 0x89], be32(0x469c4000))),
          webmTracks(),
          cluster(0),
          cluster(1000),
        ),
      ),
    ),
  ],
  ["BAD-094", good("a.wav", 2, () => wav())],

  ["OWN-001 an mp3 stored in a .zip is not looked into", foreign("a.mp3", () => storedZip("a.mp3", mp3()))],
  [
    "OWN-002 nor in a .tar",
    foreign("a.mp3", () => join(patch(zeros(512), 0, join(ascii("a.mp3"), zeros(252), ascii("ustar"))), mp3())),
  ],
  ["OWN-003 an ID3 tag does not make FLAC an mp3", foreign("a.mp3", () => join(id3(zeros(100)), flac()))],
  [
    "OWN-004 an AVI with mp3 sound is no mp3 and no wav",
    foreign("a.wav", () => join(ascii("RIFF"), le32(9000), ascii("AVI LIST"), mp3())),
  ],
  [
    "OWN-005 a sample rate of 4 GHz would make an hour cost nothing",
    invalid("a.wav", () => riff(fmt({ rate: MAX, align: 1, byteRate: MAX }), chunk("data", muLaw(2)))),
  ],
  [
    "OWN-006 so would 65,535 channels",
    invalid("a.wav", () => riff(fmt({ channels: 65_535 }), chunk("data", muLaw(100)))),
  ],
  [
    "OWN-007 a byte rate that contradicts the sample layout is ignored",
    good("a.wav", 2, () => riff(fmt({ byteRate: 800_000, align: 100 }), chunk("data", muLaw(2)))),
  ],
  [
    "OWN-008 chunks without end behind the sound",
    invalid("a.wav", () => join(wav(), repeat(chunk("JUNK", zeros(0)), 3_000_000))),
  ],
  ["OWN-009 sound before its format", invalid("a.wav", () => riff(chunk("data", muLaw(2)), fmt()))],
  [
    "OWN-010 sound hidden in a second data chunk",
    good("a.wav", 4, () => riff(fmt(), chunk("data", muLaw(1)), chunk("LIST", zeros(10)), chunk("data", muLaw(3)))),
  ],
  [
    "OWN-011 size 0 and a recording behind it: a recorder that was cut off",
    good("a.wav", 3, () => riff(fmt(), join(ascii("data"), le32(0), muLaw(3)))),
  ],
  [
    "OWN-012 mp3 in a wav with a wrong byte rate is walked frame by frame",
    good("a.wav", SECONDS_80_FRAMES, () => riff(fmt({ tag: 85, byteRate: MAX }), chunk("data", mp3()))),
  ],
  ["OWN-013 just under 0.1 s", invalid("a.wav", () => wav(0.099))],
  ["OWN-046 one sample short of 0.1 s, which it would be when rounded", invalid("a.wav", () => wav(0.099_875))],
  ["OWN-014 exactly 0.1 s", good("a.wav", 0.1, () => wav(0.1))],
  ["OWN-015 three frames and then nothing but zeros", invalid("a.mp3", () => join(mp3(3), zeros(MEBIBYTE)))],
  [
    "OWN-016 20 MB of sync bytes between two halves",
    good("a.mp3", SECONDS_80_FRAMES, () => join(mp3(40), new Uint8Array(20_000_000).fill(0xff), mp3(40))),
  ],
  ["OWN-017 a tag that claims 256 MiB", invalid("a.mp3", () => join(id3(zeros(50), [0x7f, 0x7f, 0x7f, 0x7f]), mp3()))],
  [
    "OWN-018 25 MiB of sync words with reserved rates",
    invalid("a.mp3", () => repeat(Uint8Array.of(0xff, 0xfb), 12 * MEBIBYTE)),
  ],
  [
    "OWN-019 a text in UTF-16, whose mark looks like a sync word",
    foreign("a.mp3", () => join([0xff, 0xfe], Uint8Array.from(Buffer.from("<p>hello</p>".repeat(99), "utf16le")))),
  ],
  [
    "OWN-020 a HEIC photo is no mp4",
    foreign("a.mp4", () => join(box("ftyp", ascii("heic"), be32(0), ascii("mif1heic")), noise(4000))),
  ],
  [
    "OWN-021 one chunk offset used 1,000 times",
    invalid("a.mp4", () =>
      mp4({
        stsz: fullBox("stsz", be32(480), be32(1000)),
        stsc: fullBox("stsc", be32(1), be32(1), be32(1), be32(1)),
        stco: (at) => fullBox("stco", be32(1000), repeat(be32(at), 1000)),
      }),
    ),
  ],
  ["OWN-022 a fast clock does not shorten AAC", good("a.mp4", MP4_SECONDS, () => mp4({ timescale: 0x7fffffff }))],
  [
    "OWN-023 a fast clock on an unknown codec contradicts the size",
    invalid("a.mp4", () => mp4({ stsd: aacClockOnly(), timescale: 0x7fffffff, packetBytes: 50_000 })),
  ],
  [
    "OWN-024 a slow clock does not lengthen beyond the packets",
    good("a.mp4", MP4_SECONDS, () => mp4({ stts: fullBox("stts", be32(1), be32(30), be32(MAX)) })),
  ],
  [
    "OWN-025 4 billion samples claimed of one size are as many as are there",
    good("a.mp4", MP4_SECONDS, () =>
      mp4({ stsz: fullBox("stsz", be32(16), be32(MAX)), stsc: fullBox("stsc", be32(1), be32(1), be32(MAX), be32(1)) }),
    ),
  ],
  [
    "OWN-026 an edit that plays a moment alone leaves less than 0.1 s",
    invalid("a.mp4", () => mp4({ edts: box("edts", fullBox("elst", be32(1), be32(1), be32(30_000), be32(65_536))) })),
  ],
  [
    "OWN-027 3 million boxes and no index",
    invalid("a.mp4", () => join(box("ftyp", ascii("isom"), be32(0)), repeat(box("free"), 3_000_000))),
  ],
  ["OWN-028 20,000 boxes inside the index", invalid("a.mp4", () => mp4({ inMoov: repeat(box("free"), 20_000) }))],
  [
    "OWN-029 a fragment of 4 billion samples of no size",
    invalid("a.mp4", () => fragmented(fullBox("trun", be32(MAX)), 0)),
  ],
  [
    "OWN-030 a descriptor that claims 256 MiB",
    good("a.mp4", MP4_SECONDS, () => mp4({ esds: fullBox("esds", [6, 0xff, 0xff, 0xff, 0x7f, 3, 25]) })),
  ],
  ["OWN-031 the index cut off", invalid("a.m4a", () => fixture("speech.m4a").slice(0, 1000))],
  ["OWN-032 only a picture track", invalid("a.mp4", () => fixture("video-only.mp4"))],
  [
    "OWN-033 every block at time 0: Opus packets tell their own length",
    good("a.webm", 1, () => webm(element(CLUSTER, clusterTime(0), repeat(simpleBlock(0), 50)))),
  ],
  [
    "OWN-034 two blocks nine hours apart hold 40 ms",
    invalid("a.webm", () =>
      webm(element(CLUSTER, clusterTime(0), simpleBlock(0)), element(CLUSTER, clusterTime(32_400_000), simpleBlock(0))),
    ),
  ],
  [
    "OWN-035 a segment of 2^56 - 2 bytes",
    invalid("a.webm", () =>
      join(ebmlHeader(), SEGMENT, [1, 255, 255, 255, 255, 255, 255, 254], info(), webmTracks(), cluster(0)),
    ),
  ],
  [
    "OWN-036 an EBML header of unknown size",
    invalid("a.webm", () =>
      unknownSize(EBML, ebmlHeader().slice(13), element(SEGMENT, info(), webmTracks(), cluster(0))),
    ),
  ],
  [
    "OWN-037 12 million empty elements in a cluster",
    invalid("a.webm", () => webmOf(webmTracks(), element(CLUSTER, repeat(Uint8Array.of(0xec, 0x80), 12_000_000)))),
  ],
  [
    "OWN-038 an encrypted track",
    invalid("a.webm", () =>
      webmOf(webmTracks(2, element([0x6d, 0x80], element([0x62, 0x40], element([0x50, 0x35])))), cluster(0)),
    ),
  ],
  [
    "OWN-039 discarding every packet leaves all but the last",
    good("a.webm", 0.98, () =>
      webmOf(
        webmTracks(),
        element(
          CLUSTER,
          clusterTime(0),
          ...Array.from({ length: 50 }, (_, index) =>
            element(
              [0xa0],
              element([0xa1], [0x81], be16(index * 20), [0], [0xf8, 1, 2]),
              element([0x75, 0xa2], be32(0x7fffffff)),
            ),
          ),
        ),
      ),
    ),
  ],
  ["OWN-040 25 MiB of pack headers", invalid("a.mpeg", () => repeat(pack(), Math.floor((25 * MEBIBYTE) / 14)))],
  [
    "OWN-041 a program stream with a picture only",
    invalid("a.mpeg", () => join(pack(), repeat(pes(0xe0, noise(2000)), 100))),
  ],
  [
    "OWN-042 a program stream of 2 million one-byte packets",
    invalid("a.mpeg", () => join(pack(), repeat(pes(0xc0, Uint8Array.of(0xff)), 2_000_000))),
  ],
  ["OWN-043 an HTML page behind an ID3 tag", foreign("a.mp3", () => join(id3(zeros(10)), html()))],
  ["OWN-044 one byte", foreign("a.wav", () => Uint8Array.of(0x52))],
  ["OWN-045 a RIFX (big-endian) wav", foreign("a.wav", () => patch(wav(), 0, ascii("RIFX")))],
  [
    "OWN-047 17 mp3s joined, each with its own tag",
    good("a.mp3", 17 * SECONDS_80_FRAMES, () => repeat(join(id3(zeros(50)), mp3()), 17)),
  ],
  [
    "OWN-048 behind the frames a tag that is cut off",
    good("a.mp3", SECONDS_80_FRAMES, () => join(mp3(), id3(noise(50), [0, 0, 4, 0]))),
  ],
  [
    "OWN-049 between frames a tag of an invalid size",
    good("a.mp3", 2 * SECONDS_80_FRAMES, () => join(mp3(), BROKEN_TAG, mp3())),
  ],
  [
    "OWN-050 between frames a tag that claims more than there is",
    good("a.mp3", 2 * SECONDS_80_FRAMES, () => join(mp3(), id3(zeros(0), [0, 1, 0, 0]), mp3())),
  ],
  ["OWN-051 between frames 200 stacked tags", invalid("a.mp3", () => join(mp3(), repeat(id3(zeros(10)), 200), mp3()))],
  [
    "OWN-052 a broken tag behind every third frame of an hour",
    good("a.mp3", 48_000 * 0.072, () => repeat(join(repeat(smallFrame(), 3), BROKEN_TAG), 16_000)),
  ],
  [
    "OWN-053 20 MB of broken tags between two halves",
    good("a.mp3", SECONDS_80_FRAMES, () => join(mp3(40), repeat(BROKEN_TAG, 2_000_000), mp3(40))),
  ],
];

/** Keyed by id alone: `BAD-001`, `OWN-001`. */
export const hostileAudio: ReadonlyMap<string, HostileRow> = new Map(
  ROWS.map(([title, row]) => [title.slice(0, 7), row]),
);
export const hostileTitles: ReadonlyMap<string, string> = new Map(
  ROWS.map(([title]) => [title.slice(0, 7), title.slice(8)]),
);
