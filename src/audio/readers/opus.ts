// Computes the duration of an Opus packet from its first two bytes (RFC 6716 section 3.1). Pure.

const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/** At most 0.12 s, the longest packet that exists. */
export function opusPacketSeconds(first: number, second: number): number {
  const configuration = first >>> 3;
  const frameMs =
    (configuration < 12
      ? SILK_MS[configuration & 3]
      : configuration < 16
        ? HYBRID_MS[configuration & 1]
        : CELT_MS[configuration & 3]) ?? 0;
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2;
  return Math.min(frames * frameMs, 120) / 1000;
}
