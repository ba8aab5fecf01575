// What routing knows of audio that was not measured: of a recording that is not at hand its declared facts and usual values for the rest,
// of live audio its form.
import type { AudioFormat } from "../../contract/audio-formats.ts";
import type { LiveEncoding } from "../../providers/provider.ts";
import type { MeasuredFacts } from "./audio-call.ts";

export interface DeclaredRecording {
  readonly format: AudioFormat;
  readonly durationSeconds: number;
  readonly channels: number;
  /** Null, as what follows: as is usual. */
  readonly sizeBytes: number | null;
  readonly codec: string | null;
  readonly sampleRate: number | null;
}

/** 16-bit samples of one channel. */
const PCM_BYTES_PER_SECOND = 32_000;
/** 128 kbit/s, of all channels. */
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
  const usual = format === "wav" ? PCM : { codec: CODECS[format], sampleRate: COMPRESSED_RATE };
  return {
    format,
    durationSeconds,
    channels,
    sizeBytes: sizeBytes ?? Math.max(1, Math.round(durationSeconds * bytesPerSecond)),
    codec: codec ?? usual.codec,
    sampleRate: sampleRate ?? usual.sampleRate,
  };
}

/** Its size and length show at its end. */
export function liveFacts(live: LiveEncoding): MeasuredFacts & { readonly live: LiveEncoding } {
  const format = live === "pcm_s16le" ? "wav" : "webm";
  return { format, sizeBytes: 0, durationSeconds: 0, channels: 1, live };
}
