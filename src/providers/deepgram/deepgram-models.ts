// Capabilities of Deepgram's models, as data (developers.deepgram.com, checked 2026-11-26; providers/matrix.json).
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import type { ModelLife } from "../model-life.ts";
import type { CataloguedSpeechModel, FeatureSupport, SpeechModel } from "../provider.ts";

/** Redaction of entities is English only, redaction of numbers has more languages (changelog 2026-06-24, hosted API). */
const NUMBER_REDACTION = ["da", "de", "en", "es", "fr", "it", "nl", "no", "pl", "pt", "sv"];
/** docs/profanity-filter, the languages of its older and its newer version. */
const PROFANITY = "ar be bg bn bs ca cs da de en es et fi fr hr nl pl pt sv zh".split(" ");
/** docs/models-languages-overview and the changelog up to 2026-08. */
const NOVA_3_LANGUAGES =
  "af ar be bg bn bs ca cs da de el en es et fa fi fr gu he hi hr hu hy id it ja ka kn ko lt lv mk mr ms ne nl no pa pl pt ro ru sk sl sr sv ta te th tl tr uk ur vi zh".split(
    " ",
  );
const NOVA_2_LANGUAGES =
  "bg ca cs da de el en es et fi fr hi hu id it ja ko lt lv ms nl no pl pt ro ru sk sv th tr uk vi zh".split(" ");

export const NOVA_3: SpeechModel = {
  features: {
    diarization: { support: "native", grade: "shown" },
    "timestamps.word": { support: "native", grade: "shown" },
    "timestamps.segment": { support: "native", grade: "shown" },
    "redaction.pii": { support: "native", grade: "sent", languages: ["en"] },
    "redaction.pci": { support: "native", grade: "sent", languages: ["en"] },
    "redaction.phi": { support: "native", grade: "sent", languages: ["en"] },
    "redaction.numbers": { support: "native", grade: "sent", languages: NUMBER_REDACTION },
    keyterms: { support: "native", grade: "sent" },
    multichannel: { support: "native", grade: "shown" },
    profanity_filter: { support: "native", grade: "sent", languages: PROFANITY },
    streaming: { support: "native", grade: "shown" },
  },
  preferences: ["detect_language", "smart_formatting", "language"],
  limits: {
    maxBytes: 2_000_000_000,
    // "maximum number of tokens across all keyterms is 500". More is a 400, so a wrong estimate costs one attempt.
    keyterms: { maxTotalTokens: 500 },
    maxChannels: 20,
  },
  languages: NOVA_3_LANGUAGES,
  languagesFrom: "its overview of models and languages",
  defaultLanguage: "en",
  live: ["pcm_s16le", "webm_opus"],
  // The streaming API documents only `pci` and `numbers`, and an answer would not show that others were ignored.
  excludes: [
    ["streaming", "redaction.pii"],
    ["streaming", "redaction.phi"],
  ],
};

export const NOVA_2: SpeechModel = {
  ...NOVA_3,
  languages: NOVA_2_LANGUAGES,
  limits: { ...NOVA_3.limits, keyterms: { maxTerms: 100, maxTermWords: 1, forbiddenCharacters: [":"] } },
};

/** Made for one kind of audio, in English, so there is no language to detect. */
const NOVA_2_SPECIAL: SpeechModel = {
  ...NOVA_2,
  languages: ["en"],
  preferences: ["smart_formatting", "language"],
};
const SPECIALITIES = "automotive conversationalai drivethru finance medical meeting video voicemail".split(" ");

/** The languages of `language=multi` (changelog, October 2026). All but English are sent as `multi`. */
const MEDICAL_LANGUAGES = "de en es fr hi it ja nl pt ru".split(" ");
const MEDICAL = "nova-3-medical";

/** Whether redaction and the profanity filter work with `multi` is not documented: English alone has them. */
const NOVA_3_MEDICAL: SpeechModel = {
  ...NOVA_3,
  features: {
    ...NOVA_3.features,
    "redaction.numbers": inEnglish(NOVA_3.features["redaction.numbers"]),
    profanity_filter: inEnglish(NOVA_3.features.profanity_filter),
  },
  languages: MEDICAL_LANGUAGES,
  languagesFrom: "the changelog of October 2026: `language=multi`",
  // With detection, Deepgram would use another model.
  preferences: ["smart_formatting", "language"],
};

function inEnglish(support: FeatureSupport | undefined): FeatureSupport {
  return { support: "native", grade: "sent", ...support, languages: ["en"] };
}

const OVERVIEW = "developers.deepgram.com/docs/models-languages-overview";
/** No end of any of these models was found. */
const NOVA_3_LIFE: ModelLife = { verifiedOn: "2026-10-12", source: `${OVERVIEW}; changelog of 2026-10-12` };
const NOVA_2_LIFE: ModelLife = { verifiedOn: "2026-08-01", source: `${OVERVIEW} (undated, not before August 2026)` };
const SPECIAL_LIFE: ModelLife = {
  verifiedOn: "2026-07-22",
  source: "github deepgram/deepgram-api-specs@4ba987c (unverified since then)",
};

export const DEEPGRAM_MODELS: Readonly<Record<string, CataloguedSpeechModel>> = {
  "nova-3": { ...NOVA_3, life: NOVA_3_LIFE },
  "nova-3-general": { ...NOVA_3, life: NOVA_3_LIFE },
  [MEDICAL]: { ...NOVA_3_MEDICAL, life: NOVA_3_LIFE },
  "nova-2": { ...NOVA_2, life: NOVA_2_LIFE },
  "nova-2-general": { ...NOVA_2, life: NOVA_2_LIFE },
  ...Object.fromEntries(
    SPECIALITIES.map((speciality) => [`nova-2-${speciality}`, { ...NOVA_2_SPECIAL, life: SPECIAL_LIFE }]),
  ),
};

/** Scripts and regions with a separate code: docs/models-languages-overview and the changelog, 2025-08 to 2026-08. */
const CODES: ReadonlySet<string> = new Set(
  `ar-AE ar-DZ ar-EG ar-IQ ar-IR ar-JO ar-KW ar-LB ar-MA ar-PS ar-QA ar-SA ar-SD ar-SY ar-TD ar-TN da-DK de-CH en-AU en-GB en-IN
  en-NZ en-US es-419 fr-CA ko-KR nl-BE pt-BR pt-PT sv-SE th-TH zh-CN zh-HK zh-Hans zh-Hant zh-TW`.split(/\s+/u),
);

/** Any other code is refused ("No such model/language/tier combination found"), even if the model supports the language. */
export function deepgramLanguage(model: string, tag: string): string {
  // The codes of a custom model are not known here.
  if (DEEPGRAM_MODELS[model] === undefined) return tag;
  if (model === MEDICAL && primarySubtag(tag) !== "en") return "multi";
  // Cantonese has only a region code. The script's code is Mandarin.
  if (/^zh(?:-Hant)?-(?:HK|MO)\b/u.test(tag)) return "zh-HK";
  const isSpecial = SPECIALITIES.some((speciality) => model === `nova-2-${speciality}`);
  const subtags = tag.split("-");
  for (let length = subtags.length; length > 1; length--) {
    const code = subtags.slice(0, length).join("-");
    if (CODES.has(code) && (!isSpecial || code === "en-US")) return code;
  }
  return primarySubtag(tag);
}
