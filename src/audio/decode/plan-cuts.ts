// Plans where a long recording is cut [transcription.split-place]: at the quietest place before each piece would be too long. The pieces
// tile the recording: each begins at the sample after the one before, the first at 0, the last ends with it. Pure.
import type { Levels } from "./levels.ts";

/** Samples per channel; `to` is the first that is not in it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How far back from the longest possible piece a pause is looked for. */
const SEARCH_SECONDS = 60;
/** Of 20 ms each: a pause between sentences lasts so long, one between words does not. */
const PAUSE_FRAMES = 15;
/** No piece is shorter, for providers refuse crumbs. */
const LEAST_SECONDS = 1;

export function planCuts(levels: Levels, sampleRate: number, maxSamples: number): readonly Span[] {
  const { samples } = levels;
  const spans: Span[] = [];
  for (let from = 0; from < samples; ) {
    const to = samples - from <= maxSamples ? samples : endOfPiece(levels, sampleRate, maxSamples, from);
    spans.push({ from, to });
    from = to;
  }
  assertTiles(spans, samples, maxSamples);
  return spans;
}

function endOfPiece(levels: Levels, sampleRate: number, maxSamples: number, from: number): number {
  const half = Math.floor(maxSamples / 2);
  // More than `maxSamples` is left, so what remains behind either bound is no crumb and something is before it.
  const latest = Math.min(from + maxSamples, levels.samples - Math.min(LEAST_SECONDS * sampleRate, half));
  const earliest = Math.max(from + half, latest - SEARCH_SECONDS * sampleRate);
  return quietestPlace(levels, earliest, latest);
}

/** The middle of the quietest pause; of equally quiet ones the last, which makes the fewest pieces. */
function quietestPlace({ frameSamples, db }: Levels, earliest: number, latest: number): number {
  const first = Math.ceil(earliest / frameSamples);
  const last = Math.floor(latest / frameSamples);
  const width = Math.max(1, Math.min(PAUSE_FRAMES, last - first));
  let place = latest;
  let quietest = Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let frame = first; frame < last; frame++) {
    sum += db[frame] ?? 0;
    const begin = frame - width + 1;
    if (begin > first) sum -= db[begin - 1] ?? 0;
    // Sums of the same levels in another order differ in the last digits.
    if (begin >= first && sum <= quietest + 1e-6) {
      quietest = Math.min(quietest, sum);
      place = (begin + Math.floor(width / 2)) * frameSamples;
    }
  }
  return Math.min(latest, Math.max(earliest, place));
}

/** A hole or an overlap would be passed off as a whole transcript: nothing is sent then. */
function assertTiles(spans: readonly Span[], samples: number, maxSamples: number): void {
  let at = 0;
  for (const { from, to } of spans) {
    if (from !== at || to <= from || to - from > maxSamples) throw new Error(`a cut at ${from} to ${to} does not tile`);
    at = to;
  }
  if (at !== samples) throw new Error(`the pieces end at ${at} of ${samples} samples`);
}
