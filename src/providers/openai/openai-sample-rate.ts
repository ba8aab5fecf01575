// Converts live audio from 16 kHz, the sample rate of callers, to 24 kHz, the only one of OpenAI's Realtime API. A windowed cardinal sine of exactly this ratio:
// every two samples become three.
const RATIO = { in: 2, out: 3 };
/** Input samples on each side of an output sample. */
const HALF_WIDTH = 24;
/** Of half the input's sample rate. What is above 8 kHz would be an image of what is below, and is suppressed. */
const CUTOFF = 0.95;
const BYTES_PER_SAMPLE = 2;

export interface RateConverter {
  /** The output that this chunk completes. A chunk may end within a sample. */
  push(chunk: Uint8Array): Buffer;
  /** The rest, as if silence followed. */
  end(): Buffer;
}

export function createRateConverter(): RateConverter {
  const filters = Array.from({ length: RATIO.out }, (_, phase) =>
    filterOf(((phase * RATIO.in) % RATIO.out) / RATIO.out),
  );
  /** Samples from the position `offset` on. The silence before the first is included. */
  let samples: number[] = silence(HALF_WIDTH);
  let offset = -HALF_WIDTH;
  let outputs = 0;
  let half = Buffer.alloc(0);

  function produce(untilInput: number): Buffer {
    const values: number[] = [];
    for (;;) {
      const position = Math.floor((outputs * RATIO.in) / RATIO.out);
      if (position >= untilInput || position + HALF_WIDTH >= offset + samples.length) break;
      const filter = filters[outputs % RATIO.out] ?? [];
      const first = position - HALF_WIDTH + 1 - offset;
      values.push(filter.reduce((sum, weight, tap) => sum + weight * (samples[first + tap] ?? 0), 0));
      outputs += 1;
    }
    const next = Math.floor((outputs * RATIO.in) / RATIO.out) - HALF_WIDTH;
    if (next > offset) {
      samples = samples.slice(next - offset);
      offset = next;
    }
    const output = Buffer.alloc(values.length * BYTES_PER_SAMPLE);
    values.forEach((value, at) => output.writeInt16LE(clamp(value), at * BYTES_PER_SAMPLE));
    return output;
  }

  return {
    push: (chunk) => {
      const bytes = Buffer.concat([half, chunk]);
      const count = Math.floor(bytes.byteLength / BYTES_PER_SAMPLE);
      for (let at = 0; at < count; at++) samples.push(bytes.readInt16LE(at * BYTES_PER_SAMPLE));
      half = bytes.subarray(count * BYTES_PER_SAMPLE);
      return produce(Number.POSITIVE_INFINITY);
    },
    end: () => {
      const total = offset + samples.length;
      samples.push(...silence(HALF_WIDTH + 1));
      return produce(total);
    },
  };
}

function silence(length: number): number[] {
  return Array.from({ length }, () => 0);
}

/** Weights for an output sample this fraction of a sample after an input sample. They add up to 1, so that the level stays the same. */
function filterOf(fraction: number): readonly number[] {
  const weights = Array.from({ length: 2 * HALF_WIDTH }, (_, tap) => {
    const distance = tap - HALF_WIDTH + 1 - fraction;
    return CUTOFF * cardinalSine(CUTOFF * distance) * blackman(distance / HALF_WIDTH);
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

function cardinalSine(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** From -1 to 1. */
function blackman(x: number): number {
  return Math.abs(x) >= 1 ? 0 : 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);
}

function clamp(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
