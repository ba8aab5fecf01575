// Adds up the packets of one WebM track: Opus by its own packet durations, PCM by its bytes, other codecs by the time between packets.
import type { ByteReader } from "./byte-reader.ts";
import { readVint } from "./ebml.ts";
import { opusPacketSeconds } from "./opus.ts";
import type { WebmTrack } from "./webm-track.ts";

export type WebmSum = {
  seconds: number;
  packets: number;
  bytes: number;
  lastSeconds: number;
  lastPaddingSeconds: number;
  /** A packet with a duration that depends on the next packet's time, and its upper bound. */
  waiting: { time: number; mostSeconds: number } | null;
};

export const emptyWebmSum = (): WebmSum => ({
  seconds: 0,
  packets: 0,
  bytes: 0,
  lastSeconds: 0,
  lastPaddingSeconds: 0,
  waiting: null,
});

/** Adds one block. `start` is the position after its track number, time and flags. */
export function addBlock(
  reader: ByteReader,
  track: WebmTrack,
  sum: WebmSum,
  block: { start: number; end: number; flags: number; time: number },
): void {
  const { start, end, time } = block;
  if (sum.waiting) settle(sum, time - sum.waiting.time);
  const lacing = (block.flags >> 1) & 3;
  const frames = lacing === 0 ? 1 : start < end ? reader.u8(start) + 1 : 0;
  if (frames === 0 || start >= end) return;
  sum.packets += frames;
  sum.bytes += end - start;
  sum.lastPaddingSeconds = 0;
  const starts = lacing === 0 ? [start] : frameStarts(reader, start, end, lacing);
  if (track.bytesPerSecond !== null) {
    sum.lastSeconds = (end - (starts?.[0] ?? end)) / track.bytesPerSecond;
    sum.seconds += sum.lastSeconds;
    return;
  }
  if (!track.isOpus || !starts) {
    // A frame has at least one byte, whatever the lacing declares.
    sum.waiting = { time, mostSeconds: Math.min(frames, end - start) * track.longestPacketSeconds };
    return;
  }
  sum.lastSeconds = 0;
  for (const at of starts) {
    if (at < end) sum.lastSeconds += opusPacketSeconds(reader.u8(at), at + 1 < end ? reader.u8(at + 1) : 0);
  }
  sum.seconds += sum.lastSeconds;
}

/** Sets the waiting packet's duration, once the next packet's time or the end of the file is known. */
export function settle(sum: WebmSum, elapsed: number): void {
  if (!sum.waiting) return;
  sum.lastSeconds = Math.max(0, Math.min(elapsed, sum.waiting.mostSeconds));
  sum.seconds += sum.lastSeconds;
  sum.waiting = null;
}

/** The start of each frame in a laced block. Null if the sizes do not fit the block. */
function frameStarts(reader: ByteReader, start: number, end: number, lacing: number): readonly number[] | null {
  const count = reader.u8(start) + 1;
  const readSizes = lacing === 1 ? readXiphSizes : lacing === 3 ? readEbmlSizes : readEqualSizes;
  const sizes = readSizes(reader, start + 1, end, count);
  if (!sizes) return null;
  let at = sizes.next;
  const starts = [at];
  for (const size of sizes.sizes) {
    if (size < 0) return null;
    at += size;
    starts.push(at);
  }
  return at <= end ? starts : null;
}

/** The sizes of all frames but the last, which takes the remainder. */
type Sizes = { readonly sizes: readonly number[]; readonly next: number } | null;

function readEqualSizes(_reader: ByteReader, at: number, end: number, count: number): Sizes {
  const size = (end - at) / count;
  return Number.isInteger(size) ? { sizes: Array.from({ length: count - 1 }, () => size), next: at } : null;
}

function readXiphSizes(reader: ByteReader, from: number, end: number, count: number): Sizes {
  let at = from;
  const sizes: number[] = [];
  while (sizes.length < count - 1) {
    let size = 0;
    for (let byte = 255; byte === 255; at++) {
      if (at >= end) return null;
      byte = reader.u8(at);
      size += byte;
    }
    sizes.push(size);
  }
  return { sizes, next: at };
}

function readEbmlSizes(reader: ByteReader, from: number, end: number, count: number): Sizes {
  let at = from;
  const sizes: number[] = [];
  while (sizes.length < count - 1) {
    if (at >= end || reader.u8(at) === 0) return null;
    const number = readVint(reader, at, end);
    if (!number) return null;
    at = number.next;
    const previous = sizes.at(-1);
    // The first size is absolute, the others are differences, offset by the middle of their range.
    sizes.push(previous === undefined ? number.value : previous + number.value - (2 ** (7 * number.length - 1) - 1));
  }
  return { sizes, next: at };
}
