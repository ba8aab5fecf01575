// Sends a recording to one target in pieces, one after the other [transcription.split]. They count as one call: one reservation, one
// outcome. The first piece that fails ends it, so that an incomplete transcript is never returned as a whole.
import type { Preference } from "../../contract/features.ts";
import type { StreamingIo } from "../../providers/io.ts";
import { type CallResult, type CallTarget, callTarget } from "./attempt.ts";
import type { Piece } from "./cutter.ts";
import { joinChannels } from "../transcription/channel-transcripts.ts";
import { isEmpty } from "../transcription/empty-guard.ts";
import { type HeardPiece, mergePieces } from "./merge-pieces.ts";

export type PiecesResult =
  | (Extract<CallResult, { ok: true }> & {
      /** A piece came back without a word, though somebody speaks in it. */
      readonly missedSpeech: boolean;
    })
  | Extract<CallResult, { ok: false }>;

/**
 * A failure means what it means for the failed piece: unknown in one is unknown for the whole, and nothing of it is sent again. After a
 * definite one the next target is tried, although earlier pieces were paid: they are the operator's cost, because the app pays only for
 * what it receives [transcription.split-failure].
 */
export async function callPieces(
  call: Omit<CallTarget, "audio">,
  pieces: readonly Piece[],
  openIo: (piece: Piece) => StreamingIo,
): Promise<PiecesResult> {
  const heard: (HeardPiece & { readonly channel: number | null })[] = [];
  const dropped = new Set<Preference>();
  let missedSpeech = false;
  for (const piece of pieces) {
    const result = await callTarget({ ...call, audio: piece.audio }, () => openIo(piece));
    if (!result.ok) return result;
    for (const preference of result.dropped) dropped.add(preference);
    if (piece.holdsSpeech && isEmpty(result.transcript)) missedSpeech = true;
    const { startSeconds, audio, channel } = piece;
    heard.push({ startSeconds, durationSeconds: audio.durationSeconds, transcript: result.transcript, channel });
  }
  const ofChannels = heard.flatMap(({ channel, ...piece }) => (channel === null ? [] : [{ ...piece, channel }]));
  const channels = pieces[0]?.audio.channels ?? 1;
  const transcript = ofChannels.length > 0 ? joinChannels(ofChannels) : mergePieces(heard, channels);
  return { ok: true, transcript, dropped: [...dropped], missedSpeech };
}
