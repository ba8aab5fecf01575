// A JSON body with the audio in it as base64, streamed: memory stays flat and the length is known.
import { randomUUID } from "node:crypto";
import type { WireBody } from "./io.ts";
import type { SpeechAudio } from "./provider.ts";

/** `document` puts the text it is given where the audio belongs, once. */
export function jsonWithAudio(document: (base64: string) => unknown, audio: SpeechAudio): WireBody {
  const mark = `audio-${randomUUID()}`;
  const [before, after, ...more] = JSON.stringify(document(mark)).split(mark);
  if (before === undefined || after === undefined || more.length > 0) throw new Error("the audio belongs in one place");
  const head = Buffer.from(before);
  const tail = Buffer.from(after);
  return {
    sizeBytes: head.byteLength + Math.ceil(audio.sizeBytes / 3) * 4 + tail.byteLength,
    open: async function* () {
      yield head;
      yield* base64(audio.open("passing"));
      yield tail;
    },
  };
}

/** Three bytes make four letters: what is over of a chunk begins the next one, in a copy. */
async function* base64(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const whole = bytes.byteLength - (bytes.byteLength % 3);
    rest = Buffer.from(bytes.subarray(whole));
    if (whole > 0) yield Buffer.from(bytes.subarray(0, whole).toString("base64"), "latin1");
  }
  if (rest.byteLength > 0) yield Buffer.from(rest.toString("base64"), "latin1");
}

/** The most audio that fits a request of so many bytes, 64 KiB of them kept for what stands around it. */
export function audioBytesWithin(requestBytes: number): number {
  return Math.floor(((requestBytes - 65_536) / 4) * 3);
}
