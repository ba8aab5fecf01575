// Capabilities of Google's speech models (API v2), as data (cloud.google.com/speech-to-text, checked 2026-11-26; providers/matrix.json).
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import { audioBytesWithin } from "../wire/json-audio.ts";
import type { CataloguedSpeechModel, SpeechModel } from "../provider.ts";

/** Maps a language tag without a region to the locale that its models accept. From the pages of chirp_2 and chirp_3. */
const LOCALES: Readonly<Record<string, string>> = Object.fromEntries(
  `ar-EG bg-BG bn-BD ca-ES cmn-Hans-CN cs-CZ da-DK de-DE el-GR en-US es-ES et-EE fa-IR fi-FI fil-PH fr-FR gu-IN hi-IN
  hr-HR hu-HU id-ID it-IT ja-JP kn-IN ko-KR lt-LT lv-LV ml-IN mr-IN nl-NL pa-Guru-IN pl-PL pt-BR ro-RO ru-RU sk-SK sl-SI
  sr-RS sv-SE sw-KE ta-IN te-IN th-TH tr-TR uk-UA ur-PK vi-VN`
    .split(/\s+/u)
    .map((locale) => [primarySubtag(locale), locale]),
);
/** Codes of other standards for the same languages. */
const OTHER_NAMES: Readonly<Record<string, string>> = { zh: "cmn-Hans-CN", he: "iw-IL", no: "no-NO" };

export function googleLocale(tag: string): string {
  const primary = primarySubtag(tag);
  if (primary === "zh") return /-(?:Hant|TW|HK)\b/iu.test(tag) ? "cmn-Hant-TW" : "cmn-Hans-CN";
  if (OTHER_NAMES[primary] !== undefined) return OTHER_NAMES[primary];
  return tag.includes("-") ? tag : (LOCALES[primary] ?? tag);
}

/** The reverse mapping, so that callers get the language under the tag that they request it by. */
export function tagOfLocale(locale: string): string {
  return locale.replace(/^cmn(?=-|$)/iu, "zh").replace(/^iw(?=-|$)/iu, "he");
}

/** "10 MB or 1 minute, whichever comes first", including the request's base64. */
const INLINE = { maxBytes: audioBytesWithin(10_000_000), maxSeconds: 60 };
/** Most phrases of one request, from the page of chirp_3 and the quotas. */
const PHRASES = { maxTerms: 1_000, maxTermCharacters: 100 };

const SHARED: SpeechModel = {
  features: {
    "timestamps.segment": { support: "exact", grade: "shown" },
    keyterms: { support: "native", grade: "sent" },
    multichannel: { support: "native", grade: "shown" },
  },
  preferences: ["smart_formatting", "language"],
  limits: { ...INLINE, maxChannels: 8, keyterms: PHRASES, formats: ["wav", "mp3", "m4a", "mp4", "webm"] },
  languages: [...Object.keys(LOCALES), ...Object.keys(OTHER_NAMES)],
  languagesFrom: "the pages of chirp_2 and chirp_3",
  defaultLanguage: "en-US",
};

/** chirp_3's page, "Language availability for diarization". */
const DIARIZED = "cmn zh de en es fr hi it ja ko pt".split(" ");

const CHIRP_3: SpeechModel = {
  ...SHARED,
  features: { ...SHARED.features, diarization: { support: "native", grade: "shown", languages: DIARIZED } },
  preferences: ["detect_language", "smart_formatting", "prompt", "language"],
};

const LONG: SpeechModel = {
  ...SHARED,
  features: {
    ...SHARED.features,
    "timestamps.word": { support: "native", grade: "shown" },
    profanity_filter: { support: "native", grade: "sent" },
  },
};

const CHIRP_2: SpeechModel = {
  ...LONG,
  // Into English. The list of languages that it translates English into is not published.
  features: { ...LONG.features, translation: { support: "native", grade: "sent" } },
};

const PAGES = "docs.cloud.google.com/speech-to-text/docs";

/** No end of any of these models was found. */
export const GOOGLE_SPEECH_MODELS: Readonly<Record<string, CataloguedSpeechModel>> = {
  chirp_3: { ...CHIRP_3, life: { verifiedOn: "2025-11-13", source: `${PAGES}/release-notes` } },
  chirp_2: { ...CHIRP_2, life: { verifiedOn: "2025-11-13", source: `${PAGES}/release-notes (unverified in 2026)` } },
  long: { ...LONG, life: { verifiedOn: "2025-11-13", source: `${PAGES}/release-notes (unverified in 2026)` } },
};

/** With a bucket the batch method is available: longer audio, and chirp_3's word times, which no other method has. */
export function withBucket(name: string, model: SpeechModel): SpeechModel {
  const { maxBytes: _inline, ...limits } = model.limits;
  if (name !== "chirp_3") return { ...model, limits: { ...limits, maxSeconds: 28_800 } };
  return {
    ...model,
    features: { ...model.features, "timestamps.word": { support: "native", grade: "shown" } },
    limits: { ...limits, maxSeconds: 3_600, maxSecondsWith: { "timestamps.word": 1_200 } },
  };
}
