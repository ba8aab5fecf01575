// A recording of which only the beginning is at hand: enough to tell the length of most.
import { type ByteReader, readBytes } from "./byte-reader.ts";

export class BeyondHead extends Error {}

/** A reader of the whole that has only its beginning: what lies behind it ends the attempt, before any verdict. */
export function readHead(bytes: Uint8Array, sizeBytes: number): ByteReader {
  const head = readBytes(bytes);
  const within = (end: number): void => {
    if (end > bytes.byteLength) throw new BeyondHead();
  };
  return {
    size: sizeBytes,
    read(offset, length) {
      within(Math.min(offset + length, sizeBytes));
      return head.read(offset, length);
    },
    u8(offset) {
      within(Math.min(offset + 1, sizeBytes));
      return head.u8(offset);
    },
    u32(offset) {
      within(Math.min(offset + 4, sizeBytes));
      return head.u32(offset);
    },
    indexOf(byte, from) {
      const at = head.indexOf(byte, from);
      if (at === -1) throw new BeyondHead();
      return at;
    },
  };
}
