// The part of sherpa-onnx-node that is used, with types of our own, because the package has none. It is loaded in the child process only: a crash of native
// code ends its process.
import { z } from "zod";

export interface Waveform {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

export interface OfflineStream {
  acceptWaveform(wave: Waveform): void;
}

export interface OfflineRecognizer {
  createStream(hotwords?: string): OfflineStream;
  decodeAsync(stream: OfflineStream): Promise<unknown>;
}

export interface OnlineStream extends OfflineStream {
  inputFinished(): void;
}

export interface OnlineRecognizer {
  createStream(): OnlineStream;
  isReady(stream: OnlineStream): boolean;
  decode(stream: OnlineStream): void;
  isEndpoint(stream: OnlineStream): boolean;
  reset(stream: OnlineStream): void;
  getResult(stream: OnlineStream): unknown;
}

export interface SpeakerDiarization {
  readonly sampleRate: number;
  process(samples: Float32Array): unknown;
  setConfig(config: { readonly clustering: { readonly numClusters: number; readonly threshold: number } }): void;
}

export interface Sherpa {
  readonly OfflineRecognizer: { createAsync(config: object): Promise<OfflineRecognizer> };
  readonly OnlineRecognizer: new (config: object) => OnlineRecognizer;
  readonly OfflineSpeakerDiarization: new (config: object) => SpeakerDiarization;
}

/** Throws if the package is missing, or has no build for this machine. */
export async function loadSherpa(): Promise<Sherpa> {
  // A variable, because the compiler would look for the types of a literal name.
  const name = SHERPA_PACKAGE;
  const loaded = (await import(name)) as { readonly default: Sherpa };
  return loaded.default;
}

export const SHERPA_PACKAGE = "sherpa-onnx-node";

/** Lists that a model does not have are missing or empty. */
const numbers = z.array(z.number()).catch([]);

/** The result of a decode, which has other fields for other kinds of models. */
export const sherpaResult = z.looseObject({
  text: z.string().catch(""),
  tokens: z.array(z.string()).catch([]),
  timestamps: numbers,
  durations: numbers,
  ys_log_probs: numbers,
  ys_probs: numbers,
  lang: z.string().catch(""),
  start_time: z.number().catch(0),
});

export const sherpaTurns = z.array(z.looseObject({ start: z.number(), end: z.number(), speaker: z.int() }));
