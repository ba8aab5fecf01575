// Finds the sound data of a WAV file. A plausible data size counts, otherwise the sound extends to the end of the file.
import { joinExtents, text4, u32le, type ByteReader } from "./byte-reader.ts";
import { CHUNK_LIMIT, InvalidAudio, MINIMUM_SECONDS, type Reading } from "./invalid-audio.ts";
import { readMpegAudio } from "./mpeg-audio.ts";
import { hasPadByte, isChunkId, isContainerId } from "./riff-chunks.ts";
import { isMpegTag, type WavFormat, wavSound } from "./wav-codecs.ts";

type Extent = { readonly start: number; readonly length: number };
type Sound = { readonly extents: readonly Extent[]; readonly trailingBytes: number };

const CHUNK_HEAD_BYTES = 8;

export function readWav(reader: ByteReader): Reading {
  let format: WavFormat | null = null;
  let position = 12;
  for (let chunks = 0; position + CHUNK_HEAD_BYTES <= reader.size; chunks++) {
    if (chunks >= CHUNK_LIMIT) throw new InvalidAudio("has more chunks than a recording can need");
    const id = text4(reader, position);
    const size = u32le(reader, position + 4);
    if (id === "data") {
      if (!format) throw new InvalidAudio("has audio data before its format description");
      return measureSound(reader, format, findSound(reader, format, position + CHUNK_HEAD_BYTES, size));
    }
    if (position + CHUNK_HEAD_BYTES + size > reader.size) break;
    if (id === "fmt ") {
      if (format) throw new InvalidAudio("describes its format twice");
      format = readFormat(reader, position + CHUNK_HEAD_BYTES, size);
    }
    position = nextChunk(reader, position + CHUNK_HEAD_BYTES, size);
  }
  throw new InvalidAudio("contains no audio data");
}

function nextChunk(reader: ByteReader, start: number, size: number): number {
  const end = start + size;
  if (size % 2 === 0 || end + 5 > reader.size) return end + (size % 2);
  return hasPadByte(text4(reader, end), text4(reader, end + 1)) ? end + 1 : end;
}

function readFormat(reader: ByteReader, offset: number, size: number): WavFormat {
  if (size < 16) throw new InvalidAudio("describes its format in too few bytes");
  const u16le = (at: number): number => reader.u8(offset + at) + reader.u8(offset + at + 1) * 256;
  // WAVE_FORMAT_EXTENSIBLE stores the real tag at the start of its sub-format id.
  const tag = u16le(0) === 0xfffe && size >= 26 ? u16le(24) : u16le(0);
  const format = {
    tag,
    channels: u16le(2),
    sampleRate: u32le(reader, offset + 4),
    byteRate: u32le(reader, offset + 8),
    blockAlign: u16le(12),
    bits: u16le(14),
  };
  // No recording exceeds these bounds, and a duration computed from such values would be arbitrary.
  if (format.channels < 1 || format.channels > 64) throw new InvalidAudio("has an impossible number of channels");
  if (format.sampleRate < 1000 || format.sampleRate > 768_000) throw new InvalidAudio("has an impossible sample rate");
  return format;
}

/** As decoders do: counts the declared data size and further data chunks after it, but nothing else that follows. */
function findSound(reader: ByteReader, format: WavFormat, start: number, declaredBytes: number): Sound {
  const availableBytes = reader.size - start;
  const all = { extents: [{ start, length: availableBytes }], trailingBytes: 0 };
  if (declaredBytes >= availableBytes || (declaredBytes > 0 && availableBytes - declaredBytes < CHUNK_HEAD_BYTES))
    return { extents: [{ start, length: Math.min(declaredBytes, availableBytes) }], trailingBytes: 0 };
  const tail = walkChunks(reader, nextChunk(reader, start, declaredBytes));
  const isPlaceholder = declaredBytes === 0 || (tail.trailingBytes > 0 && isTooShort(format, declaredBytes));
  if (isPlaceholder && tail.trailingBytes > 0) return all;
  return { extents: [{ start, length: declaredBytes }, ...tail.extents], trailingBytes: tail.trailingBytes };
}

/** A recorder that was interrupted leaves 0 or the size of a header as the data size, so a size below the minimum is not used. */
const isTooShort = (format: WavFormat, bytes: number): boolean =>
  !isMpegTag(format.tag) && wavSound(format, bytes).durationSeconds < MINIMUM_SECONDS;

/** The data chunks among the well-formed ones from here on, and how many trailing bytes belong to no chunk. */
function walkChunks(reader: ByteReader, from: number): Sound {
  const extents: Extent[] = [];
  let position = from;
  for (let chunks = 0; position + CHUNK_HEAD_BYTES <= reader.size; chunks++) {
    if (chunks >= CHUNK_LIMIT) throw new InvalidAudio("has more chunks than a recording can need");
    const id = text4(reader, position);
    const size = u32le(reader, position + 4);
    const start = position + CHUNK_HEAD_BYTES;
    const isWhole = start + size <= reader.size;
    if (!isChunkId(id) || isContainerId(id) || !(isWhole || id === "data"))
      return { extents, trailingBytes: reader.size - position };
    if (id === "fmt ") throw new InvalidAudio("describes its format twice");
    if (id === "data") extents.push({ start, length: Math.min(size, reader.size - start) });
    position = isWhole ? nextChunk(reader, start, size) : reader.size;
  }
  return { extents, trailingBytes: 0 };
}

function measureSound(reader: ByteReader, format: WavFormat, { extents, trailingBytes }: Sound): Reading {
  const lengths = extents.map((extent) => extent.length);
  const bytes = lengths.reduce((sum, length) => sum + length, 0);
  if (bytes === 0) throw new InvalidAudio("contains no audio data");
  if (isMpegTag(format.tag)) {
    const starts = extents.map((extent) => extent.start);
    const { trailingBytes: unread = 0, ...frames } = readMpegAudio(joinExtents(reader, starts, lengths));
    return { ...frames, trailingBytes: trailingBytes + unread };
  }
  const { channels, sampleRate } = format;
  return { channels, sampleRate, ...wavSound(format, bytes), audioTracks: 1, trailingBytes };
}
