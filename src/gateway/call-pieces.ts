// One target asked for a recording in pieces, one after the other (contract 10, `split_long_audio`). It is one call in all that counts:
// one reservation, one outcome. The first piece that fails ends it, so that no hole is ever passed off as a whole.
import type { Preference } from "../contract/features.ts";
import type { StreamingIo } from "../providers/io.ts";
import { type CallResult, type CallTarget, callTarget } from "./attempt.ts";
import type { Piece } from "./cutter.ts";
import { joinChannels } from "./channel-transcripts.ts";
import { isEmpty } from "./empty-guard.ts";
import { type HeardPiece, mergePieces } from "./merge-pieces.ts";

export type PiecesResult =
  | (Extract<CallResult, { ok: true }> & {
      /** A piece came back without a word, though somebody speaks in it. */
      readonly missedSpeech: boolean;
    })
  | Extract<CallResult, { ok: false }>;

/**
 * What a failure means is the failed piece's (contract 1): unknown in one is unknown for the whole, and nothing of it is sent
 * again. A definite one lets the next target be tried, though pieces before it were paid: they are the operator's cost, for the
 * app pays only for what it is given.
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
