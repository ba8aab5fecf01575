// Small valid pieces of every accepted container, built byte by byte, so that a hostile row changes exactly one thing.
import { readFileSync } from "node:fs";

export const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../fixtures/audio/${name}`, import.meta.url)));

export const ascii = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
export const zeros = (length: number): Uint8Array => new Uint8Array(length);

export function join(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}

export function repeat(part: Uint8Array, count: number): Uint8Array {
  const result = new Uint8Array(part.length * count);
  for (let index = 0; index < count; index++) result.set(part, index * part.length);
  return result;
}

export const be16 = (value: number): Uint8Array => Uint8Array.of(value >>> 8, value);
export const be32 = (value: number): Uint8Array => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
export const le16 = (value: number): Uint8Array => be16(value).toReversed();
export const le32 = (value: number): Uint8Array => be32(value).toReversed();

/** The same bytes on every run: a row must not change its verdict by luck. */
export function noise(length: number, seed = 1): Uint8Array {
  const result = new Uint8Array(length);
  let state = seed;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    result[index] = state >>> 24;
  }
  return result;
}

export function patch(bytes: Uint8Array, offset: number, replacement: Uint8Array | readonly number[]): Uint8Array {
  const result = bytes.slice();
  result.set(replacement, offset);
  return result;
}

// --- WAV -----------------------------------------------------------------------------------------------------------

export const chunk = (id: string, body: Uint8Array, size = body.length): Uint8Array =>
  join(ascii(id), le32(size), body, zeros(body.length % 2));

export type WavFormat = {
  tag?: number;
  channels?: number;
  rate?: number;
  byteRate?: number;
  align?: number;
  bits?: number;
  extra?: Uint8Array;
};

/** 8 kHz mu-law by default: one byte is one sample. */
export function fmt(options: WavFormat = {}): Uint8Array {
  const { tag = 7, channels = 1, rate = 8000, bits = 8, extra = zeros(0) } = options;
  const align = options.align ?? (channels * bits) / 8;
  const byteRate = options.byteRate ?? rate * align;
  return chunk("fmt ", join(le16(tag), le16(channels), le32(rate), le32(byteRate), le16(align), le16(bits), extra));
}

export const riff = (...chunks: readonly Uint8Array[]): Uint8Array => {
  const body = join(...chunks);
  return join(ascii("RIFF"), le32(4 + body.length), ascii("WAVE"), body);
};
export const muLaw = (seconds: number): Uint8Array => new Uint8Array(Math.round(seconds * 8000)).fill(0xff);
export const wav = (seconds = 2): Uint8Array => riff(fmt(), chunk("data", muLaw(seconds)));

// --- MPEG audio ----------------------------------------------------------------------------------------------------

/** One silent frame of layer III: 44.1 kHz, 32 kbit/s, 104 bytes, 26.1 ms. */
export const frame = (third = 0x10, fourth = 0xc0, length = 104): Uint8Array =>
  patch(zeros(length), 0, [0xff, 0xfb, third, fourth]);
export const FRAME_SECONDS = 1152 / 44_100;
export const mp3 = (frames = 80): Uint8Array => repeat(frame(), frames);
export const id3 = (body: Uint8Array, size: readonly number[] = syncSafe(body.length)): Uint8Array =>
  join(ascii("ID3"), [4, 0, 0], size, body);
const syncSafe = (size: number): number[] => [(size >> 21) & 127, (size >> 14) & 127, (size >> 7) & 127, size & 127];

// --- mp4 -----------------------------------------------------------------------------------------------------------

export const box = (type: string, ...body: readonly (Uint8Array | readonly number[])[]): Uint8Array => {
  const content = join(...body);
  return join(be32(8 + content.length), ascii(type), content);
};
export const fullBox = (type: string, ...body: readonly (Uint8Array | readonly number[])[]): Uint8Array =>
  box(type, zeros(4), ...body);

export type Mp4Options = {
  packets?: number;
  packetBytes?: number;
  entry?: string;
  esds?: Uint8Array;
  timescale?: number;
  stts?: Uint8Array;
  stsd?: Uint8Array;
  stsz?: Uint8Array;
  stsc?: Uint8Array;
  stco?: (dataAt: number) => Uint8Array;
  edts?: Uint8Array;
  dinf?: Uint8Array;
  handler?: string;
  tracks?: number;
  inMoov?: Uint8Array;
  mdatHeader?: (length: number) => Uint8Array;
  brand?: string;
};

const ASC_LC_16K_MONO = [0x14, 0x08];
export const ESDS = fullBox("esds", [3, 0x1a, 0, 1, 0, 4, 0x12, 0x40, 0x15], zeros(11), [
  5,
  2,
  ...ASC_LC_16K_MONO,
  6,
  1,
  2,
]);

export const audioEntry = (type: string, ...children: readonly Uint8Array[]): Uint8Array =>
  ratedEntry(type, { rate: 16_000 }, ...children);
export const ratedEntry = (
  type: string,
  { rate, version = 0 }: { readonly rate: number; readonly version?: number },
  ...children: readonly Uint8Array[]
): Uint8Array =>
  box(type, zeros(6), be16(1), be16(version), zeros(6), be16(1), be16(16), zeros(4), be16(rate), zeros(2), ...children);

/** AAC, 16 kHz, 1024 samples (64 ms) a packet; mdat comes last. */
export function mp4(options: Mp4Options = {}): Uint8Array {
  const { packets = 30, packetBytes = 16, entry = "mp4a", timescale = 16_000, tracks = 1, handler = "soun" } = options;
  const head = box("ftyp", ascii(options.brand ?? "isom"), be32(0x200), ascii("isommp42"));
  const sound = noise(packets * packetBytes, 7);
  const mdatHeader = options.mdatHeader?.(sound.length) ?? join(be32(8 + sound.length), ascii("mdat"));
  const trak = (id: number, dataAt: number): Uint8Array =>
    box(
      "trak",
      fullBox("tkhd", zeros(8), be32(id), zeros(68)),
      options.edts ?? zeros(0),
      box(
        "mdia",
        fullBox("mdhd", zeros(8), be32(timescale), be32(packets * 1024), zeros(4)),
        fullBox("hdlr", zeros(4), ascii(handler), zeros(13)),
        box(
          "minf",
          options.dinf ?? zeros(0),
          box(
            "stbl",
            options.stsd ?? fullBox("stsd", be32(1), audioEntry(entry, options.esds ?? ESDS)),
            options.stts ?? fullBox("stts", be32(1), be32(packets), be32(1024)),
            options.stsz ?? fullBox("stsz", be32(0), be32(packets), repeat(be32(packetBytes), packets)),
            options.stsc ?? fullBox("stsc", be32(1), be32(1), be32(packets), be32(1)),
            options.stco?.(dataAt) ?? fullBox("stco", be32(1), be32(dataAt)),
          ),
        ),
      ),
    );
  const mvhd = fullBox("mvhd", zeros(8), be32(1000), be32(packets * 64), zeros(80));
  const moov = (dataAt: number): Uint8Array =>
    box(
      "moov",
      mvhd,
      ...Array.from({ length: tracks }, (_, index) => trak(index + 1, dataAt)),
      options.inMoov ?? zeros(0),
    );
  const dataAt = head.length + moov(0).length + mdatHeader.length;
  return join(head, moov(dataAt), mdatHeader, sound);
}

// --- WebM ----------------------------------------------------------------------------------------------------------

export const element = (id: readonly number[], ...body: readonly (Uint8Array | readonly number[])[]): Uint8Array => {
  const content = join(...body);
  return join(id, [0x08, ...be32(content.length)], content);
};
export const unknownSize = (id: readonly number[], ...body: readonly (Uint8Array | readonly number[])[]): Uint8Array =>
  join(id, [0x01, 255, 255, 255, 255, 255, 255, 255], ...body);

export const EBML = [0x1a, 0x45, 0xdf, 0xa3];
export const SEGMENT = [0x18, 0x53, 0x80, 0x67];
const INFO = [0x15, 0x49, 0xa9, 0x66];
export const TRACKS = [0x16, 0x54, 0xae, 0x6b];
export const CLUSTER = [0x1f, 0x43, 0xb6, 0x75];
export const ebmlHeader = (docType = "webm"): Uint8Array => element(EBML, element([0x42, 0x82], ascii(docType)));
export const info = (timeScale = 1_000_000, ...more: readonly Uint8Array[]): Uint8Array =>
  element(INFO, element([0x2a, 0xd7, 0xb1], be32(timeScale)), ...more);
export const webmTracks = (type = 2, ...more: readonly Uint8Array[]): Uint8Array =>
  element(
    TRACKS,
    element(
      [0xae],
      element([0xd7], [1]),
      element([0x83], [type]),
      element([0x86], ascii(type === 2 ? "A_OPUS" : "V_VP8")),
      element([0xe1], element([0xb5], be32(0x473b8000)), element([0x9f], [1])),
      ...more,
    ),
  );
/** TOC 0xf8: one CELT frame of 20 ms. */
export const simpleBlock = (
  time: number,
  payload: Uint8Array | readonly number[] = [0xf8, 0xff, 0xfe],
  flags = 0x80,
): Uint8Array => element([0xa3], [0x81], be16(time), [flags], payload);
export const clusterTime = (time: number): Uint8Array => element([0xe7], be32(time));
export const cluster = (time: number, blocks = 50): Uint8Array =>
  element(CLUSTER, clusterTime(time), ...Array.from({ length: blocks }, (_, index) => simpleBlock(index * 20)));
export const webm = (...clusters: readonly Uint8Array[]): Uint8Array =>
  join(
    ebmlHeader(),
    element(SEGMENT, info(), webmTracks(), ...(clusters.length > 0 ? clusters : [cluster(0), cluster(1000)])),
  );
