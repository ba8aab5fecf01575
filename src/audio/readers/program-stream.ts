// Measures MPEG program streams (.mpeg, .mpg): collects the packets of the first MPEG audio stream and walks the frames in them.
import { type ByteReader, joinExtents } from "./byte-reader.ts";
import { InvalidAudio, type Reading } from "./invalid-audio.ts";
import { readMpegAudio } from "./mpeg-audio.ts";

const PACK = 0xba;
const END = 0xb9;

export function readProgramStream(reader: ByteReader): Reading {
  const starts: number[] = [];
  const lengths: number[] = [];
  const streams = new Set<number>();
  let audio = 0;
  for (let at = 0; at + 6 <= reader.size; ) {
    const word = reader.u32(at);
    const id = word & 0xff;
    if (word >>> 8 !== 1 || id < END) {
      at = nextStartCode(reader, at + 1);
      continue;
    }
    if (id === PACK || id === END) {
      at = id === END ? at + 4 : endOfPack(reader, at);
      continue;
    }
    const end = at + 6 + (reader.u32(at + 2) & 0xffff);
    if (id >= 0xc0 && id <= 0xdf) {
      streams.add(id);
      audio ||= id;
      const start = payloadStart(reader, at, end);
      // A packet truncated by the end of the file counts as far as it is present.
      const length = Math.min(end, reader.size) - start;
      if (id === audio && length > 0) {
        starts.push(start);
        lengths.push(length);
      }
    }
    at = end;
  }
  if (starts.length === 0) throw new InvalidAudio("has no MPEG audio stream");
  return { ...readMpegAudio(joinExtents(reader, starts, lengths)), audioTracks: streams.size };
}

function nextStartCode(reader: ByteReader, from: number): number {
  for (let at = reader.indexOf(0, from); at >= 0 && at + 4 <= reader.size; at = reader.indexOf(0, at + 1)) {
    if (reader.u32(at) >>> 8 === 1) return at;
  }
  return reader.size;
}

function endOfPack(reader: ByteReader, at: number): number {
  const isMpeg2 = reader.u8(at + 4) >>> 6 === 1;
  if (!isMpeg2) return at + 12;
  return at + 13 < reader.size ? at + 14 + (reader.u8(at + 13) & 7) : reader.size;
}

/** MPEG-2 packets declare the length of their header. MPEG-1 packets have stuffing, a buffer size and time stamps. */
function payloadStart(reader: ByteReader, packet: number, end: number): number {
  const limit = Math.min(end, reader.size);
  const byte = (at: number): number => (at < limit ? reader.u8(at) : 0);
  let at = packet + 6;
  if (byte(at) >>> 6 === 2) return at + 3 + byte(at + 2);
  while (byte(at) === 0xff) at += 1;
  if (byte(at) >>> 6 === 1) at += 2;
  if (byte(at) >>> 4 === 2) return at + 5;
  if (byte(at) >>> 4 === 3) return at + 10;
  return at + 1;
}
