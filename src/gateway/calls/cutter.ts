// Decodes one recording for the targets of a run: into pieces for `split_long_audio`, or into bare samples for a model that accepts nothing else. It is decoded
// once and deleted with the run.
import { type DecodedRecording, decodeRecording } from "../../audio/decode/decoded-recording.ts";
import { holdsSpeech } from "../../audio/decode/levels.ts";
import { type DecodeWish, SPEECH_RATE } from "../../audio/decode/pcm.ts";
import { openPlainSamples } from "../../audio/decode/plain-samples.ts";
import { planCuts, type Span } from "../../audio/decode/plan-cuts.ts";
import { MEDIA } from "../../audio/media-types.ts";
import type { SpeechAudio } from "../../providers/provider.ts";
import type { Cut } from "../../routing/judge-cut.ts";
import type { CandidateRun } from "./run-outcome.ts";
import type { GatewayServices } from "../services.ts";

/** One for all: each `DOMException` captures a stack, 16 µs of a job's CPU. */
const CUTTER_ENDED = new DOMException("The call has ended.", "AbortError");

export interface Piece {
  readonly audio: SpeechAudio;
  readonly startSeconds: number;
  readonly holdsSpeech: boolean;
  /** Null, unless the channels of the recording are sent separately. */
  readonly channel: number | null;
}

export interface Cutter {
  /** Throws `Undecodable`. */
  pieces(cut: Cut): Promise<readonly Piece[]>;
  /** Throws `Undecodable`. */
  samples(): Promise<SpeechAudio>;
  [Symbol.asyncDispose](): Promise<void>;
}

type CutterRun = Pick<CandidateRun, "audio" | "signal"> & {
  readonly payer: Pick<CandidateRun["payer"], "workspaceId">;
};

export function createCutter(
  services: Pick<GatewayServices, "decoder" | "spool">,
  { audio, signal, payer }: CutterRun,
): Cutter {
  // Aborts what is still being decoded when the run ends, because its reservation was refused.
  const ended = new AbortController();
  const decode = (channels: DecodeWish["channels"]): Promise<DecodedRecording> => {
    const stop = AbortSignal.any([signal, ended.signal]);
    const turn = { signal: stop, owner: payer.workspaceId };
    return services.decoder.inTurn(turn, () => decodeRecording(services, audio, { channels, signal: stop }));
  };
  const decoded = new Map<number, Promise<DecodedRecording>>();
  const recordingOf = ({ channels }: Pick<Cut, "channels">): Promise<DecodedRecording> => {
    const recording = decoded.get(channels) ?? decode(channels === 1 ? "mono" : "all");
    decoded.set(channels, recording);
    return recording;
  };
  return {
    pieces: async (cut) => {
      const recording = await recordingOf(cut);
      const { sampleRate, channels, levels } = recording;
      const spans = planCuts(levels, sampleRate, cut.maxFrames);
      const pieceOf = (span: Span, channel: number | null): Piece => {
        const frameOf = (sample: number): number => Math.round(sample / levels.frameSamples);
        return {
          startSeconds: span.from / sampleRate,
          // The levels are measured over all channels together.
          holdsSpeech: channel === null && holdsSpeech(levels, frameOf(span.from), frameOf(span.to)),
          channel,
          audio: {
            format: "wav",
            mediaType: MEDIA.wav.mediaType,
            fileName: `audio${MEDIA.wav.extension}`,
            durationSeconds: Math.round(((span.to - span.from) / sampleRate) * 1000) / 1000,
            channels: channel === null ? channels : 1,
            codec: "pcm",
            sampleRate,
            ...recording.piece(span, channel ?? undefined),
          },
        };
      };
      if (cut.perChannel !== true) return spans.map((span) => pieceOf(span, null));
      return Array.from({ length: channels }, (_, channel) => spans.map((span) => pieceOf(span, channel))).flat();
    },
    samples: async () => {
      const mono = { ...audio, channels: 1, codec: "pcm" };
      const plain = await openPlainSamples(audio, signal);
      if (plain !== null) return { ...mono, sampleRate: SPEECH_RATE, samplesPerSecond: SPEECH_RATE, ...plain };
      const recording = await recordingOf({ channels: 1 });
      const { sampleRate } = recording;
      return { ...mono, sampleRate, samplesPerSecond: sampleRate, ...recording.samples() };
    },
    [Symbol.asyncDispose]: async () => {
      ended.abort(CUTTER_ENDED);
      for (const recording of await Promise.allSettled(decoded.values()))
        if (recording.status === "fulfilled") await recording.value.dispose();
    },
  };
}
