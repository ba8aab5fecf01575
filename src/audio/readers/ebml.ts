// EBML, the grammar of WebM: parses one element header at a time without recursion. Every header advances by at least 2 bytes.
import type { ByteReader } from "./byte-reader.ts";
import { CHUNK_LIMIT, InvalidAudio } from "./invalid-audio.ts";

/** `end` is `Infinity` for the reserved unknown size of a live recording. */
export type Element = { readonly id: number; readonly start: number; readonly end: number };

/** The element at `at`. Null if the file ends inside its header. */
export function readElement(reader: ByteReader, at: number): Element | null {
  if (at >= reader.size) return null;
  const idLength = vintLength(reader.u8(at));
  if (idLength > 4) throw new InvalidAudio("has an element without an id");
  if (at + idLength >= reader.size) return null;
  let id = 0;
  for (let index = 0; index < idLength; index++) id = id * 256 + reader.u8(at + index);
  const size = readVint(reader, at + idLength, reader.size);
  if (!size) return null;
  return { id, start: size.next, end: size.isUnknown ? Number.POSITIVE_INFINITY : size.next + size.value };
}

/** A variable-length number. Null if `limit` comes first. */
export function readVint(
  reader: ByteReader,
  at: number,
  limit: number,
): { value: number; next: number; length: number; isUnknown: boolean } | null {
  if (at >= limit) return null;
  const first = reader.u8(at);
  const length = vintLength(first);
  if (at + length > limit) return null;
  const mask = 0xff >> length;
  let value = first & mask;
  let isUnknown = value === mask;
  for (let index = 1; index < length; index++) {
    const byte = reader.u8(at + index);
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  if (!isUnknown && value > Number.MAX_SAFE_INTEGER) throw new InvalidAudio("has an element of an impossible size");
  return { value, next: at + length, length, isUnknown };
}

function vintLength(first: number): number {
  if (first === 0) throw new InvalidAudio("has an element without an id or size");
  return Math.clz32(first) - 23;
}

/** The children of a small master element, all inside it. */
export function listElements(reader: ByteReader, parent: Element): readonly Element[] {
  if (parent.end > reader.size) throw new InvalidAudio("ends before its structure is complete");
  const elements: Element[] = [];
  for (let at = parent.start; at < parent.end; ) {
    const element = readElement(reader, at);
    if (!element || element.end > parent.end)
      throw new InvalidAudio("has an element that is larger than the one around it");
    elements.push(element);
    if (elements.length > CHUNK_LIMIT) throw new InvalidAudio("has more elements than a recording can need");
    at = element.end;
  }
  return elements;
}

export function readUnsigned(reader: ByteReader, element: Element): number {
  if (element.end - element.start > 8) throw new InvalidAudio("has a number of an impossible size");
  let value = 0;
  for (let at = element.start; at < element.end; at++) value = value * 256 + reader.u8(at);
  return value;
}

export function readFloat(reader: ByteReader, element: Element): number {
  const bytes = reader.read(element.start, element.end - element.start);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.byteLength === 4 ? view.getFloat32(0) : bytes.byteLength === 8 ? view.getFloat64(0) : 0;
}

export function readAscii(reader: ByteReader, element: Element): string {
  const bytes = reader.read(element.start, Math.min(64, element.end - element.start));
  return String.fromCharCode(...bytes).replace(/\0+$/, "");
}
