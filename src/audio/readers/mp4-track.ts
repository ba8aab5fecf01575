// Reads the description of one audio track of an mp4: codec, frame length, clock, edits.
import { type ByteReader, text4 } from "./byte-reader.ts";
import { InvalidAudio } from "./invalid-audio.ts";
import { type Box, type BoxTree, findBox, listBoxes } from "./mp4-boxes.ts";
import { type Edit, readEdits } from "./mp4-edits.ts";

export type Track = {
  readonly id: number;
  readonly timescale: number;
  readonly codec: string;
  readonly channels: number;
  readonly sampleRate: number;
  /** Duration of a packet by the codec's own rules. "clock" if only the container's clock contains it. */
  readonly packet:
    | { readonly kind: "frames"; readonly seconds: number }
    | { readonly kind: "bytes"; readonly perSecond: number }
    | { readonly kind: "opus" }
    | { readonly kind: "clock" };
  readonly edits: readonly Edit[];
  readonly table: BoxTree;
};

/** Null: the track is not audio. */
export function readTrack(reader: ByteReader, trak: BoxTree, movieTimescale: number): Track | null {
  const handler = findBox(trak, "mdia", "hdlr");
  if (!handler || text4(reader, handler.start + 8) !== "soun") return null;
  const header = findBox(trak, "tkhd");
  const clock = findBox(trak, "mdia", "mdhd");
  const table = findBox(trak, "mdia", "minf", "stbl");
  const description = table && findBox(table, "stsd");
  if (!header || !clock || !table || !description) throw new InvalidAudio("has an audio track without a description");
  const timescale = reader.u32(clock.start + (reader.u8(clock.start) === 1 ? 20 : 12));
  if (timescale === 0) throw new InvalidAudio("has an audio track without a clock");
  const id = reader.u32(header.start + (reader.u8(header.start) === 1 ? 20 : 12));
  const { sampleRate, ...described } = readDescription(reader, description);
  return {
    id,
    timescale,
    table,
    edits: readEdits(reader, trak, { track: timescale, movie: movieTimescale }),
    ...described,
    // The field is limited to 65,535 Hz. A higher rate is written as 0, and the track's clock then runs at the sample rate.
    sampleRate: sampleRate || timescale,
  };
}

type Description = Pick<Track, "codec" | "channels" | "sampleRate" | "packet">;

function readDescription(reader: ByteReader, box: Box): Description {
  const count = reader.u32(box.start + 4);
  const entries = listBoxes(reader, box.start + 8, box.end);
  const entry = entries[0];
  if (!entry || count === 0 || count > entries.length)
    throw new InvalidAudio("has an audio track without a description");
  if (entries.some((candidate) => candidate.type === "enca")) throw new InvalidAudio("is encrypted");
  if (entry.start + 28 > entry.end) throw new InvalidAudio("has a damaged audio description");
  // Longer entries are QuickTime's, in a box of version 0. In ISO's version 1 the boxes follow at once.
  const version = reader.u8(box.start) === 0 ? reader.u32(entry.start + 8) >>> 16 : 0;
  const sizes = reader.u32(entry.start + 16);
  const channels = sizes >>> 16;
  const children = listBoxes(reader, entry.start + 28 + (version === 1 ? 16 : version === 2 ? 36 : 0), entry.end);
  const exactRate = children.find((child) => child.type === "srat");
  const sampleRate = exactRate ? reader.u32(exactRate.start + 4) : reader.u32(entry.start + 24) >>> 16;
  const base = { codec: nameCodec(entry.type), channels, sampleRate, packet: { kind: "clock" } } as const;
  if (entry.type === "Opus")
    return { ...base, channels: Math.max(1, channels), sampleRate: 48_000, packet: { kind: "opus" } };
  if (PCM.has(entry.type)) {
    const perSecond = channels * Math.ceil((sizes & 0xffff) / 8) * sampleRate;
    return perSecond > 0 && version === 0 ? { ...base, packet: { kind: "bytes", perSecond } } : base;
  }
  const stream = children.find((child) => child.type === "esds");
  return stream && entry.type === "mp4a" ? { ...base, ...readElementaryStream(reader, stream, base) } : base;
}

