// ElevenLabs' form fields per model and feature, from its API reference (POST /v1/speech-to-text, checked 2026-11-20), and the query of its
// WebSocket (AsyncAPI description of v1/speech-to-text/realtime; npm @elevenlabs/elevenlabs-js@2.73.0).
import type { Change, GoldenModel } from "../suites/fixtures.ts";

const V1_FEATURES: GoldenModel["features"] = {
  diarization: { added: [["diarize", "true"]] },
  // Words come with times unless refused, and segments are made of them.
  "timestamps.word": {},
  "timestamps.segment": {},
  multichannel: { added: [["use_multi_channel", "true"]] },
};

/** What is redacted must be detected: the same values under both names. */
function redacted(category: string): Change {
  return {
    added: [
      ["entity_detection", category],
      ["entity_redaction", category],
      ["entity_redaction_mode", "entity_type"],
    ],
  };
}

function golden(model: string, features: GoldenModel["features"]): GoldenModel {
  return {
    model,
    path: "/v1/speech-to-text",
    base: [
      ["model_id", model],
      ["tag_audio_events", "false"],
    ],
    features,
    preferences: {
      // The language is returned without being asked for.
      detect_language: {},
      // Bounds the labels, so it goes with them or not at all.
      speaker_count_hint: {},
      smart_formatting: {},
      prompt: "dropped",
      language: { added: [["language_code", "pt"]] },
    },
  };
}

export const ELEVENLABS_GOLDEN: readonly GoldenModel[] = [
  golden("scribe_v2", {
    ...V1_FEATURES,
    "redaction.pii": redacted("pii"),
    "redaction.pci": redacted("pci"),
    "redaction.phi": redacted("phi"),
    keyterms: {
      added: [
        ["keyterms", "Patchbay"],
        ["keyterms", "Zürich"],
      ],
    },
    profanity_filter: redacted("offensive_language"),
  }),
  golden("scribe_v1", V1_FEATURES),
];

const TERMS: Change = {
  added: [
    ["keyterms", "Patchbay"],
    ["keyterms", "Zürich"],
  ],
};

function streaming(model: string, settings: Readonly<Record<string, boolean>> = {}): GoldenModel {
  return {
    model,
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    path: "/v1/speech-to-text/realtime",
    base: [
      ["model_id", model],
      ["commit_strategy", "manual"],
      ["include_timestamps", "true"],
      ...(settings["no_verbatim"] === true ? ([["no_verbatim", "true"]] as const) : []),
      ...(settings["zero_retention"] === true ? ([["enable_logging", "false"]] as const) : []),
    ],
    features: { "timestamps.word": {}, "timestamps.segment": {}, keyterms: TERMS, streaming: {} },
    preferences: {
      detect_language: { added: [["include_language_detection", "true"]] },
      speaker_count_hint: "dropped",
      smart_formatting: "dropped",
      prompt: "dropped",
      language: { added: [["language_code", "pt"]] },
    },
  };
}

export const ELEVENLABS_STREAMING_GOLDEN: readonly GoldenModel[] = [
  streaming("scribe_v2_realtime"),
  streaming("scribe_v2_realtime", { no_verbatim: true, zero_retention: true }),
  streaming("scribe_v2_realtime_turbo"),
  streaming("scribe_v2_realtime_lite"),
];
