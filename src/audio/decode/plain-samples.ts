// Reads the samples of a WAV that has them as speech models want them: out of the upload itself, without ffmpeg and without a copy in the spool
// [measuring.decoder-direct].
import { setImmediate } from "node:timers/promises";
import type { OpenBytes } from "../../lib/open-bytes.ts";
import { toleratedSeconds } from "./decoded-recording.ts";
import { type EncodedAudio, SPEECH_RATE, Undecodable } from "./pcm.ts";
import { findPlainSound, isSpeechWav } from "./wav.ts";

export interface PlainSamples {
  readonly sizeBytes: number;
  /** 16-bit samples of one channel, little-endian. A chunk may end within a sample. */
  readonly open: OpenBytes;
}

const BYTES_PER_SAMPLE = 2;

/** Null: the recording has to be decoded. Throws `Undecodable` if the samples are not as long as the measured recording [measuring.decoder-length]. */
export async function openPlainSamples(
  audio: EncodedAudio & { readonly sizeBytes: number },
  signal: AbortSignal,
): Promise<PlainSamples | null> {
  if (!isSpeechWav(audio) || audio.channels !== 1) return null;
  const sound = await findPlainSound(audio, signal);
  if (sound === null) return null;
  const { offset } = sound;
  const frames = Math.min(sound.frames, Math.floor((audio.sizeBytes - offset) / BYTES_PER_SAMPLE));
  if (frames / SPEECH_RATE < audio.durationSeconds - toleratedSeconds(audio))
    throw new Undecodable("shorter_than_measured");
  const sizeBytes = frames * BYTES_PER_SAMPLE;
  return { sizeBytes, open: (mode) => bytesBetween(audio.open(mode), offset, sizeBytes) };
}

async function* bytesBetween(
  chunks: AsyncIterable<Uint8Array>,
  offset: number,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  let skip = offset;
  let remaining = sizeBytes;
  for await (const chunk of chunks) {
    const skipped = Math.min(skip, chunk.byteLength);
    const bytes = chunk.subarray(skipped, skipped + remaining);
    skip -= skipped;
    remaining -= bytes.byteLength;
    if (bytes.byteLength > 0) yield bytes;
    if (remaining === 0) return;
    // Yields to the event loop: bytes in memory arrive without a tick between them.
    await setImmediate();
  }
}
