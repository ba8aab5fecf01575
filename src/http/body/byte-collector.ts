// A growing buffer with a limit. Copies what it is given, so that a body of one-byte chunks costs its size and no more.

export interface ByteCollector {
  /** False, and nothing is kept, when the limit would be passed. */
  add(bytes: Uint8Array): boolean;
  bytes(): Buffer;
}

export function createByteCollector(maxBytes: number): ByteCollector {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    add(bytes) {
      const needed = length + bytes.length;
      if (needed > maxBytes) return false;
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, buffer.length * 2, 256)));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      buffer.set(bytes, length);
      length = needed;
      return true;
    },
    bytes() {
      return buffer.subarray(0, length);
    },
  };
}
