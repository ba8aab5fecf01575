// The facts that routing uses if it cannot measure the audio: what a dry run declares of a recording, with typical values for the rest, and the encoding of
// live audio.
import type { AudioFormat } from "../../contract/transcription/audio-formats.ts";
import type { LiveEncoding } from "../../providers/provider.ts";
import type { MeasuredFacts } from "./decide-audio.ts";

export interface DeclaredRecording {
  readonly format: AudioFormat;
  readonly durationSeconds: number;
  readonly channels: number;
  /** Null, as for the two fields below: a typical value is used. */
  readonly sizeBytes: number | null;
  readonly codec: string | null;
  readonly sampleRate: number | null;
}

/** 16-bit samples of one channel. */
const PCM_BYTES_PER_SECOND = 32_000;
/** 128 kbit/s for all channels. */
const COMPRESSED_BYTES_PER_SECOND = 16_000;
const PCM = { codec: "pcm", sampleRate: 16_000 };
const COMPRESSED_RATE = 44_100;
const CODECS: Readonly<Record<Exclude<AudioFormat, "wav">, string>> = {
  mp3: "mp3",
  mp4: "aac",
  m4a: "aac",
  mpeg: "mp2",
  webm: "opus",
};

export function declaredFacts(declared: DeclaredRecording): MeasuredFacts {
  const { format, durationSeconds, channels, sizeBytes, codec, sampleRate } = declared;
  const bytesPerSecond = format === "wav" ? PCM_BYTES_PER_SECOND * channels : COMPRESSED_BYTES_PER_SECOND;
  const typical = format === "wav" ? PCM : { codec: CODECS[format], sampleRate: COMPRESSED_RATE };
  return {
    format,
    durationSeconds,
    channels,
    sizeBytes: sizeBytes ?? Math.max(1, Math.round(durationSeconds * bytesPerSecond)),
    codec: codec ?? typical.codec,
    sampleRate: sampleRate ?? typical.sampleRate,
  };
}

/** The size and length of live audio are known at its end only. */
export function liveFacts(live: LiveEncoding): MeasuredFacts & { readonly live: LiveEncoding } {
  const format = live === "pcm_s16le" ? "wav" : "webm";
  return { format, sizeBytes: 0, durationSeconds: 0, channels: 1, live };
}
