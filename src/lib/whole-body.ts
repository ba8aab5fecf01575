// The body of a request that lies in memory in one piece, which is most of them: it can leave in one write with its head.

export interface WholeBody {
  readonly sizeBytes: number;
  readonly bytes: Uint8Array;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export function wholeBody(bytes: Uint8Array): WholeBody {
  return {
    sizeBytes: bytes.byteLength,
    bytes,
    open: () => onePiece(bytes),
  };
}

/** Bytes in memory for whoever takes a stream of them. */
export async function* onePiece<Bytes extends Uint8Array>(bytes: Bytes): AsyncGenerator<Bytes> {
  yield bytes;
}
