// Sends a recording to one target in pieces, one after the other, as one call with one reservation and one outcome [transcription.split]. The first piece that
// fails ends the call, so that an incomplete transcript is never returned as a whole.
import type { Preference } from "../../contract/features.ts";
import type { StreamingIo } from "../../providers/io.ts";
import { type CallResult, type CallTarget, callTarget } from "./attempt.ts";
import type { Piece } from "./cutter.ts";
import { joinChannels } from "../transcription/channel-transcripts.ts";
import { isEmpty } from "../transcription/empty-guard.ts";
import { type HeardPiece, mergePieces } from "./merge-pieces.ts";

export type PiecesResult =
  | (Extract<CallResult, { ok: true }> & {
      /** The transcript of a piece with audible speech was empty. */
      readonly missedSpeech: boolean;
    })
  | Extract<CallResult, { ok: false }>;

/**
 * The failure of a piece is the failure of the call: an unknown outcome is unknown for the whole, and nothing is sent again. After a definite failure the next
 * target is tried although earlier pieces were paid: the operator bears them, because the app pays only for what it receives [transcription.split-failure].
 */
export async function callPieces(
  call: Omit<CallTarget, "audio">,
  pieces: readonly Piece[],
  openIo: (piece: Piece) => StreamingIo,
): Promise<PiecesResult> {
  const heardPieces: (HeardPiece & { readonly channel: number | null })[] = [];
  const dropped = new Set<Preference>();
  let missedSpeech = false;
  for (const piece of pieces) {
    const result = await callTarget({ ...call, audio: piece.audio }, () => openIo(piece));
    if (!result.ok) return result;
    for (const preference of result.dropped) dropped.add(preference);
    if (piece.holdsSpeech && isEmpty(result.transcript)) missedSpeech = true;
    const { startSeconds, audio, channel } = piece;
    heardPieces.push({ startSeconds, durationSeconds: audio.durationSeconds, transcript: result.transcript, channel });
  }
  const channelPieces = heardPieces.flatMap(({ channel, ...piece }) =>
    channel === null ? [] : [{ ...piece, channel }],
  );
  const channels = pieces[0]?.audio.channels ?? 1;
  const transcript = channelPieces.length > 0 ? joinChannels(channelPieces) : mergePieces(heardPieces, channels);
  return { ok: true, transcript, dropped: [...dropped], missedSpeech };
}
