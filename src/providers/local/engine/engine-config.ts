// What the engine needs to load one model: which file has which role, and the number of threads. Plain data that is sent to the child process.

export type EngineConfig =
  | {
      readonly kind: "offline";
      /** The part of sherpa-onnx's `modelConfig` that names the model's files, with absolute paths. */
      readonly model: Readonly<Record<string, unknown>>;
      readonly tokens: string;
      readonly sampleRate: number;
      readonly featureDim: number;
      readonly decoding: "greedy_search" | "modified_beam_search";
      readonly threads: number;
    }
  | {
      readonly kind: "online";
      readonly model: Readonly<Record<string, unknown>>;
      readonly tokens: string;
      readonly sampleRate: number;
      readonly featureDim: number;
      readonly threads: number;
    }
  | {
      readonly kind: "speakers";
      readonly segmentation: string;
      readonly embedding: string;
      readonly threads: number;
    };
