// Sounds whose every sample a test knows, and the WAV around them.
import { chunk, fmt, riff } from "./build-audio.ts";

export const RATE = 16_000;

export function pcmWav(samples: Int16Array, rate = RATE, channels = 1): Uint8Array {
  const body = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return riff(fmt({ tag: 1, channels, rate, bits: 16 }), chunk("data", body));
}

export const silence = (seconds: number, rate = RATE): Int16Array => new Int16Array(Math.round(seconds * rate));

/** Alternating loud and quiet stretches of a voiced sound: what speech is to a measure of energy. */
export function syllables(seconds: number, rate = RATE): Int16Array {
  return Int16Array.from({ length: Math.round(seconds * rate) }, (_, index) => {
    const time = index / rate;
    const isLoud = time % 0.5 < 0.3;
    return Math.round((isLoud ? 8000 : 20) * Math.sin(2 * Math.PI * 220 * time));
  });
}

export function tone(seconds: number, hertz: number, amplitude = 8000): Int16Array {
  return Int16Array.from({ length: Math.round(seconds * RATE) }, (_, index) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * index) / RATE)),
  );
}

/** The same on every run. */
export function hiss(seconds: number, amplitude = 3000): Int16Array {
  let state = 7;
  return Int16Array.from({ length: Math.round(seconds * RATE) }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.round((state / 2 ** 31 - 1) * amplitude);
  });
}

export function inOrder(...parts: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
