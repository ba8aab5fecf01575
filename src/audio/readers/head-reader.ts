// Gives a reader access to a recording of which only the beginning is available, which is enough to measure most recordings.
import { type ByteReader, readBytes } from "./byte-reader.ts";

export class BeyondHead extends Error {}

/** A reader of the whole recording that has only its beginning: reading beyond it ends the attempt without a result. */
export function readHead(bytes: Uint8Array, sizeBytes: number): ByteReader {
  const head = readBytes(bytes);
  const requireHead = (end: number): void => {
    if (end > bytes.byteLength) throw new BeyondHead();
  };
  return {
    size: sizeBytes,
    read(offset, length) {
      requireHead(Math.min(offset + length, sizeBytes));
      return head.read(offset, length);
    },
    u8(offset) {
      requireHead(Math.min(offset + 1, sizeBytes));
      return head.u8(offset);
    },
    u32(offset) {
      requireHead(Math.min(offset + 4, sizeBytes));
      return head.u32(offset);
    },
    indexOf(byte, from) {
      const index = head.indexOf(byte, from);
      if (index === -1) throw new BeyondHead();
      return index;
    },
  };
}
