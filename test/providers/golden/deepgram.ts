// Deepgram's query parameters per model and feature, from its API reference (POST /v1/listen, checked 2026-11-26).
import type { Change, GoldenModel } from "../suites/fixtures.ts";

/** What every nova model does in the same way. */
const SHARED = {
  diarization: {
    added: [
      ["diarize_model", "latest"],
      ["utterances", "true"],
    ],
  },
  // Words come with times always.
  "timestamps.word": {},
  "timestamps.segment": { added: [["utterances", "true"]] },
  "redaction.pii": { added: [["redact", "pii"]] },
  "redaction.pci": { added: [["redact", "pci"]] },
  "redaction.phi": { added: [["redact", "phi"]] },
  "redaction.numbers": { added: [["redact", "numbers"]] },
  multichannel: {
    added: [
      ["multichannel", "true"],
      ["utterances", "true"],
    ],
  },
  profanity_filter: { added: [["profanity_filter", "true"]] },
  // The same query on a socket.
  streaming: { added: [["interim_results", "false"]] },
} as const satisfies GoldenModel["features"];

const KEYTERM: Change = {
  added: [
    ["keyterm", "Patchbay"],
    ["keyterm", "Zürich"],
  ],
};
const KEYWORDS: Change = {
  added: [
    ["keywords", "Patchbay"],
    ["keywords", "Zürich"],
  ],
};

function golden(model: string, keyterms: Change): GoldenModel {
  return {
    model,
    path: "/v1/listen",
    base: [
      ["model", model],
      ["language", "en"],
      ["punctuate", "true"],
      ["mip_opt_out", "true"],
    ],
    features: { ...SHARED, keyterms },
    preferences: {
      detect_language: { added: [["detect_language", "true"]], removed: [["language", "en"]] },
      speaker_count_hint: "dropped",
      smart_formatting: { added: [["smart_format", "true"]] },
      prompt: "dropped",
      language: { added: [["language", "pt-BR"]], removed: [["language", "en"]] },
    },
  };
}

/** English only: no detection. */
function englishOnly(model: string, keyterms: Change): GoldenModel {
  const whole = golden(model, keyterms);
  return { ...whole, preferences: { ...whole.preferences, detect_language: "dropped" } };
}

/** Ten languages, of which all but English are `multi`. */
function medical(): GoldenModel {
  const english = englishOnly("nova-3-medical", KEYTERM);
  const language = { added: [["language", "multi"]], removed: [["language", "en"]] } as const;
  return { ...english, preferences: { ...english.preferences, language } };
}

/** Of English it knows `en` and `en-US`, and no other code at all. */
function special(model: string): GoldenModel {
  const english = englishOnly(model, KEYWORDS);
  const language = { added: [["language", "pt"]], removed: [["language", "en"]] } as const;
  return { ...english, preferences: { ...english.preferences, language } };
}

export const DEEPGRAM_GOLDEN: readonly GoldenModel[] = [
  golden("nova-3", KEYTERM),
  golden("nova-3-general", KEYTERM),
  medical(),
  golden("nova-2", KEYWORDS),
  golden("nova-2-general", KEYWORDS),
  ...[
    "nova-2-automotive",
    "nova-2-conversationalai",
    "nova-2-drivethru",
    "nova-2-finance",
    "nova-2-medical",
    "nova-2-meeting",
    "nova-2-video",
    "nova-2-voicemail",
  ].map(special),
];

/** The sandbox's own model takes all of nova-3 and says so in the same words. */
export const SIMULATED_GOLDEN: GoldenModel = golden("simulated-speech", KEYTERM);
