// Streams a transcript, of a file or live, piece by piece as the provider returns it, and no faster than the caller reads [transcription.stream-whole].
import type { Segment } from "../../contract/transcription/transcription-envelope.ts";
import type { Channel } from "../../lib/concurrency/channel.ts";
import { ProviderError } from "../../providers/io.ts";
import type { ProviderSegment } from "../../providers/provider.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { Execute } from "../calls/attempt.ts";
import { byStart, createLabels, createTimeline } from "./wire-pieces.ts";

export type TranscriptPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "segment"; readonly segment: Segment };

/** Executes a call through the provider's stream. */
export function streamSegments(
  wanted: Requirements,
  durationSeconds: number,
  pieces: Pick<Channel<TranscriptPiece>, "send">,
): Execute {
  return async ({ provider, audio }, plan, openIo) => {
    if (provider.stream === undefined) throw new Error(`${provider.kind} declares streaming and has none`);
    const emit = createSegmentEmitter(wanted, durationSeconds);
    for await (const event of provider.stream(plan, audio, openIo())) {
      if (event.type === "end") return event.raw;
      const piece = event.type === "text" ? ({ kind: "text", text: event.text } as const) : emit(event.segment);
      if (piece !== null) await pieces.send(piece);
    }
    throw new ProviderError("bad_reply", { reason: "no_finish" });
  };
}

/**
 * Emits each segment as the finished transcript will contain it, judged by the segments so far. A segment that starts before one of another channel is only in
 * the whole transcript, because its position and its speaker's label depend on earlier segments.
 */
export function createSegmentEmitter(
  wanted: Requirements,
  durationSeconds: number,
): (segment: ProviderSegment) => Extract<TranscriptPiece, { kind: "segment" }> | null {
  const place = createTimeline(durationSeconds);
  const labels = createLabels(wanted);
  let last: ProviderSegment | null = null;
  let count = 0;
  return (segment) => {
    const piece = place(segment);
    if (!wanted.wantsSegments || piece.text.trim() === "" || (last !== null && byStart(piece, last) < 0)) return null;
    last = piece;
    labels.hear(piece);
    return { kind: "segment", segment: labels.segment(piece, count++) };
  };
}
