// Capabilities of ElevenLabs' transcription models, as data (elevenlabs.io/docs, checked 2026-11-26; providers/matrix.json).
import type { CataloguedSpeechModel, FeatureSupport, SpeechModel } from "../provider.ts";

/**
 * docs/capabilities/speech-to-text in its version for scribe_v1: 99 languages in the shortest code of each (compared name by name 2026-11-21). No version for
 * scribe_v2 that could be found lists any: "90+", and none is reported as removed.
 */
const LANGUAGES =
  "af am ar as ast az be bg bn bs ca ceb cs cy da de el en es et fa ff fi fil fr ga gl gu ha he hi hr hu hy id ig is it ja jv ka kea kk km kn ko ku ky lb lg ln lo lt luo lv mi mk ml mn mr ms mt my ne nl no nso ny oc or pa pl ps pt ro ru sd sk sl sn so sr sv sw ta te tg th tr uk umb ur uz vi wo xh yue zh zu".split(
    " ",
  );

const SHOWN: FeatureSupport = { support: "native", grade: "shown" };
const SENT: FeatureSupport = { support: "native", grade: "sent" };

/** From its page of 2025: neither key terms nor entities. */
const SCRIBE_V1: SpeechModel = {
  features: {
    diarization: SHOWN,
    "timestamps.word": SHOWN,
    "timestamps.segment": { support: "exact", grade: "shown" },
    multichannel: SHOWN,
  },
  preferences: ["detect_language", "speaker_count_hint", "smart_formatting", "language"],
  // "Less than 5 GB" for the whole body, and ten hours.
  limits: { maxBytes: 4_999_934_464, maxSeconds: 36_000, maxChannels: 5 },
  languages: LANGUAGES,
  languagesFrom: "its page on speech to text lists them by name",
  defaultLanguage: "auto",
  // Treats each channel as one speaker, and refuses a request for both.
  excludes: [["multichannel", "diarization"]],
};

const SCRIBE_V2: SpeechModel = {
  ...SCRIBE_V1,
  languagesFrom: "the list of scribe_v1: the pages of scribe_v2 say “90+” and list none",
  features: {
    ...SCRIBE_V1.features,
    "redaction.pii": SENT,
    "redaction.pci": SENT,
    "redaction.phi": SENT,
    keyterms: SENT,
    // A category of entities, removed instead of masked. The output is not documented.
    profanity_filter: { support: "weak", grade: "sent" },
  },
  limits: {
    ...SCRIBE_V1.limits,
    keyterms: {
      maxTerms: 1000,
      // "Less than 50 characters".
      maxTermCharacters: 49,
      maxTermWords: 5,
      forbiddenCharacters: ["<", ">", "{", "}", "[", "]", "\\"],
    },
  },
};

/** Models of the WebSocket API. It detects entities and redacts none, and separates neither speakers nor channels. */
const REALTIME: SpeechModel = {
  features: {
    "timestamps.word": SHOWN,
    "timestamps.segment": { support: "exact", grade: "shown" },
    keyterms: SENT,
    streaming: SHOWN,
  },
  preferences: ["detect_language", "language"],
  // A recording is processed in real time there, and a request has five minutes. The key terms of the official clients' documentation: a longer list of
  // another page could not be verified.
  limits: { maxSeconds: 290, keyterms: { maxTerms: 50, maxTermCharacters: 20 } },
  languages: LANGUAGES,
  languagesFrom: "the list of scribe_v1: the pages of the live models say “90+” and list none",
  defaultLanguage: "auto",
  live: ["pcm_s16le"],
  streamsOnly: true,
  samplesOnly: true,
};

const REALTIME_ERROR = "its server's list of supported models, 2026-08-29 (elevenlabs/ui#82, second-hand)";

export const ELEVENLABS_MODELS: Readonly<Record<string, CataloguedSpeechModel>> = {
  scribe_v2: {
    ...SCRIBE_V2,
    life: { verifiedOn: "2026-10-15", source: "npm @elevenlabs/elevenlabs-js@2.73.0" },
  },
  scribe_v2_realtime: {
    ...REALTIME,
    life: {
      verifiedOn: "2026-10-15",
      source: "npm @elevenlabs/elevenlabs-js@2.73.0 and @elevenlabs/client@1.25.0",
    },
  },
  scribe_v2_realtime_turbo: {
    ...REALTIME,
    life: {
      verifiedOn: "2026-08-29",
      source: `${REALTIME_ERROR}; elevenlabs.io/docs, AsyncAPI description (its features are unverified, those of scribe_v2_realtime)`,
    },
  },
  scribe_v2_realtime_lite: {
    ...REALTIME,
    life: {
      verifiedOn: "2026-08-29",
      source: `${REALTIME_ERROR} (unverified at the vendor, and its features too)`,
    },
  },
  // Removed by the provider. It stays here so that a configuration which names it is told so.
  scribe_v1: {
    ...SCRIBE_V1,
    life: {
      verifiedOn: "2026-10-15",
      source: "npm @elevenlabs/elevenlabs-js@2.73.0, which no longer has it",
      endsOn: { date: "2026-07-09", evidence: "vendor", source: "elevenlabs.io/docs/changelog/2026/6/8" },
      replacedBy: [{ model: "scribe_v2", lacks: [] }],
    },
  },
};
