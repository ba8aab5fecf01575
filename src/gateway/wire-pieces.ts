// A word or a segment as callers get it (contract 3, "Envelope"): inside the audio, to the millisecond, its speaker S1, S2… by first
// appearance. Pure.
import type { Segment, Word } from "../contract/transcription.ts";
import type { ProviderSegment, ProviderWord } from "../providers/provider.ts";
import type { Requirements } from "../routing/required-features.ts";

/** A few milliseconds beyond the end are rounding, not news. */
const CLAMP_TOLERANCE_SECONDS = 0.05;

export function isOutside(durationSeconds: number): (piece: ProviderWord) => boolean {
  return ({ start, end }) => start < 0 || Math.max(start, end) > durationSeconds + CLAMP_TOLERANCE_SECONDS;
}

export function clamped(durationSeconds: number): <P extends ProviderWord>(piece: P) => P {
  return (piece) => {
    const start = Math.min(Math.max(0, piece.start), durationSeconds);
    return { ...piece, start, end: Math.min(Math.max(start, piece.end), durationSeconds) };
  };
}

/** By start, then channel: negative where the first comes before the other. */
export function byStart(one: ProviderWord, other: ProviderWord): number {
  return one.start - other.start || (one.channel ?? 0) - (other.channel ?? 0);
}

export interface Labels {
  /** In the order in which they speak. */
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
