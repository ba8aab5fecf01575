// Reads decoded audio as 16-bit mono samples: bare ones, or a WAV piece that this gateway made of one channel.
import { endianness } from "node:os";
import { WAV_HEADER_BYTES } from "../../lib/wav.ts";
import { ProviderError } from "../io.ts";
import { LIVE_SAMPLE_RATE, type SpeechAudio } from "../provider.ts";
import type { Samples } from "./local-calls.ts";

/** The samples of a chunk may be overwritten when the next one is asked for. */
export async function* readSamples(audio: SpeechAudio): AsyncGenerator<Samples> {
  const { sampleRate, skippedBytes } = layoutOf(audio);
  let skip = skippedBytes;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of audio.open("passing")) {
    const given = chunk.subarray(Math.min(skip, chunk.byteLength));
    skip -= chunk.byteLength - given.byteLength;
    const bytes = rest.byteLength === 0 ? given : Buffer.concat([rest, given]);
    const count = bytes.byteLength >> 1;
    rest = Buffer.from(bytes.subarray(count * 2));
    if (count > 0) yield { samples: samplesOf(bytes, count), sampleRate };
  }
}

function layoutOf({ live, samplesPerSecond, sampleRate, channels, format, codec }: SpeechAudio): {
  readonly sampleRate: number;
  readonly skippedBytes: number;
} {
  if (live === "pcm_s16le") return { sampleRate: LIVE_SAMPLE_RATE, skippedBytes: 0 };
  if (samplesPerSecond !== undefined) return { sampleRate: samplesPerSecond, skippedBytes: 0 };
  if (format === "wav" && codec === "pcm" && channels === 1 && sampleRate !== undefined)
    return { sampleRate, skippedBytes: WAV_HEADER_BYTES };
  throw new ProviderError("rejected", { reason: "not_decoded" });
}

/** The bytes themselves where the machine can read them as samples, which is 20 times as fast as one by one. */
function samplesOf({ buffer, byteOffset, byteLength }: Uint8Array, count: number): Int16Array {
  if (byteOffset % 2 === 0 && !IS_BIG_ENDIAN) return new Int16Array(buffer, byteOffset, count);
  const copy = Buffer.from(new ArrayBuffer(count * 2));
  copy.set(new Uint8Array(buffer, byteOffset, byteLength - (byteLength % 2)));
  if (IS_BIG_ENDIAN) copy.swap16();
  return new Int16Array(copy.buffer, copy.byteOffset, count);
}

const IS_BIG_ENDIAN = endianness() === "BE";
