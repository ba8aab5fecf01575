// A speech model that runs on this machine, as data: its files, the engine that loads them, and what it can do. The manifest lists the models that can be pulled.

export interface ModelSpec {
  /** Lower-case name, as in `patchbay models pull NAME`. */
  readonly name: string;
  readonly title: string;
  readonly role: ModelRole;
  readonly engine: ModelEngine;
  /** ISO 639-1 codes. Empty: independent of the language. */
  readonly languages: readonly string[];
  readonly features: ModelFeatures;
  /** Samples per second of the audio that the engine takes, mono. */
  readonly sampleRate: number;
  readonly licence: ModelLicence;
  /** The files of an installed model. Paths are relative to its directory. */
  readonly files: readonly ModelFile[];
  /** Null: the model is part of this package and cannot be pulled. */
  readonly source: ModelSource | null;
  /** Quality as its publisher reports it, for people. Null: none was published. */
  readonly publishedQuality: string | null;
  /** Whether the figures were compared with a real download. False: they are copied from public sources, and the first pull confirms or refutes them. */
  readonly verified: boolean;
}

export const MODEL_ROLES = ["recogniser", "streaming_recogniser", "silence", "speakers"] as const;
/** `silence` finds speech in a recording. `speakers` is one of the two models of diarization. */
export type ModelRole = (typeof MODEL_ROLES)[number];

/** The engine's model type, and which file has which part. Paths are relative to the model's directory. */
export type ModelEngine =
  | { readonly kind: "zipformer_ctc"; readonly model: string; readonly tokens: string }
  | { readonly kind: "nemo_ctc"; readonly model: string; readonly tokens: string }
  | ({ readonly kind: "nemo_transducer" } & TransducerFiles)
  /** Version 2, with one merged decoder. */
  | { readonly kind: "moonshine"; readonly encoder: string; readonly mergedDecoder: string; readonly tokens: string }
  | ({ readonly kind: "online_transducer" } & TransducerFiles)
  | { readonly kind: "silero_vad"; readonly model: string }
  | { readonly kind: "pyannote_segmentation"; readonly model: string }
  | { readonly kind: "speaker_embedding"; readonly model: string };

export interface TransducerFiles {
  readonly encoder: string;
  readonly decoder: string;
  readonly joiner: string;
  readonly tokens: string;
}

/** What a recogniser delivers. All false for models that do not write text. */
export interface ModelFeatures {
  /** Times of words. */
  readonly words: boolean;
  readonly segments: boolean;
  /** Confidence of words, from log probabilities. */
  readonly confidence: boolean;
  /** Key terms, which need a decoder with `modified_beam_search`. */
  readonly keyterms: boolean;
  readonly punctuation: boolean;
  /** Live audio: partial results while it arrives. */
  readonly streaming: boolean;
  /** Returns the language that it recognised. */
  readonly detectsLanguage: boolean;
}

export interface ModelLicence {
  /** SPDX identifier. */
  readonly id: string;
  readonly url: string;
  /** Whom to credit, and where the model comes from. */
  readonly attribution: string;
}

export interface ModelFile {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** `archive`: a .tar.bz2 whose `folder` contains the files. `files`: each file below `base`. */
export type ModelSource =
  | {
      readonly kind: "archive";
      readonly url: string;
      readonly bytes: number;
      readonly sha256: string;
      readonly folder: string;
    }
  | { readonly kind: "files"; readonly base: string };
