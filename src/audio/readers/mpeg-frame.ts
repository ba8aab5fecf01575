// Parses the 4-byte header of an MPEG audio frame (MPEG 1, 2 and 2.5, layers I to III). Pure. Shared by format detection and measuring.

export type FrameHeader = {
  readonly layer: 1 | 2 | 3;
  readonly version: 1 | 2 | 2.5;
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  readonly samples: number;
  readonly sizeBytes: number;
};

const KILOBITS: Readonly<Record<string, readonly number[]>> = {
  "1/1": [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  "1/2": [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  "1/3": [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  "2/1": [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  "2/2": [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  "2/3": [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** A table of all 2^21 header bit patterns would waste memory, so the ~6,000 that occur in practice are cached. */
const cache = new Map<number, FrameHeader | null>();

/** Null: not a frame header, or one of unknown length (free format). */
export function parseFrameHeader(word: number): FrameHeader | null {
  if ((word & 0xffe00000) >>> 0 !== 0xffe00000) return null;
  const key = word & 0x1fffc0;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const header = decodeHeader(word);
  if (cache.size < 20_000) cache.set(key, header);
  return header;
}

function decodeHeader(word: number): FrameHeader | null {
  const version = ([2.5, 0, 2, 1] as const)[(word >>> 19) & 3];
  const layer = ([0, 3, 2, 1] as const)[(word >>> 17) & 3];
  if (!version || !layer) return null;
  const kilobits = KILOBITS[`${version === 1 ? 1 : 2}/${layer}`]?.[((word >>> 12) & 15) - 1];
  const baseRate = SAMPLE_RATES[(word >>> 10) & 3];
  if (kilobits === undefined || baseRate === undefined) return null;
  const sampleRate = version === 1 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const padding = (word >>> 9) & 1;
  const samples = layer === 1 ? 384 : layer === 2 || version === 1 ? 1152 : 576;
  const sizeBytes =
    layer === 1
      ? (Math.floor((12_000 * kilobits) / sampleRate) + padding) * 4
      : Math.floor(((samples / 8) * 1000 * kilobits) / sampleRate) + padding;
  return { layer, version, sampleRate, channels: ((word >>> 6) & 3) === 3 ? 1 : 2, samples, sizeBytes };
}

/** Compares the fields that cannot differ between neighbouring frames of one encoder run. */
const sameStream = (a: FrameHeader, b: FrameHeader): boolean =>
  a.layer === b.layer && a.version === b.version && a.sampleRate === b.sampleRate;

/** A sync word with version and layer, but with a reserved bit rate or sample rate, or free format: MPEG audio that cannot be measured. */
export function isUnusableHeader(word: number): boolean {
  if ((word & 0xffe00000) >>> 0 !== 0xffe00000) return false;
  if (((word >>> 19) & 3) === 1 || ((word >>> 17) & 3) === 0) return false;
  const bitRate = (word >>> 12) & 15;
  return bitRate === 0 || bitRate === 15 || ((word >>> 10) & 3) === 3;
}

/** 3 consecutive consistent headers. Random data matches about once in 10^10 positions. `word` reads big-endian, or returns null past the end. */
export function threeFramesAt(word: (offset: number) => number | null, offset: number): FrameHeader | null {
  const first = headerAt(word, offset);
  if (!first) return null;
  const second = headerAt(word, offset + first.sizeBytes);
  if (!second || !sameStream(first, second)) return null;
  const third = headerAt(word, offset + first.sizeBytes + second.sizeBytes);
  return third && sameStream(first, third) ? first : null;
}

function headerAt(word: (offset: number) => number | null, offset: number): FrameHeader | null {
  const value = word(offset);
  return value === null ? null : parseFrameHeader(value);
}
