// The body as it arrives, in pieces small enough that no step over one of them is felt by other requests.
import type { Readable } from "node:stream";

const MAX_CHUNK_BYTES = 262_144;

/** Leaving the loop early stops reading and leaves the stream as it is: its owner still has an answer to send. */
export async function* bodyChunks(body: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = 0; at < bytes.length; at += MAX_CHUNK_BYTES) yield bytes.subarray(at, at + MAX_CHUNK_BYTES);
  }
}
