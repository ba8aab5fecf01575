// Reads decoded audio as 16-bit mono samples: bare ones, or a WAV piece that this gateway made of one channel.
import { WAV_HEADER_BYTES } from "../../lib/wav.ts";
import { ProviderError } from "../io.ts";
import { LIVE_SAMPLE_RATE, type SpeechAudio } from "../provider.ts";
import type { Samples } from "./local-calls.ts";

export async function* readSamples(audio: SpeechAudio): AsyncGenerator<Samples> {
  const { sampleRate, skippedBytes } = layoutOf(audio);
  let skip = skippedBytes;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of audio.open()) {
    const given = chunk.subarray(Math.min(skip, chunk.byteLength));
    skip -= chunk.byteLength - given.byteLength;
    const bytes = rest.byteLength === 0 ? Buffer.from(given) : Buffer.concat([rest, given]);
    const count = bytes.byteLength >> 1;
    if (count > 0) yield { samples: samplesOf(bytes, count), sampleRate };
    rest = bytes.subarray(count * 2);
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

/** A copy, because the bytes may be reused and need not be aligned. */
function samplesOf(bytes: Buffer, count: number): Int16Array {
  const samples = new Int16Array(count);
  for (let index = 0; index < count; index++) samples[index] = bytes.readInt16LE(index * 2);
  return samples;
}
