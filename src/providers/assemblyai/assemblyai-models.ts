// Capabilities of AssemblyAI's models, as data (assemblyai.com/docs, checked 2026-11-26; providers/matrix.json).
import type { CataloguedSpeechModel, FeatureSupport, SpeechModel } from "../provider.ts";

/** docs/faq/what-languages-do-you-support-, read 2026-11-21. The page of Universal-3.5 lists 18: those beyond the six stay refused. */
const UNIVERSAL_3_LANGUAGES = ["de", "en", "es", "fr", "it", "pt"];
/**
 * docs/pre-recorded-audio/universal-2 and set-language-manually, all 99, compared code by code 2026-11-21. Javanese, `jw` there, has its BCP 47 code here.
 * docs/pre-recorded-audio/label-speakers has the same list.
 */
const UNIVERSAL_2_LANGUAGES =
  "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja jv ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh".split(
    " ",
  );
/**
 * Universal-3.6 live: the vendor's page says 32 languages and its list could not be read. This list of 32 is that of a public client (2026-11), so it is
 * second-hand: a wrong entry costs one attempt.
 */
const UNIVERSAL_3_6_LIVE_LANGUAGES =
  "af ar ca da de en es et fa fi fr gl he hi it ja ko mr nl nn no pt ro ru sv tr ur vi xh yue zh zu".split(" ");
/**
 * Listed for redaction in every version of its page. With an explicit language an unsupported feature is a 400, so a wrong entry costs one attempt. With
 * detection it is silently ignored, which is why an unknown language satisfies no condition here.
 */
const REDACTION = "de en es fi fr hi it ja ko nl pl pt ru tr uk vi zh".split(" ");
/** docs/guardrails/filter-profanity-from-transcripts, read 2026-11-21. */
const PROFANITY = ["de", "en", "es", "fr", "hi", "it", "ja", "nl", "pt"];

function features(languages: readonly string[]): SpeechModel["features"] {
  const among = (list: readonly string[]): FeatureSupport => ({
    support: "native",
    grade: "echoed",
    languages: list.filter((each) => languages.includes(each)),
  });
  return {
    diarization: { support: "native", grade: "shown", languages },
    "timestamps.word": { support: "native", grade: "shown" },
    "timestamps.segment": { support: "exact", grade: "shown" },
    "redaction.pii": among(REDACTION),
    "redaction.pci": among(REDACTION),
    "redaction.phi": among(REDACTION),
    "redaction.numbers": among(REDACTION),
    keyterms: { support: "native", grade: "echoed" },
    multichannel: { support: "native", grade: "shown" },
    profanity_filter: among(PROFANITY),
  };
}

const UNIVERSAL_2: SpeechModel = {
  features: features(UNIVERSAL_2_LANGUAGES),
  preferences: ["detect_language", "speaker_count_hint", "smart_formatting", "language"],
  // 2.2 GB is the limit of an upload, ten hours that of a run.
  limits: { maxBytes: 2_200_000_000, maxSeconds: 36_000, keyterms: { maxTerms: 200, maxTermWords: 6 } },
  languages: UNIVERSAL_2_LANGUAGES,
  languagesFrom: "the list of its own page",
  defaultLanguage: "en-US",
};

const UNIVERSAL_3: SpeechModel = {
  ...UNIVERSAL_2,
  features: features(UNIVERSAL_3_LANGUAGES),
  preferences: [...UNIVERSAL_2.preferences, "prompt"],
  limits: { ...UNIVERSAL_2.limits, keyterms: { maxTerms: 1000, maxTermWords: 6 } },
  languages: UNIVERSAL_3_LANGUAGES,
  languagesFrom: "its FAQ of languages",
};

/** Also accepts a temperature and the removal of audio tags, as settings of a target. */
const STT_3_7: SpeechModel = {
  ...UNIVERSAL_3,
  // Its own count of key terms is not documented: that of universal-2 is the smallest of any model.
  limits: { ...UNIVERSAL_3.limits, keyterms: { maxTerms: 200, maxTermWords: 6 } },
  languagesFrom: "those of universal-3-pro; its own list could not be verified, and other languages need universal-2",
};

