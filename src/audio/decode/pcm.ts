// The types of decoding: a recording, what is requested of it, and its samples [measuring.decoder].
import type { AudioFormat } from "../../contract/audio-formats.ts";

/** A recording as it was measured. */
export interface DecodableAudio {
  readonly format: AudioFormat;
  readonly codec?: string;
  readonly sampleRate?: number;
  readonly channels: number;
  readonly durationSeconds: number;
}

export interface EncodedAudio extends DecodableAudio {
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface DecodeWish {
  /** One, mixed from all; or every channel on its own. */
  readonly channels: "mono" | "all";
  readonly signal: AbortSignal;
}

/** Samples of all channels side by side; a chunk holds whole frames, and is the reader's. */
export interface Pcm {
  readonly sampleRate: number;
  readonly channels: number;
  readonly chunks: AsyncIterable<Int16Array>;
}

/** The recording cannot be decoded, whatever was tried. Its reason is ours; nothing a decoder wrote. */
export class Undecodable extends Error {
  readonly reason: string;

  constructor(reason: string, options: { readonly cause?: unknown } = {}) {
    super(`the audio cannot be decoded: ${reason}`, options);
    this.name = "Undecodable";
    this.reason = reason;
  }
}

/** What speech models are made for; more samples a second would only make more and larger pieces. */
export const SPEECH_RATE = 16_000;
