// Doubts an empty transcript of audible speech: one more target is called. If it returns no text either, or there is none, the empty answer is returned with a
// warning [transcription.empty-doubted] [transcription.empty-believed].
import { holdsSpeech, measureLevels } from "../../audio/decode/levels.ts";
import { Undecodable } from "../../audio/decode/pcm.ts";
import type { Warning } from "../../contract/transcription/transcription-envelope.ts";
import type { CandidateRun } from "../calls/run-outcome.ts";
import type { GatewayServices } from "../services.ts";
import type { ProviderTranscript } from "../../providers/provider.ts";

export function isEmpty({ text, words, segments }: ProviderTranscript): boolean {
  const isBlank = (piece: { readonly text: string }): boolean => piece.text.trim() === "";
  return isBlank({ text }) && words.every(isBlank) && segments.every(isBlank);
}

type HeardRun = Pick<CandidateRun, "audio" | "signal"> & {
  readonly payer: Pick<CandidateRun["payer"], "requestId" | "workspaceId">;
};

/** Decodes on the first call only, because almost no answer is empty. A recording that cannot be decoded here is not doubted: the answer is paid for. */
export function createSpeechDetector(
  { decoder, logger }: Pick<GatewayServices, "decoder" | "logger">,
  { audio, signal, payer }: HeardRun,
): () => Promise<boolean> {
  let heard: Promise<boolean> | null = null;
  const listen = async (): Promise<boolean> => {
    if (decoder.rateOf(audio) === null) return false;
    try {
      const measure = () => measureLevels(decoder.decode(audio, { channels: "mono", signal }));
      return holdsSpeech(await decoder.inTurn({ signal, owner: payer.workspaceId }, measure));
    } catch (error) {
      if (!(error instanceof Undecodable) && !signal.aborted)
        logger.error({ task: "detect speech", request_id: payer.requestId, err: error });
      return false;
    }
  };
  return () => (heard ??= listen());
}

export const EMPTY_TRANSCRIPT: Warning = {
  code: "EMPTY_TRANSCRIPT",
  message: "The audio seems to contain speech, but the provider returned no text for it or for a part of it.",
  param: null,
  details: null,
};
