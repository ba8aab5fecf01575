// Silence as a WAV file: one byte per sample at 8 kHz, so that even half an hour stays small.
import { chunk, fmt, riff } from "../audio/build-audio.ts";

const RATE = 8_000;

export function wav(durationSeconds: number, channels = 1): Buffer<ArrayBuffer> {
  const samples = new Uint8Array(Math.round(durationSeconds * RATE) * channels).fill(128);
  return Buffer.from(riff(fmt({ tag: 1, channels, rate: RATE, bits: 8 }), chunk("data", samples)));
}
