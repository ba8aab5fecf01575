// Frees a buffer's memory at once. Large buffers that are garbage stay until the next full collection, which may come only after hundreds
// of megabytes of them.

/** Neither it nor anything that shares its memory may be used any more. A part of a larger buffer is left alone. */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && !buffer.detached) buffer.transfer(0);
}