const PCM = new Set(["sowt", "twos", "lpcm", "in24", "in32", "fl32", "fl64", "ipcm", "fpcm", "raw "]);
const CODEC_NAMES: Readonly<Record<string, string>> = {
  mp4a: "aac",
  Opus: "opus",
  "ac-3": "ac3",
  "ec-3": "eac3",
  ".mp3": "mp3",
  fLaC: "flac",
  samr: "amr",
  sawb: "amr-wb",
};
/** An unknown codec by its four characters if they are plain ASCII, because the name goes to logs and records. */
const nameCodec = (type: string): string =>
  CODEC_NAMES[type] ?? (PCM.has(type) ? "pcm" : /^[A-Za-z0-9-]{4}$/.test(type) ? type.toLowerCase() : "unknown");

/** The descriptors of esds: 3 (stream) contains 4 (decoder) contains 5 (AAC configuration). */
function readElementaryStream(reader: ByteReader, box: Box, base: Description): Partial<Description> {
  const bytes = reader.read(box.start + 4, Math.min(box.end - box.start - 4, 512));
  let position = 0;
  let objectType = 0;
  for (let steps = 0; steps < 8 && position + 2 <= bytes.length; steps++) {
    const tag = bytes[position];
    let length = 0;
    position += 1;
    for (let digits = 0; digits < 4; digits++) {
      const byte = bytes[position] ?? 0;
      position += 1;
      length = length * 128 + (byte & 127);
      if (byte < 128) break;
    }
    if (tag === 3) {
      const flags = bytes[position + 2] ?? 0;
      position +=
        3 + (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (bytes[position + 3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0);
    } else if (tag === 4) {
      objectType = bytes[position] ?? 0;
      if (objectType === 0x69 || objectType === 0x6b) return mpegAudio(base.sampleRate);
      position += 13;
    } else if (tag === 5) {
      const isAac = objectType === 0x40 || (objectType >= 0x66 && objectType <= 0x68);
      return isAac ? readAacConfiguration(bytes.subarray(position, position + length), base) : {};
    } else {
      position += length;
    }
  }
  return {};
}

const mpegAudio = (sampleRate: number): Partial<Description> =>
  sampleRate > 0
    ? { codec: "mp3", packet: { kind: "frames", seconds: (sampleRate >= 32_000 ? 1152 : 576) / sampleRate } }
    : { codec: "mp3" };

const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const AAC_CHANNELS = [0, 1, 2, 3, 4, 5, 6, 8];

/** An AAC packet has 1024 (or 960) samples of the core rate, whatever the container's clock declares. */
function readAacConfiguration(bytes: Uint8Array, base: Description): Partial<Description> {
  let bit = 0;
  const take = (count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index++, bit++)
      value = value * 2 + (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
    return value;
  };
  const takeObjectType = (): number => {
    const value = take(5);
    return value === 31 ? 32 + take(6) : value;
  };
  const takeRate = (): number => {
    const index = take(4);
    return index === 15 ? take(24) : (AAC_RATES[index] ?? 0);
  };
  let objectType = takeObjectType();
  const coreRate = takeRate();
  const channels = AAC_CHANNELS[take(4)] || base.channels;
  const isSpectral = objectType === 5 || objectType === 29;
  const rate = isSpectral ? takeRate() : coreRate;
  if (isSpectral) objectType = takeObjectType();
  if (coreRate < 1000) throw new InvalidAudio("has an impossible sample rate");
  const common = {
    channels: objectType === 2 && channels ? channels : base.channels,
    sampleRate: rate || base.sampleRate,
  };
  // Low-delay and unified variants have other frame lengths, so the container's clock counts them.
  if (objectType < 1 || objectType > 4) return common;
  return { ...common, packet: { kind: "frames", seconds: (take(1) ? 960 : 1024) / coreRate } };
}
