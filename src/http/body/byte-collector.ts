// A growing buffer with a limit. Copies its input, so that a body of one-byte chunks uses no more memory than its size.

export interface ByteCollector {
  /** Returns false and stores nothing if the limit would be exceeded. */
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
