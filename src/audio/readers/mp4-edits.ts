// Reads the edit list of an mp4 track: the ranges of it that a player plays.
import type { ByteReader } from "./byte-reader.ts";
import { type BoxTree, countEntries, findBox } from "./mp4-boxes.ts";

/** A range of the track in its clock. `seconds` 0 means up to its end. */
export type Edit = { readonly start: number; readonly seconds: number };

export type Played = {
  readonly seconds: number;
  /** More is skipped, or repeated, than the silence that encoders add. */
  readonly isNoticeable: boolean;
};

/** 2,112 samples of priming at 8 kHz are 0.264 s, and an encoder fills its last packet with less than it primes. */
const ENCODER_SILENCE_SECONDS = 0.3;

/** Empty edits are delays without sound and are skipped. */
export function readEdits(
  reader: ByteReader,
  trak: BoxTree,
  clock: { readonly track: number; readonly movie: number },
): readonly Edit[] {
  const box = findBox(trak, "edts", "elst");
  if (!box) return [];
  const isLong = reader.u8(box.start) === 1;
  const entryBytes = isLong ? 20 : 12;
  const count = countEntries(reader, box, 4, entryBytes);
  const edits: Edit[] = [];
  for (let index = 0; index < count; index++) {
    const at = box.start + 8 + index * entryBytes;
    const duration = isLong ? reader.u32(at) * 2 ** 32 + reader.u32(at + 4) : reader.u32(at);
    const mediaHigh = isLong ? reader.u32(at + 8) : 0;
    const mediaTime = isLong ? mediaHigh * 2 ** 32 + reader.u32(at + 12) : reader.u32(at + 4);
    const isEmpty = isLong ? mediaHigh === 0xffffffff : mediaTime === 0xffffffff;
    if (!isEmpty) edits.push({ start: mediaTime / clock.track, seconds: clock.movie > 0 ? duration / clock.movie : 0 });
  }
  return edits;
}

/** `seconds` is the duration of the track's packets by codec, `clockSeconds` by the clock of the edit list. */
export function applyEdits(
  edits: readonly Edit[],
  track: {
    readonly seconds: number;
    readonly clockSeconds: number;
    /** AAC primes with at least one packet: an edit that skips less was made by a person. */
    readonly leastPrimingSeconds: number;
  },
): Played {
  const { seconds, clockSeconds, leastPrimingSeconds } = track;
  if (edits.length === 0 || clockSeconds <= 0) return { seconds, isNoticeable: false };
  const stretches = edits.map((edit) => ({
    start: Math.min(edit.start, clockSeconds),
    end: edit.seconds === 0 ? clockSeconds : Math.min(edit.start + edit.seconds, clockSeconds),
  }));
  const playedSeconds = stretches.reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0);
  const [first] = stretches;
  const isEncoderSilence =
    stretches.length === 1 &&
    first !== undefined &&
    first.start <= ENCODER_SILENCE_SECONDS &&
    (first.start === 0 || first.start >= leastPrimingSeconds) &&
    clockSeconds - first.end <= ENCODER_SILENCE_SECONDS;
  // Converted to codec time: a clock that runs at another speed stretches neither sound nor edit.
  return { seconds: playedSeconds * (seconds / clockSeconds), isNoticeable: !isEncoderSilence };
}
