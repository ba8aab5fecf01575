// The messages between this process and the child process that has one model loaded (`engine-process.ts`, `engine-main.ts`).
import type { EngineConfig } from "./engine-config.ts";

/** One operation at a time. Orders without an `id` have no answer and are accepted during an operation, too. */
export type EngineOrder =
  | { readonly kind: "load"; readonly id: number; readonly config: EngineConfig }
  /** Prepares a piece for its `decode`. */
  | {
      readonly kind: "piece";
      readonly piece: number;
      /** So many samples are in the pipe. */
      readonly sampleCount: number;
      readonly sampleRate: number;
      readonly keyterms: readonly string[];
    }
  | { readonly kind: "decode"; readonly id: number; readonly piece: number }
  /** The piece is not decoded. */
  | { readonly kind: "discard"; readonly piece: number }
  /** A stream of live audio, for a streaming model. */
  | { readonly kind: "open"; readonly id: number; readonly stream: number }
  | {
      readonly kind: "feed";
      readonly id: number;
      readonly stream: number;
      readonly samples: Int16Array;
      readonly sampleRate: number;
    }
  | { readonly kind: "finish"; readonly id: number; readonly stream: number }
  | { readonly kind: "drop"; readonly stream: number }
  /** Collects samples for `diarize`. */
  | { readonly kind: "part"; readonly samples: Int16Array }
  | { readonly kind: "diarize"; readonly id: number; readonly speakers: number | null };

export type EngineReport =
  /** Sent every second while the event loop of the child runs. */
  | { readonly kind: "alive"; readonly residentBytes: number }
  | { readonly kind: "done"; readonly id: number; readonly value: EngineValue }
  /** The reason is a code of this module and contains no text of the engine. `detail` goes to the log only. */
  | { readonly kind: "failed"; readonly id: number; readonly reason: EngineFault; readonly detail: string };

/** `engine_not_installed`: the package is missing or does not load here. `load_failed`: the model's files. */
export type EngineFault = "engine_not_installed" | "load_failed" | "decode_failed";

export type EngineValue =
  | { readonly kind: "loaded" }
  | { readonly kind: "recognised"; readonly results: readonly EngineResult[] }
  | { readonly kind: "diarized"; readonly turns: readonly SpeakerTurn[] };

/** What the engine returns for one piece, or for one utterance of a stream. */
export interface EngineResult {
  readonly text: string;
  readonly tokens: readonly string[];
  /** Start of each token in seconds. Empty: the model has no times. */
  readonly timestamps: readonly number[];
  /** Length of each token. Empty: unknown. */
  readonly durations: readonly number[];
  /** Natural logarithm of each token's probability. Empty: unknown. */
  readonly logProbs: readonly number[];
  /** BCP 47, or empty. */
  readonly language: string;
  /** Where the utterance starts in the stream, in seconds. 0 for a piece. */
  readonly startSeconds: number;
}

export interface SpeakerTurn {
  readonly start: number;
  readonly end: number;
  readonly speaker: number;
}

export const HEARTBEAT_MS = 1_000;

/**
 * The child's file descriptor from which it reads the samples of a `piece`. A message would copy them twice, into memory that only the garbage collector
 * frees: a minute of audio made it collect the whole heap of the gateway after five requests, for 40 ms and more.
 */
export const SAMPLES_FD = 4;
