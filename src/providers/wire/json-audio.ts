// Streams a JSON request body that contains audio as base64, with constant memory and a known length.
import { randomUUID } from "node:crypto";
import type { WireBody } from "../io.ts";
import type { SpeechAudio } from "../provider.ts";

/** `document` must put its argument where the audio belongs, exactly once. */
export function jsonWithAudio(document: (base64: string) => unknown, audio: SpeechAudio): WireBody {
  const mark = `audio-${randomUUID()}`;
  const [prefix, suffix, ...more] = JSON.stringify(document(mark)).split(mark);
  if (prefix === undefined || suffix === undefined || more.length > 0)
    throw new Error("the audio belongs in one place");
  const head = Buffer.from(prefix);
  const tail = Buffer.from(suffix);
  return {
    sizeBytes: head.byteLength + Math.ceil(audio.sizeBytes / 3) * 4 + tail.byteLength,
    open: async function* () {
      yield head;
      yield* base64(audio.open("passing"));
      yield tail;
    },
  };
}

/** Three bytes make four characters: the remainder of a chunk is copied to the start of the next one. */
async function* base64(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const wholeBytes = bytes.byteLength - (bytes.byteLength % 3);
    rest = Buffer.from(bytes.subarray(wholeBytes));
    if (wholeBytes > 0) yield Buffer.from(bytes.subarray(0, wholeBytes).toString("base64"), "latin1");
  }
  if (rest.byteLength > 0) yield Buffer.from(rest.toString("base64"), "latin1");
}

/** The most audio that fits a request of that size, with 64 KiB reserved for the other fields. */
export function audioBytesWithin(requestBytes: number): number {
  return Math.floor(((requestBytes - 65_536) / 4) * 3);
}
