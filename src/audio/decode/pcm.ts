// Types of decoding: a recording, the requested output, and its samples [measuring.decoder].
import type { AudioFormat } from "../../contract/transcription/audio-formats.ts";
import type { OpenBytes } from "../../lib/open-bytes.ts";

/** A recording with its measured properties. */
export interface DecodableAudio {
  readonly format: AudioFormat;
  readonly codec?: string;
  readonly sampleRate?: number;
  readonly channels: number;
  readonly durationSeconds: number;
}

export interface EncodedAudio extends DecodableAudio {
  readonly open: OpenBytes;
}

export interface DecodeWish {
  /** Mixed to one channel, or all channels separately. */
  readonly channels: "mono" | "all";
  readonly signal: AbortSignal;
}

/** Interleaved samples of all channels. A chunk contains whole frames, and its reader may keep it. */
export interface Pcm {
  readonly sampleRate: number;
  readonly channels: number;
  readonly chunks: AsyncIterable<Int16Array>;
}

/** The recording cannot be decoded. The reason is this module's own and contains no output of a decoder. */
export class Undecodable extends Error {
  readonly reason: string;

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the audio cannot be decoded: ${reason}`, options);
    this.name = "Undecodable";
    this.reason = reason;
  }
}

/** The rate that speech models are trained on. A higher one only makes more and larger pieces. */
export const SPEECH_RATE = 16_000;
