// Plans where a long recording is cut [transcription.split-place]: at the quietest place before each piece would be too long. The pieces cover the recording
// without gap or overlap. Pure.
import type { Levels } from "./levels.ts";

/** Samples per channel, from `from` up to but not including `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How far before the longest possible piece a pause is searched for. */
const SEARCH_SECONDS = 60;
/** Frames of 20 ms. A pause between sentences lasts this long, one between words does not. */
const PAUSE_FRAMES = 15;
/** Minimum length of a piece, because providers refuse very short ones. */
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
  // More than `maxSamples` remain, so both the next piece and the one after it keep the minimum length.
  const latest = Math.min(from + maxSamples, levels.samples - Math.min(LEAST_SECONDS * sampleRate, half));
  const earliest = Math.max(from + half, latest - SEARCH_SECONDS * sampleRate);
  return quietestPlace(levels, earliest, latest);
}

/** The middle of the quietest pause. Of equally quiet ones the last, which gives the fewest pieces. */
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

/** With a gap or an overlap the merged transcript would be wrong without notice, so nothing is sent. */
function assertTiles(spans: readonly Span[], samples: number, maxSamples: number): void {
  let at = 0;
  for (const { from, to } of spans) {
    if (from !== at || to <= from || to - from > maxSamples) throw new Error(`a cut at ${from} to ${to} does not tile`);
    at = to;
  }
  if (at !== samples) throw new Error(`the pieces end at ${at} of ${samples} samples`);
}
