// Measures MPEG audio (mp3, mpga): walks every frame, so that a false Xing, VBRI or bit rate field cannot change the duration.
import { type ByteReader, u32le } from "./byte-reader.ts";
import { InvalidAudio, type Reading } from "./invalid-audio.ts";
import { type FrameHeader, isUnusableHeader, parseFrameHeader, threeFramesAt } from "./mpeg-frame.ts";

const TAG_LIMIT = 16;
/** Every layer III decoder delays by 528 + 1 samples in addition to the encoder's delay. LAME's figures do not include it. */
const DECODER_DELAY = 529;

export function readMpegAudio(reader: ByteReader): Reading {
  const end = trimTrailingTags(reader);
  const leading = skipTags(reader, 0, end);
  if (leading.fault !== null) throw new InvalidAudio(leading.fault);
  let { position } = leading;
  const begin = findFrame(reader, position, end);
  if (begin === null) throw new InvalidAudio(describeUnusable(reader, position, end));
  position = begin.offset;

  const info = readInfoFrame(reader, position, begin.header);
  if (info) position += begin.header.sizeBytes;

  let seconds = 0;
  let frames = 0;
  let trailingBytes = 0;
  while (position + 4 <= end) {
    const header = parseFrameHeader(reader.u32(position));
    if (header && header.layer === begin.header.layer) {
      // A frame truncated by the end of the file does not count.
      if (position + header.sizeBytes > end) break;
      seconds += header.samples / header.sampleRate;
      frames += 1;
      position += header.sizeBytes;
      continue;
    }
    // Concatenated recordings contain their tags.
    const tags = skipTags(reader, position, end);
    if (tags.position > position) {
      position = tags.position;
      continue;
    }
    // Synchronization lost, possibly in a broken or truncated tag: searches for the next run of frames. Every position is checked once, so junk costs linear
    // time.
    const match = findFrame(reader, position + 1, end);
    if (match === null) {
      // Fewer bytes than a frame are a truncated one.
      if (end - position > begin.header.sizeBytes) trailingBytes = end - position;
      break;
    }
    position = match.offset;
  }
  const { layer, channels, sampleRate } = begin.header;
  return {
    codec: `mp${layer}`,
    channels,
    sampleRate,
    durationSeconds: Math.max(0, seconds - encoderSilence(info, frames) / sampleRate),
    audioTracks: 1,
    trailingBytes,
  };
}

function findFrame(reader: ByteReader, from: number, end: number): { offset: number; header: FrameHeader } | null {
  const word = (offset: number): number | null => (offset + 4 <= end ? reader.u32(offset) : null);
  for (
    let offset = reader.indexOf(0xff, from);
    offset >= 0 && offset + 4 <= end;
    offset = reader.indexOf(0xff, offset + 1)
  ) {
    const header = threeFramesAt(word, offset);
    if (header) return { offset, header };
  }
  return null;
}

function describeUnusable(reader: ByteReader, position: number, end: number): string {
  if (position + 4 <= end) {
    const word = reader.u32(position);
    if (parseFrameHeader(word)) return "is too short";
    if (isUnusableHeader(word))
      return ((word >>> 12) & 15) === 0 ? "uses the free format, which is not supported" : "has no valid frame";
  }
  return "has no valid frame";
}

/**
 * The position after the ID3v2 and APE tags at `from`, up to a broken one. Tags are metadata of any size. An endless row of them, without sound between them,
 * is refused.
 */
function skipTags(reader: ByteReader, from: number, end: number): { position: number; fault: string | null } {
  let position = from;
  for (let tagCount = 0; ; tagCount += 1) {
    const size = position + 10 <= end ? tagSize(reader, position, end) : 0;
    if (size === null) return { position, fault: "has a tag with an invalid size" };
    if (size === 0) return { position, fault: null };
    if (position + size > end) return { position, fault: "ends inside a tag" };
    if (tagCount === TAG_LIMIT) throw new InvalidAudio("has more tags than a recording can need");
    position += size;
  }
}

/** Null: the size is invalid. 0: no tag begins here. */
function tagSize(reader: ByteReader, position: number, end: number): number | null {
  const first = reader.u32(position);
  if (first >>> 8 === 0x494433 && (first & 0xff) !== 0xff) {
    const size = reader.u32(position + 6);
    if ((size & 0x80808080) !== 0) return null;
    const bytes = ((size >>> 24) << 21) + (((size >>> 16) & 0xff) << 14) + (((size >>> 8) & 0xff) << 7) + (size & 0xff);
    const hasFooter = (reader.u8(position + 5) & 0x10) !== 0;
    return 10 + bytes + (hasFooter ? 10 : 0);
  }
  const isApe = first === 0x41504554 && position + 32 <= end && reader.u32(position + 4) === 0x41474558;
  return isApe ? 32 + u32le(reader, position + 12) : 0;
}

/** The end of the frames: before ID3v1 and then APE tags at the end of the file. */
function trimTrailingTags(reader: ByteReader): number {
  let end = reader.size;
  if (end >= 128 && reader.u32(end - 128) >>> 8 === 0x544147) end -= 128;
  if (end >= 32 && reader.u32(end - 32) === 0x41504554 && reader.u32(end - 28) === 0x41474558) {
    const size = u32le(reader, end - 20) + ((reader.u8(end - 9) & 0x80) !== 0 ? 32 : 0);
    if (size <= end) end -= size;
  }
  return end;
}

type InfoFrame = { readonly claimedFrames: number; readonly delay: number; readonly padding: number };

/** The first frame of many encoders contains no sound but a Xing, Info or VBRI header. */
function readInfoFrame(reader: ByteReader, offset: number, header: FrameHeader): InfoFrame | null {
  if (header.layer !== 3 || offset + header.sizeBytes > reader.size) return null;
  const nothing = { claimedFrames: 0, delay: 0, padding: 0 };
  if (header.sizeBytes >= 40 && reader.u32(offset + 36) === 0x56425249) return nothing;
  const sideBytes = header.version === 1 ? (header.channels === 1 ? 17 : 32) : header.channels === 1 ? 9 : 17;
  const start = offset + 4 + sideBytes;
  if (4 + sideBytes + 8 > header.sizeBytes) return null;
  const id = reader.u32(start);
  if (id !== 0x58696e67 && id !== 0x496e666f) return null;
  const flags = reader.u32(start + 4);
  const claimedFrames = (flags & 1) !== 0 ? reader.u32(start + 8) : 0;
  const encoder =
    start +
    8 +
    ((flags & 1) !== 0 ? 4 : 0) +
    ((flags & 2) !== 0 ? 4 : 0) +
    ((flags & 4) !== 0 ? 100 : 0) +
    ((flags & 8) !== 0 ? 4 : 0);
  if (encoder + 24 > offset + header.sizeBytes || reader.u8(encoder) === 0) return { ...nothing, claimedFrames };
  const gapless = reader.u32(encoder + 20) & 0xffffff;
  return { claimedFrames, delay: gapless >>> 12, padding: gapless & 0xfff };
}

/** Samples of silence that the encoder added, at most 8,190 (0.2 s). The padding counts only if the end of the file is present. */
function encoderSilence(info: InfoFrame | null, frames: number): number {
  if (!info || (info.delay === 0 && info.padding === 0)) return 0;
  const isWhole = info.claimedFrames > 0 && frames >= info.claimedFrames;
  return isWhole ? info.delay + info.padding : info.delay + DECODER_DELAY;
}
