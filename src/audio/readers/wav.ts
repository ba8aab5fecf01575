// WAV: counts the data bytes that are there, whatever the headers claim (contract.md section 3, "Seconds").
import { joinExtents, text4, u32le, type ByteReader } from "./byte-reader.ts";
import { CHUNK_LIMIT, InvalidAudio, type Reading } from "./invalid-audio.ts";
import { readMpegAudio } from "./mpeg-audio.ts";

type Format = {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly byteRate: number;
  readonly blockAlign: number;
  readonly bits: number;
};
type Extent = { readonly start: number; readonly length: number };

/** The thinnest speech codecs need twice as much; below, a declared rate would stretch a kilobyte into minutes. */
const LEAST_BYTES_PER_SECOND = 40;

const CODECS: Readonly<Record<number, string>> = {
  1: "pcm",
  2: "adpcm",
  3: "float",
  6: "alaw",
  7: "mulaw",
  17: "adpcm",
  32: "adpcm",
  49: "gsm",
  80: "mp2",
  85: "mp3",
};

export function readWav(reader: ByteReader): Reading {
  let format: Format | null = null;
  let position = 12;
  for (let chunks = 0; position + 8 <= reader.size; chunks++) {
    if (chunks >= CHUNK_LIMIT) throw new InvalidAudio("has more chunks than a recording can need");
    const id = text4(reader, position);
    const size = u32le(reader, position + 4);
    if (id === "data") {
      if (!format) throw new InvalidAudio("has its sound before the description of its format");
      return measureData(reader, format, findData(reader, position + 8, size));
    }
    if (position + 8 + size > reader.size) break;
    if (id === "fmt ") {
      if (format) throw new InvalidAudio("describes its format twice");
      format = readFormat(reader, position + 8, size);
    }
    position += 8 + size + (size % 2);
  }
  throw new InvalidAudio("holds no sound");
}

function readFormat(reader: ByteReader, offset: number, size: number): Format {
  if (size < 16) throw new InvalidAudio("describes its format in too few bytes");
  const u16le = (at: number): number => reader.u8(offset + at) + reader.u8(offset + at + 1) * 256;
  // WAVE_FORMAT_EXTENSIBLE keeps the real tag at the start of its sub-format id.
  const tag = u16le(0) === 0xfffe && size >= 26 ? u16le(24) : u16le(0);
  const format = {
    tag,
    channels: u16le(2),
    sampleRate: u32le(reader, offset + 4),
    byteRate: u32le(reader, offset + 8),
    blockAlign: u16le(12),
    bits: u16le(14),
  };
  // Outside these bounds no recording exists, and a length computed from them would be a caller's wish.
  if (format.channels < 1 || format.channels > 64) throw new InvalidAudio("has an impossible number of channels");
  if (format.sampleRate < 1000 || format.sampleRate > 768_000) throw new InvalidAudio("has an impossible sample rate");
  return format;
}

/**
 * The claim is believed only when it fits: bytes behind it must be well-formed chunks up to the end, else they are sound
 * (a recorder that never came back to fill in the size, size 0 and 0xFFFFFFFF included). Further data chunks are sound too.
 */
function findData(reader: ByteReader, start: number, claimed: number): readonly Extent[] {
  const present = reader.size - start;
  if (claimed >= present) return [{ start, length: present }];
  const trailing =
    walkTrailing(reader, start + claimed + (claimed % 2)) ??
    (claimed % 2 ? walkTrailing(reader, start + claimed) : null);
  return trailing ? [{ start, length: claimed }, ...trailing] : [{ start, length: present }];
}

/** The data extents among well-formed chunks from here to the end, or `null` if this is no list of chunks. */
function walkTrailing(reader: ByteReader, from: number): readonly Extent[] | null {
  const found: Extent[] = [];
  let position = from;
  for (let chunks = 0; position + 8 <= reader.size; chunks++) {
    if (chunks >= CHUNK_LIMIT) throw new InvalidAudio("has more chunks than a recording can need");
    const id = text4(reader, position);
    const size = u32le(reader, position + 4);
    const isLast = position + 8 + size >= reader.size;
    if (!/^[\x20-\x7e]{4}$/.test(id) || (isLast && position + 8 + size > reader.size && id !== "data")) return null;
    if (id === "fmt ") throw new InvalidAudio("describes its format twice");
    if (id === "data") found.push({ start: position + 8, length: Math.min(size, reader.size - position - 8) });
    position += 8 + size + (size % 2);
  }
  return position >= reader.size ? found : null;
}

function measureData(reader: ByteReader, format: Format, extents: readonly Extent[]): Reading {
  const bytes = extents.reduce((sum, extent) => sum + extent.length, 0);
  if (bytes === 0) throw new InvalidAudio("holds no sound");
  if (format.tag === 85 || format.tag === 80) {
    const starts = extents.map((extent) => extent.start);
    return readMpegAudio(
      joinExtents(
        reader,
        starts,
        extents.map((extent) => extent.length),
      ),
    );
  }
  const byteRate = bytesPerSecond(format);
  if (!(byteRate >= LEAST_BYTES_PER_SECOND)) throw new InvalidAudio("does not say how many bytes a second takes");
  return {
    codec: CODECS[format.tag] ?? "unknown",
    channels: format.channels,
    sampleRate: format.sampleRate,
    durationSeconds: bytes / byteRate,
    audioTracks: 1,
  };
}

/** Derived from the sample layout where the codec fixes it; only an unknown codec's declared rate has to be believed. */
function bytesPerSecond(format: Format): number {
  const { tag, channels, sampleRate, blockAlign, bits, byteRate } = format;
  switch (tag) {
    case 1:
    case 3:
      if (bits < 1 || bits > 64) throw new InvalidAudio("has an impossible sample size");
      return sampleRate * channels * Math.ceil(bits / 8);
    case 6:
    case 7:
      return sampleRate * channels;
    case 2:
      return (sampleRate * blockAlign) / (((blockAlign - 7 * channels) * 2) / channels + 2);
    case 17:
      return (sampleRate * blockAlign) / (((blockAlign - 4 * channels) * 2) / channels + 1);
    case 32:
      return (sampleRate * channels) / 2;
    case 49:
      return (sampleRate * 65) / 320;
    default:
      return byteRate;
  }
}
