// Formats words and segments as callers see them: times within the audio, in milliseconds, speakers S1, S2… by first appearance [transcription.times]
// [transcription.speakers]. Pure.
import type { Segment, Word } from "../../contract/transcription/transcription-envelope.ts";
import type { ProviderSegment, ProviderWord } from "../../providers/provider.ts";
import type { Requirements } from "../../routing/required-features.ts";

/** A few milliseconds beyond the end, or before the previous piece, are rounding and need no warning. */
const CLAMP_TOLERANCE_SECONDS = 0.05;

/**
 * Moves the times of each piece into range and keeps the provider's order: within the audio, the end not before the start, the start not before the previous
 * start of the channel. A time that jumps back is raised, never sorted before the others.
 */
export function createTimeline(durationSeconds: number): <P extends ProviderWord>(piece: P) => P {
  const latest = new Map<number | null, number>();
  return (piece) => {
    const start = startIn(latest, piece, durationSeconds);
    return { ...piece, start, end: endAfter(start, piece, durationSeconds) };
  };
}

/** Whether the timeline moves any piece by more than rounding. */
export function needShift(pieces: readonly ProviderWord[], durationSeconds: number): boolean {
  const latest = new Map<number | null, number>();
  return pieces.some((piece) => {
    const start = startIn(latest, piece, durationSeconds);
    const end = endAfter(start, piece, durationSeconds);
    return Math.max(Math.abs(piece.start - start), Math.abs(piece.end - end)) > CLAMP_TOLERANCE_SECONDS;
  });
}

function startIn(latest: Map<number | null, number>, { channel, start }: ProviderWord, most: number): number {
  const placed = Math.min(Math.max(latest.get(channel) ?? 0, start), most);
  latest.set(channel, placed);
  return placed;
}

const endAfter = (start: number, { end }: ProviderWord, most: number): number => Math.min(Math.max(start, end), most);

/** Compares by start, then by channel. */
export function byStart(one: ProviderWord, other: ProviderWord): number {
  return one.start - other.start || (one.channel ?? 0) - (other.channel ?? 0);
}

export interface Labels {
  /** Assigns the label of the speaker. Call it in the order in which they speak. */
  readonly hear: (piece: ProviderWord) => void;
  readonly word: (piece: ProviderWord) => Word;
  readonly segment: (piece: ProviderSegment, id: number) => Segment;
}

export function createLabels(wanted: Requirements): Labels {
  const isDiarized = wanted.features.includes("diarization");
  const multichannel = wanted.features.includes("multichannel");
  // Providers number speakers per channel: speaker 0 left and speaker 0 right are two people.
  const keyOf = (piece: ProviderWord): string =>
    multichannel ? `${piece.channel}/${piece.speaker}` : `${piece.speaker}`;
  const names = new Map<string, string>();
  const timesOf = (piece: ProviderWord) => ({ start: round3(piece.start), end: round3(piece.end) });
  const labelsOf = (piece: ProviderWord) => ({
    confidence: piece.confidence === null ? null : round3(Math.min(1, Math.max(0, piece.confidence))),
    speaker: piece.speaker === null ? null : (names.get(keyOf(piece)) ?? null),
    channel: piece.channel,
  });
  return {
    hear: (piece) => {
      if (isDiarized && piece.speaker !== null && !names.has(keyOf(piece)))
        names.set(keyOf(piece), `S${names.size + 1}`);
    },
    word: (piece) => ({ text: piece.text.trim(), ...timesOf(piece), ...labelsOf(piece) }),
    segment: (piece, id) => ({ id, ...timesOf(piece), text: piece.text.trim(), ...labelsOf(piece) }),
  };
}

function round3(value: number): number {
  return Math.round(value * 1000) / 1000;
}
