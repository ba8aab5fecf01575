// Frees a buffer's memory without waiting for the garbage collector, which may let hundreds of megabytes of large buffers pile up.

/** The buffer, and every view of its memory, must not be used afterwards. A view of a larger buffer is not freed. */
export function freeBuffer({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && !buffer.detached) buffer.transfer(0);
}