/**
 * Models of the WebSocket API (docs/streaming: models, keyterms-prompting, diarization). Profanity filter and redaction exist there too, under conditions that
 * are not documented for every model.
 */
function streaming(languages: readonly string[]): SpeechModel {
  return {
    features: {
      diarization: { support: "native", grade: "shown" },
      "timestamps.word": { support: "native", grade: "shown" },
      "timestamps.segment": { support: "exact", grade: "shown" },
      keyterms: { support: "native", grade: "sent" },
      streaming: { support: "native", grade: "shown" },
    },
    preferences: [],
    // A recording is processed in real time there, and a request has five minutes.
    limits: { maxSeconds: 290, keyterms: { maxTerms: 100, maxTermCharacters: 50 } },
    languages,
    defaultLanguage: languages.length === 1 ? (languages[0] ?? "auto") : "auto",
    live: ["pcm_s16le"],
    streamsOnly: true,
    samplesOnly: true,
  };
}

const STREAMING_PAGE = "assemblyai.com/docs/streaming, model selection (undated, not before 2026-09-02)";

export const ASSEMBLYAI_MODELS: Readonly<Record<string, CataloguedSpeechModel>> = {
  "assemblyai-stt-3-7": {
    ...STT_3_7,
    life: { verifiedOn: "2026-11-22", source: "assemblyai.com/docs, migration guide to assemblyai-stt-3-7" },
  },
  "universal-3-5-pro": {
    ...UNIVERSAL_3,
    languagesFrom: "those of universal-3-pro; its own page says 18",
    life: {
      verifiedOn: "2026-11-20",
      source: "assemblyai.com/docs, migration guide to assemblyai-stt-3-7 (no end; AI SDK 3.0.85 calls it deprecated)",
      replacedBy: [{ model: "assemblyai-stt-3-7", lacks: [] }],
    },
  },
  "universal-3-pro": {
    ...UNIVERSAL_3,
    life: {
      verifiedOn: "2026-11-20",
      source: "assemblyai.com/changelog, 2026-09-02 (the migration guide disagrees: no retirement)",
      endsOn: { date: "2026-09-02", evidence: "vendor" },
      replacedBy: [
        { model: "universal-3-5-pro", lacks: [] },
        { model: "assemblyai-stt-3-7", lacks: [] },
      ],
    },
  },
  "universal-2": {
    ...UNIVERSAL_2,
    life: { verifiedOn: "2026-11-20", source: "assemblyai.com/docs, migration guide to assemblyai-stt-3-7" },
  },
  "universal-3-6-pro": {
    ...streaming(UNIVERSAL_3_6_LIVE_LANGUAGES),
    // It switches between languages by itself: a language steers it, and detection makes it report what it heard (livekit/agents#6219, #7100).
    preferences: ["detect_language", "language"],
    languagesFrom: "a public client's list of 32, the number on its own page",
    life: { verifiedOn: "2026-10-07", source: `${STREAMING_PAGE}; livekit/agents#7100` },
  },
  // The live model `universal-3-5-pro` has the name of a model for files, which has other features. It is not offered.
  "universal-streaming-english": {
    ...streaming(["en"]),
    life: { verifiedOn: "2026-09-02", source: STREAMING_PAGE },
  },
  "universal-streaming-multilingual": {
    ...streaming(UNIVERSAL_3_LANGUAGES),
    preferences: ["detect_language"],
    life: { verifiedOn: "2026-09-02", source: STREAMING_PAGE },
  },
  "u3-rt-pro": {
    ...streaming(UNIVERSAL_3_LANGUAGES),
    life: {
      // Only a name: another model has answered under it since this day, and no message says so.
      verifiedOn: "2026-09-26",
      source: "assemblyai.com/changelog, 2026-09-02; npm assemblyai@4.41.5, which still has the name",
      redirect: { date: "2026-09-02", evidence: "vendor", model: "universal-3-5-pro" },
      replacedBy: [{ model: "universal-3-6-pro", lacks: [] }],
    },
  },
};
