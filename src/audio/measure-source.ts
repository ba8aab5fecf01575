// Measures an audio source synchronously: detects its format, parses it, and returns its duration or the error 415 or 422 [measuring.unsupported]
// [measuring.invalid]. Runs in the worker thread of `measure.ts`, or, for a WAV with a complete header, without it.
import type { AudioFormat } from "../contract/transcription/audio-formats.ts";
import type { ByteReader } from "./readers/byte-reader.ts";
import { BeyondHead, readHead } from "./readers/head-reader.ts";
import { InvalidAudio, MINIMUM_SECONDS, type Reading, UnsupportedContainer } from "./readers/invalid-audio.ts";
import { readMp4 } from "./readers/mp4.ts";
import { readMpegAudio } from "./readers/mpeg-audio.ts";
import { readProgramStream } from "./readers/program-stream.ts";
import { readWav } from "./readers/wav.ts";
import { readWebm } from "./readers/webm.ts";
import { SNIFF_BYTES, sniffAudio } from "./sniff-audio.ts";

export type Measurement =
  | {
      readonly ok: true;
      readonly format: AudioFormat;
      readonly durationSeconds: number;
      readonly channels: number;
      readonly sampleRate: number;
      readonly codec: string;
      readonly audioTracks: number;
      readonly trailingBytes?: number;
      readonly uneditedSeconds?: number;
    }
  | { readonly ok: false; readonly code: "UNSUPPORTED_MEDIA_TYPE" | "INVALID_AUDIO"; readonly reason: string };

/** Rounding error of durations that are added up as binary fractions. */
const SUM_ERROR_SECONDS = 1e-9;

const READERS: Record<AudioFormat, (reader: ByteReader) => Reading> = {
  mp3: readMpegAudio,
  mp4: readMp4,
  m4a: readMp4,
  mpeg: readProgramStream,
  wav: readWav,
  webm: readWebm,
};

export function measureBytes(reader: ByteReader): Measurement {
  if (reader.size === 0) return invalid("is empty");
  const format = sniffAudio(reader.read(0, SNIFF_BYTES));
  if (!format)
    return {
      ok: false,
      code: "UNSUPPORTED_MEDIA_TYPE",
      reason: "is not mp3, mp4, mpeg, mpga, m4a, wav or webm by its content",
    };
  return measureBy(format, reader);
}

function measureBy(format: AudioFormat, reader: ByteReader): Measurement {
  try {
    return judge(format, READERS[format](reader));
  } catch (error) {
    if (error instanceof UnsupportedContainer)
      return { ok: false, code: "UNSUPPORTED_MEDIA_TYPE", reason: error.reason };
    if (error instanceof InvalidAudio) return invalid(error.reason);
    // A reader's own range error means bytes that no rule covers. A failed read of the file is an internal error and is rethrown.
    if (error instanceof RangeError || error instanceof TypeError) return invalid("could not be read");
    throw error;
  }
}

const IN_PLACE_BYTES = 256;

/**
 * Measures without a worker a WAV with a complete header in these bytes: of so few bytes the longest reading takes a few dozen steps. Null: the header is
 * incomplete, or it is not a WAV.
 */
export function measureInPlace(bytes: Uint8Array): Measurement | null {
  const head = bytes.subarray(0, IN_PLACE_BYTES);
  if (head.length === 0 || sniffAudio(head) !== "wav") return null;
  try {
    return measureBy("wav", readHead(head, bytes.length));
  } catch (error) {
    if (error instanceof BeyondHead) return null;
    throw error;
  }
}

function judge(format: AudioFormat, reading: Reading): Measurement {
  const durationSeconds = Math.round(reading.durationSeconds * 1000) / 1000;
  if (!Number.isFinite(durationSeconds)) return invalid("has no readable length");
  // Compared unrounded: a recording one sample too short is refused here and not by a provider.
  if (reading.durationSeconds < MINIMUM_SECONDS - SUM_ERROR_SECONDS)
    return invalid(`is shorter than ${MINIMUM_SECONDS} s`);
  if (reading.channels < 1 || reading.sampleRate < 1) return invalid("has no readable channels or sample rate");
  return { ok: true, format, ...reading, durationSeconds };
}

const invalid = (reason: string): Measurement => ({ ok: false, code: "INVALID_AUDIO", reason });
