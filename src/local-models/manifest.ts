// The models that `patchbay models pull` offers [local-models.manifest]. Figures and checksums are copied from public sources: the first pull confirms or refutes
// them, and only then `verified` becomes true.
import type { ModelFeatures, ModelSpec } from "./model-spec.ts";

/** Pulled if no name is given. */
export const DEFAULT_MODEL = "parakeet-110m-en";

/**
 * Hosts that a download may come from, redirects included. `*.` stands for any subdomain. GitHub and Hugging Face serve large files from other hosts than the
 * ones that links name.
 */
export const DOWNLOAD_HOSTS = [
  "github.com",
  "*.githubusercontent.com",
  "huggingface.co",
  "*.huggingface.co",
  "*.hf.co",
] as const;

const RELEASES = "https://github.com/k2-fsa/sherpa-onnx/releases/download";

const NO_FEATURES: ModelFeatures = {
  words: false,
  segments: false,
  confidence: false,
  keyterms: false,
  punctuation: false,
  streaming: false,
  detectsLanguage: false,
};

const CC_BY = { id: "CC-BY-4.0", url: "https://creativecommons.org/licenses/by/4.0/" } as const;

export const MANIFEST: readonly ModelSpec[] = [
  {
    name: "parakeet-110m-en",
    title: "Parakeet TDT-CTC 110M, English",
    role: "recogniser",
    engine: { kind: "nemo_ctc", model: "model.int8.onnx", tokens: "tokens.txt" },
    languages: ["en"],
    // The engine returns no probabilities of a CTC model.
    features: { ...NO_FEATURES, words: true, segments: true, punctuation: true },
    sampleRate: 16_000,
    licence: { ...CC_BY, attribution: "NVIDIA (nvidia/parakeet-tdt_ctc-110m), converted by k2-fsa/sherpa-onnx" },
    files: [
      {
        path: "model.int8.onnx",
        bytes: 131_652_171,
        sha256: "9177a9146cf32ee0cc8152276ef95116f312018d316be37ccf57f7efea81fc1a",
      },
      {
        path: "tokens.txt",
        bytes: 9_953,
        sha256: "450e56bd2f036fe5b6aa821865838cc5aa9d8b0106134ce9a9ba0664abe6cd10",
      },
    ],
    source: {
      kind: "archive",
      url: `${RELEASES}/asr-models/sherpa-onnx-nemo-parakeet_tdt_ctc_110m-en-36000-int8.tar.bz2`,
      bytes: 104_337_827,
      sha256: "17f945007b52ccd8b7200ffc7c5652e9e8e961dfdf479cefcabd06cf5703630b",
      folder: "sherpa-onnx-nemo-parakeet_tdt_ctc_110m-en-36000-int8",
    },
    publishedQuality: "word errors on LibriSpeech: 2.4 % clean, 5.2 % other",
    verified: false,
  },
  {
    name: "moonshine-tiny-en",
    title: "Moonshine Tiny, English",
    role: "recogniser",
    engine: {
      kind: "moonshine",
      encoder: "encoder_model.ort",
      mergedDecoder: "decoder_model_merged.ort",
      tokens: "tokens.txt",
    },
    languages: ["en"],
    features: { ...NO_FEATURES, segments: true, punctuation: true },
    sampleRate: 16_000,
    licence: {
      id: "MIT",
      url: "https://github.com/moonshine-ai/moonshine/blob/main/LICENSE",
      attribution: "Moonshine AI (Useful Sensors), converted by k2-fsa/sherpa-onnx",
    },
    files: [
      {
        path: "encoder_model.ort",
        bytes: 13_281_600,
        sha256: "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
      },
      {
        path: "decoder_model_merged.ort",
        bytes: 30_412_256,
        sha256: "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
      },
      {
        path: "tokens.txt",
        bytes: 549_350,
        sha256: "2870d843e14c1e187bf1913a521562a63b53933814bd7f2145120468f494a049",
      },
    ],
    source: {
      kind: "archive",
      url: `${RELEASES}/asr-models/sherpa-onnx-moonshine-tiny-en-quantized-2026-02-27.tar.bz2`,
      bytes: 29_858_559,
      sha256: "9ec31b342d8fa3240c3b81b8f82e1cf7e3ac467c93ca5a999b741d5887164f8d",
      folder: "sherpa-onnx-moonshine-tiny-en-quantized-2026-02-27",
    },
    publishedQuality: "word errors, mean of several test sets: 12.7 %",
    verified: false,
  },
  {
    name: "parakeet-0.6b-v3",
    title: "Parakeet TDT 0.6B v3, 25 European languages",
    role: "recogniser",
    engine: {
      kind: "nemo_transducer",
      encoder: "encoder.int8.onnx",
      decoder: "decoder.int8.onnx",
      joiner: "joiner.int8.onnx",
      tokens: "tokens.txt",
    },
    languages: [
      "bg",
      "cs",
      "da",
      "de",
      "el",
      "en",
      "es",
      "et",
      "fi",
      "fr",
      "hr",
      "hu",
      "it",
      "lt",
      "lv",
      "mt",
      "nl",
      "pl",
      "pt",
      "ro",
      "ru",
      "sk",
      "sl",
      "sv",
      "uk",
    ],
    features: { ...NO_FEATURES, words: true, segments: true, confidence: true, punctuation: true },
    sampleRate: 16_000,
    licence: { ...CC_BY, attribution: "NVIDIA (nvidia/parakeet-tdt-0.6b-v3), converted by k2-fsa/sherpa-onnx" },
    files: [
      {
        path: "encoder.int8.onnx",
        bytes: 652_184_281,
        sha256: "acfc2b4456377e15d04f0243af540b7fe7c992f8d898d751cf134c3a55fd2247",
      },
      {
        path: "decoder.int8.onnx",
        bytes: 11_845_275,
        sha256: "179e50c43d1a9de79c8a24149a2f9bac6eb5981823f2a2ed88d655b24248db4e",
      },
      {
        path: "joiner.int8.onnx",
        bytes: 6_355_277,
        sha256: "3164c13fc2821009440d20fcb5fdc78bff28b4db2f8d0f0b329101719c0948b3",
      },
      {
        path: "tokens.txt",
        bytes: 93_939,
        sha256: "d58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d",
      },
    ],
    source: {
      kind: "archive",
      url: `${RELEASES}/asr-models/sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8.tar.bz2`,
      bytes: 487_170_055,
      sha256: "5793d0fd397c5778d2cf2126994d58e9d56b1be7c04d13c7a15bb1b4eafb16bf",
      folder: "sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8",
    },
    publishedQuality: "word errors on the Open ASR leaderboard, mean: 6.3 %",
    verified: false,
  },
  {
    name: "zipformer-20m-en-streaming",
    title: "Streaming Zipformer 20M, English",
    role: "streaming_recogniser",
    engine: {
      kind: "online_transducer",
      encoder: "encoder-epoch-99-avg-1.int8.onnx",
      decoder: "decoder-epoch-99-avg-1.onnx",
      joiner: "joiner-epoch-99-avg-1.int8.onnx",
      tokens: "tokens.txt",
    },
    languages: ["en"],
    features: { ...NO_FEATURES, words: true, segments: true, streaming: true },
    sampleRate: 16_000,
    licence: {
      id: "Apache-2.0",
      url: "https://www.apache.org/licenses/LICENSE-2.0",
      attribution: "k2-fsa (csukuangfj/sherpa-onnx-streaming-zipformer-en-20M-2023-02-17)",
    },
    files: [
      {
        path: "encoder-epoch-99-avg-1.int8.onnx",
        bytes: 42_845_182,
        sha256: "3810755ce7c3ab26b42a8bcf39d191308fa27fb0f53358823ba46141d03b7eb3",
      },
      {
        path: "decoder-epoch-99-avg-1.onnx",
        bytes: 2_092_272,
        sha256: "45a7f940ecfb53d89fa270ad11b88b961e53a317203eb24b1c8e95ed208b0f30",
      },
      {
        path: "joiner-epoch-99-avg-1.int8.onnx",
        bytes: 259_572,
        sha256: "e085d73b593cf9b0707f370dbd656d58327d3fe36d80d849202ef81df02cb01e",
      },
      {
        path: "tokens.txt",
        bytes: 5_048,
        sha256: "49e3c2646595fd907228b3c6787069658f67b17377c60aeb8619c4551b2316fb",
      },
    ],
    // The archive on GitHub contains the same files and larger ones: 128 MB instead of 45 MB.
    source: {
      kind: "files",
      base: "https://huggingface.co/csukuangfj/sherpa-onnx-streaming-zipformer-en-20M-2023-02-17/resolve/main",
    },
    publishedQuality: "weak, text in capitals",
    verified: false,
  },
  {
    name: "silero-vad",
    title: "Silero VAD, finds speech in a recording",
    role: "silence",
    engine: { kind: "silero_vad", model: "silero_vad.onnx" },
    languages: [],
    features: NO_FEATURES,
    sampleRate: 16_000,
    licence: {
      id: "MIT",
      url: "https://github.com/snakers4/silero-vad/blob/master/LICENSE",
      attribution: "Silero Team (snakers4/silero-vad)",
    },
    files: [
      {
        path: "silero_vad.onnx",
        bytes: 643_854,
        sha256: "9e2449e1087496d8d4caba907f23e0bd3f78d91fa552479bb9c23ac09cbb1fd6",
      },
    ],
    source: { kind: "files", base: `${RELEASES}/asr-models` },
    publishedQuality: null,
    verified: false,
  },
  {
    name: "speaker-segmentation",
    title: "Pyannote segmentation 3.0, finds changes of speakers",
    role: "speakers",
    engine: { kind: "pyannote_segmentation", model: "model.onnx" },
    languages: [],
    features: NO_FEATURES,
    sampleRate: 16_000,
    licence: {
      id: "MIT",
      url: "https://huggingface.co/pyannote/segmentation-3.0",
      attribution: "CNRS (pyannote/segmentation-3.0), converted by k2-fsa/sherpa-onnx",
    },
    files: [
      {
        path: "model.onnx",
        bytes: 5_992_913,
        sha256: "220ad67ca923bef2fa91f2390c786097bf305bceb5e261d4af67b38e938e1079",
      },
    ],
    source: {
      kind: "archive",
      url: `${RELEASES}/speaker-segmentation-models/sherpa-onnx-pyannote-segmentation-3-0.tar.bz2`,
      bytes: 6_958_444,
      sha256: "24615ee884c897d9d2ba09bb4d30da6bb1b15e685065962db5b02e76e4996488",
      folder: "sherpa-onnx-pyannote-segmentation-3-0",
    },
    publishedQuality: null,
    verified: false,
  },
  {
    name: "titanet-small",
    title: "Titanet Small, compares voices",
    role: "speakers",
    engine: { kind: "speaker_embedding", model: "nemo_en_titanet_small.onnx" },
    languages: [],
    features: NO_FEATURES,
    sampleRate: 16_000,
    licence: { ...CC_BY, attribution: "NVIDIA NeMo (titanet-small), converted by k2-fsa/sherpa-onnx" },
    files: [
      {
        path: "nemo_en_titanet_small.onnx",
        bytes: 40_257_283,
        sha256: "ad4a1802485d8b34c722d2a9d04249662f2ece5d28a7a039063ca22f515a789e",
      },
    ],
    // The release's tag is spelt like this.
    source: { kind: "files", base: `${RELEASES}/speaker-recongition-models` },
    publishedQuality: null,
    verified: false,
  },
];

/** Bytes that a pull transfers. */
export function downloadBytes({ source, files }: Pick<ModelSpec, "source" | "files">): number {
  return source?.kind === "archive" ? source.bytes : totalBytes(files);
}

export function totalBytes(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
