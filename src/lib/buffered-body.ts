// A request body that is in memory as one buffer, so that it can be sent in one write with its head.

export interface BufferedBody {
  readonly sizeBytes: number;
  readonly bytes: Uint8Array;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export function bufferedBody(bytes: Uint8Array): BufferedBody {
  return {
    sizeBytes: bytes.byteLength,
    bytes,
    open: () => singleChunk(bytes),
  };
}

/** A stream of one chunk. */
export async function* singleChunk<Bytes extends Uint8Array>(bytes: Bytes): AsyncGenerator<Bytes> {
  yield bytes;
}
