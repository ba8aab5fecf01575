// The transcripts of a recording's channels, each sent by itself, as the one that a model with channels of its own would give. Pure.
import type { ProviderSegment, ProviderTranscript, ProviderWord } from "../../providers/provider.ts";
import { type HeardPiece, mergePieces } from "../calls/merge-pieces.ts";

export interface HeardChannelPiece extends HeardPiece {
  readonly channel: number;
}

export function joinChannels(pieces: readonly HeardChannelPiece[]): ProviderTranscript {
  const channels = [...Map.groupBy(pieces, ({ channel }) => channel)].map(([channel, own]) => ofChannel(channel, own));
  const whole = mergePieces(
    // Side by side, not one after the other: their times are those of the recording already.
    channels.map((transcript) => ({ startSeconds: 0, durationSeconds: Number.POSITIVE_INFINITY, transcript })),
    channels.length,
  );
  return {
    ...whole,
    // A channel without speech says nothing about the language of the others.
    language: channels.find(({ text, language }) => text !== "" && language !== null)?.language ?? null,
    languageConfidence: null,
    receipts: [...whole.receipts, { feature: "multichannel", grade: "shown", delivered: true }],
  };
}

function ofChannel(channel: number, pieces: readonly HeardPiece[]): ProviderTranscript {
  const placed = <P extends ProviderWord>(piece: P): P => ({ ...piece, channel });
  const merged = mergePieces(pieces.map(withTimes), 1);
  return { ...merged, segments: merged.segments.map(placed), words: merged.words.map(placed) };
}

/** Of a model without times a piece is one segment, for nothing else would show which channel its text is of. */
function withTimes(piece: HeardPiece): HeardPiece {
  const { transcript, durationSeconds } = piece;
  const text = transcript.text.trim();
  if (text === "" || transcript.segments.length > 0 || transcript.words.length > 0) return piece;
  const whole: ProviderSegment = {
    text,
    start: 0,
    end: durationSeconds,
    confidence: null,
    speaker: null,
    channel: null,
  };
  return { ...piece, transcript: { ...transcript, segments: [whole] } };
}
