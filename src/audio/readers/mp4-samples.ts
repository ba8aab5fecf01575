// Walks the sample tables of one mp4 track (stts, stsz, stsc, stco) to find the size and position of each packet.
import type { ByteReader } from "./byte-reader.ts";
import { InvalidAudio } from "./invalid-audio.ts";
import { type Box, countEntries, findBox } from "./mp4-boxes.ts";
import { addPackets, type PacketSum } from "./mp4-packets.ts";
import type { Track } from "./mp4-track.ts";

export function addTableSamples(reader: ByteReader, track: Track, sum: PacketSum): void {
  const times = findBox(track.table, "stts");
  const sizes = findBox(track.table, "stsz") ?? findBox(track.table, "stz2");
  const chunks = findBox(track.table, "stsc");
  const offsets = findBox(track.table, "stco") ?? findBox(track.table, "co64");
  if (!times || !sizes || !chunks || !offsets) throw new InvalidAudio("has an audio track without an index");
  const takeTicks = readTicks(reader, times);
  const { total, fixed, sizeOf } = readSizes(reader, sizes);
  const samplesIn = readChunkLengths(reader, chunks);
  const isLong = offsets.type === "co64";
  const chunkCount = countEntries(reader, offsets, 4, isLong ? 8 : 4);

  let sample = 0;
  for (let chunk = 0; chunk < chunkCount && sample < total; chunk++) {
    const at = offsets.start + 8 + chunk * (isLong ? 8 : 4);
    let offset = isLong ? reader.u32(at) * 2 ** 32 + reader.u32(at + 4) : reader.u32(at);
    const inChunk = Math.min(samplesIn(chunk + 1), total - sample);
    if (fixed > 0) {
      for (let remaining = inChunk; remaining > 0; ) {
        const run = takeTicks(remaining);
        addPackets(reader, track, sum, { offset, size: fixed, count: run.count, ticks: run.ticks });
        offset += fixed * run.count;
        remaining -= run.count;
      }
    } else {
      for (let index = 0; index < inChunk; index++) {
        const size = sizeOf(sample + index);
        addPackets(reader, track, sum, { offset, size, count: 1, ticks: takeTicks(1).ticks });
        offset += size;
      }
    }
    sample += inChunk;
  }
}

/** Takes up to `count` samples of one duration. After the table's end the last duration continues. */
function readTicks(reader: ByteReader, box: Box): (count: number) => { count: number; ticks: number } {
  const entries = countEntries(reader, box, 4, 8);
  let entry = 0;
  let remaining = entries > 0 ? reader.u32(box.start + 8) : 0;
  return (count) => {
    while (remaining === 0 && entry + 1 < entries) {
      entry += 1;
      remaining = reader.u32(box.start + 8 + entry * 8);
    }
    const ticks = entries > 0 ? reader.u32(box.start + 12 + entry * 8) : 0;
    const runLength = remaining === 0 ? count : Math.min(count, remaining);
    remaining = Math.max(0, remaining - runLength);
    return { count: runLength, ticks };
  };
}

function readSizes(reader: ByteReader, box: Box): { total: number; fixed: number; sizeOf: (index: number) => number } {
  const first = reader.u32(box.start + 4);
  if (box.type === "stz2") {
    const bits = first & 0xff;
    if (bits !== 4 && bits !== 8 && bits !== 16) throw new InvalidAudio("has a damaged index");
    const total = countEntries(reader, box, 8, bits / 8);
    const start = box.start + 12;
    const sizeOf = (index: number): number => {
      if (bits === 16) return reader.u8(start + index * 2) * 256 + reader.u8(start + index * 2 + 1);
      if (bits === 8) return reader.u8(start + index);
      return (reader.u8(start + (index >> 1)) >> (index % 2 ? 0 : 4)) & 15;
    };
    return { total, fixed: 0, sizeOf };
  }
  // One size for all samples: the count is untrusted, and the bytes in the file limit it.
  if (first > 0) return { total: reader.u32(box.start + 8), fixed: first, sizeOf: () => first };
  return {
    total: countEntries(reader, box, 8, 4),
    fixed: 0,
    sizeOf: (index) => reader.u32(box.start + 12 + index * 4),
  };
}

/** Returns how many samples chunk `number` has. Numbers start at 1 and must be requested in rising order. */
function readChunkLengths(reader: ByteReader, box: Box): (number: number) => number {
  const entries = countEntries(reader, box, 4, 12);
  let entry = 0;
  return (number) => {
    while (entry + 1 < entries && reader.u32(box.start + 8 + (entry + 1) * 12) <= number) entry += 1;
    return entries > 0 ? reader.u32(box.start + 12 + entry * 12) : 0;
  };
}
