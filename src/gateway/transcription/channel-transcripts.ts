// Joins the transcripts of separately sent channels into one, as a model with multichannel support would return it. Pure.
import type { ProviderSegment, ProviderTranscript, ProviderWord } from "../../providers/provider.ts";
import { type HeardPiece, mergePieces } from "../calls/merge-pieces.ts";

export interface HeardChannelPiece extends HeardPiece {
  readonly channel: number;
}

export function joinChannels(pieces: readonly HeardChannelPiece[]): ProviderTranscript {
  const channels = [...Map.groupBy(pieces, ({ channel }) => channel)].map(([channel, own]) => ofChannel(channel, own));
  const whole = mergePieces(
    // Merged in parallel and not one after the other: their times are relative to the recording already.
    channels.map((transcript) => ({ startSeconds: 0, durationSeconds: Number.POSITIVE_INFINITY, transcript })),
    channels.length,
  );
  return {
    ...whole,
    // A channel without speech has no reliable language.
    language: channels.find(({ text, language }) => text !== "" && language !== null)?.language ?? null,
    languageConfidence: null,
    receipts: [...whole.receipts, { feature: "multichannel", grade: "shown", delivered: true }],
  };
}

function ofChannel(channel: number, pieces: readonly HeardPiece[]): ProviderTranscript {
  const withChannel = <P extends ProviderWord>(piece: P): P => ({ ...piece, channel });
  const merged = mergePieces(pieces.map(withTimes), 1);
  return { ...merged, segments: merged.segments.map(withChannel), words: merged.words.map(withChannel) };
}

/** If a model returns no times, the piece becomes one segment, because nothing else would show the channel of its text. */
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
