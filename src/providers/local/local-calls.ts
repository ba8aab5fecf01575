// What the adapter of `kind: local` can do on this machine (`Io.local`), already bound to one call's signal and deadline.
import type { InstalledModel } from "../../local-models/installed-model.ts";
import type { EngineResult, SpeakerTurn } from "./engine/engine-protocol.ts";
import type { EngineRuntime } from "./engine/engine-runtime.ts";

export interface LocalCalls {
  state(): Promise<LocalState>;
  /**
   * Admits a recording to the queue of its model. Throws a `ProviderError`, which is always definite: nothing was paid. Over the bound of the queue it is an
   * `overloaded`, or the call waits if it may.
   */
  open(request: LocalRequest): Promise<LocalSession>;
}

/** What is on this machine. */
export interface LocalState {
  readonly isEngineInstalled: boolean;
  readonly models: readonly InstalledModel[];
}

export interface LocalRequest {
  readonly model: string;
  /** 0 for live audio, which is counted as it comes. */
  readonly audioSeconds: number;
}

/** Every operation throws a `ProviderError`. Must be released. */
export interface LocalSession {
  readonly model: InstalledModel;
  readonly runtime: EngineRuntime;
  /** Aborts when the call must stop, also while audio is awaited. */
  readonly signal: AbortSignal;
  /** `onSent` is called when all samples are sent, unless it fails before. */
  decode(piece: Samples, keyterms: readonly string[], onSent?: () => void): Promise<EngineResult>;
  /** For a streaming model. */
  listen(): Promise<LiveEars>;
  /** `samples` opens the recording from its beginning. `speakers` is null if their number is unknown. */
  diarize(samples: () => AsyncIterable<Samples>, speakers: number | null): Promise<readonly SpeakerTurn[]>;
  release(): void;
}

export interface LiveEars {
  /** Returns the utterances that ended. */
  hear(piece: Samples): Promise<readonly EngineResult[]>;
  finish(): Promise<readonly EngineResult[]>;
}

/** 16-bit mono samples. */
export interface Samples {
  readonly samples: Int16Array;
  readonly sampleRate: number;
}
