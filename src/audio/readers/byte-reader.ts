// Random access to audio bytes, in memory or in a file, with bounded memory. Synchronous, because readers run in a worker thread.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { InvalidAudio } from "./invalid-audio.ts";

export type ByteReader = {
  readonly size: number;
  /** Up to `length` bytes, fewer only at the end. The result may be a view that the next call overwrites. */
  read(offset: number, length: number): Uint8Array;
  u8(offset: number): number;
  u32(offset: number): number;
  /** Position of the next `byte` at or after `from`, or -1. */
  indexOf(byte: number, from: number): number;
};

export const u32le = (reader: ByteReader, offset: number): number => {
  const value = reader.u32(offset);
  return (((value & 0xff) << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24)) >>> 0;
};
export const text4 = (reader: ByteReader, offset: number): string => fourCharacters(reader.u32(offset));
const fourCharacters = (value: number): string =>
  String.fromCharCode((value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);

const endsEarly = (): never => {
  throw new InvalidAudio("ends before its structure is complete");
};

export function readBytes(bytes: Uint8Array): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    size: bytes.byteLength,
    read: (offset, length) => bytes.subarray(offset, offset + length),
    u8: (offset) => bytes[offset] ?? endsEarly(),
    u32: (offset) => (offset >= 0 && offset + 4 <= bytes.byteLength ? view.getUint32(offset) : endsEarly()),
    indexOf: (byte, from) => bytes.indexOf(byte, from),
  };
}

// Several sample tables of one file are read in parallel, so several pages are cached: 8 × 256 KiB = 2 MiB per job.
const PAGE_BYTES = 262_144;
const PAGES_KEPT = 8;

export function readFile(path: string, sizeLimit: number): { reader: ByteReader; close: () => void } {
  const descriptor = openSync(path, "r");
  const size = Math.min(fstatSync(descriptor).size, sizeLimit);
  const pages = new Map<number, Uint8Array>();
  let lastNumber = -1;
  let last: Uint8Array = new Uint8Array(0);

  const page = (number: number): Uint8Array => {
    if (number === lastNumber) return last;
    let buffer = pages.get(number);
    if (buffer) {
      pages.delete(number);
    } else {
      buffer = loadPage(descriptor, number, size, pages);
    }
    pages.set(number, buffer);
    lastNumber = number;
    last = buffer;
    return buffer;
  };

  const u8 = (offset: number): number =>
    offset >= 0 && offset < size
      ? (page(Math.floor(offset / PAGE_BYTES))[offset % PAGE_BYTES] ?? endsEarly())
      : endsEarly();

  const reader: ByteReader = {
    size,
    u8,
    u32(offset) {
      const at = offset % PAGE_BYTES;
      if (offset < 0 || offset + 4 > size) return endsEarly();
      if (at + 4 > PAGE_BYTES) {
        return ((u8(offset) << 24) | (u8(offset + 1) << 16) | (u8(offset + 2) << 8) | u8(offset + 3)) >>> 0;
      }
      const bytes = page(Math.floor(offset / PAGE_BYTES));
      return (
        (((bytes[at] ?? 0) << 24) |
          ((bytes[at + 1] ?? 0) << 16) |
          ((bytes[at + 2] ?? 0) << 8) |
          (bytes[at + 3] ?? 0)) >>>
        0
      );
    },
    read(offset, length) {
      const end = Math.min(offset + length, size);
      if (offset >= end) return new Uint8Array(0);
      const result = new Uint8Array(end - offset);
      for (let position = offset; position < end; ) {
        const bytes = page(Math.floor(position / PAGE_BYTES)).subarray(position % PAGE_BYTES);
        const part = bytes.subarray(0, end - position);
        if (part.length === 0) return endsEarly();
        result.set(part, position - offset);
        position += part.length;
      }
      return result;
    },
    indexOf(byte, from) {
      for (
        let position = Math.max(0, from);
        position < size;
        position = (Math.floor(position / PAGE_BYTES) + 1) * PAGE_BYTES
      ) {
        const index = page(Math.floor(position / PAGE_BYTES)).indexOf(byte, position % PAGE_BYTES);
        if (index >= 0) return Math.floor(position / PAGE_BYTES) * PAGE_BYTES + index;
      }
      return -1;
    },
  };
  return { reader, close: () => closeSync(descriptor) };
}

function loadPage(descriptor: number, number: number, size: number, pages: Map<number, Uint8Array>): Uint8Array {
  const length = Math.min(PAGE_BYTES, size - number * PAGE_BYTES);
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, number * PAGE_BYTES + filled);
    if (count === 0) break;
    filled += count;
  }
  const oldest = pages.size >= PAGES_KEPT ? pages.keys().next() : undefined;
  if (oldest && !oldest.done) pages.delete(oldest.value);
  return filled === length ? bytes : bytes.subarray(0, filled);
}

/** Concatenates extents of `reader` as if they were one file: the payload of one stream in a multiplex. */
export function joinExtents(reader: ByteReader, starts: readonly number[], lengths: readonly number[]): ByteReader {
  const offsets: number[] = [];
  let size = 0;
  for (const length of lengths) {
    offsets.push(size);
    size += length;
  }
  let current = 0;
  const locate = (offset: number): number => {
    if (offset < 0 || offset >= size) return endsEarly();
    // Steps from the last position in both directions: readers move forward, or back by at most a frame header.
    while (offset < (offsets[current] ?? 0)) current -= 1;
    while (offset >= (offsets[current] ?? 0) + (lengths[current] ?? 0)) current += 1;
    return current;
  };
  const u8 = (offset: number): number => {
    const index = locate(offset);
    return reader.u8((starts[index] ?? 0) + offset - (offsets[index] ?? 0));
  };
  const joined: ByteReader = {
    size,
    u8,
    u32(offset) {
      const index = locate(offset);
      const innerOffset = offset - (offsets[index] ?? 0);
      if (innerOffset + 4 <= (lengths[index] ?? 0)) return reader.u32((starts[index] ?? 0) + innerOffset);
      return ((u8(offset) << 24) | (u8(offset + 1) << 16) | (u8(offset + 2) << 8) | u8(offset + 3)) >>> 0;
    },
    read(offset, length) {
      const result = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
      for (let index = 0; index < result.length; index++) result[index] = u8(offset + index);
      return result;
    },
    indexOf(byte, from) {
      for (let position = Math.max(0, from); position < size; position++) if (u8(position) === byte) return position;
      return -1;
    },
  };
  return joined;
}
