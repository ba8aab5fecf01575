// Converts Whisper's English language names ("english") and codes of providers to BCP 47 tags. The names are from Whisper's own list.
import { LANGUAGE_TAG } from "../../contract/transcription/transcription-fields.ts";
import { primarySubtag } from "../../lib/text/primary-subtag.ts";

const CODE_BY_NAME: Readonly<Record<string, string>> = {
  afrikaans: "af",
  albanian: "sq",
  amharic: "am",
  arabic: "ar",
  armenian: "hy",
  assamese: "as",
  azerbaijani: "az",
  bashkir: "ba",
  basque: "eu",
  belarusian: "be",
  bengali: "bn",
  bosnian: "bs",
  breton: "br",
  bulgarian: "bg",
  burmese: "my",
  cantonese: "yue",
  castilian: "es",
  catalan: "ca",
  chinese: "zh",
  croatian: "hr",
  czech: "cs",
  danish: "da",
  dutch: "nl",
  english: "en",
  estonian: "et",
  faroese: "fo",
  finnish: "fi",
  flemish: "nl",
  french: "fr",
  galician: "gl",
  georgian: "ka",
  german: "de",
  greek: "el",
  gujarati: "gu",
  haitian: "ht",
  "haitian creole": "ht",
  hausa: "ha",
  hawaiian: "haw",
  hebrew: "he",
  hindi: "hi",
  hungarian: "hu",
  icelandic: "is",
  indonesian: "id",
  italian: "it",
  japanese: "ja",
  javanese: "jv",
  kannada: "kn",
  kazakh: "kk",
  khmer: "km",
  korean: "ko",
  lao: "lo",
  latin: "la",
  latvian: "lv",
  letzeburgesch: "lb",
  lingala: "ln",
  lithuanian: "lt",
  luxembourgish: "lb",
  macedonian: "mk",
  malagasy: "mg",
  malay: "ms",
  malayalam: "ml",
  maltese: "mt",
  mandarin: "zh",
  maori: "mi",
  marathi: "mr",
  moldavian: "ro",
  moldovan: "ro",
  mongolian: "mn",
  myanmar: "my",
  nepali: "ne",
  norwegian: "no",
  nynorsk: "nn",
  occitan: "oc",
  panjabi: "pa",
  pashto: "ps",
  persian: "fa",
  polish: "pl",
  portuguese: "pt",
  punjabi: "pa",
  pushto: "ps",
  romanian: "ro",
  russian: "ru",
  sanskrit: "sa",
  serbian: "sr",
  shona: "sn",
  sindhi: "sd",
  sinhala: "si",
  sinhalese: "si",
  slovak: "sk",
  slovenian: "sl",
  somali: "so",
  spanish: "es",
  sundanese: "su",
  swahili: "sw",
  swedish: "sv",
  tagalog: "tl",
  tajik: "tg",
  tamil: "ta",
  tatar: "tt",
  telugu: "te",
  thai: "th",
  tibetan: "bo",
  turkish: "tr",
  turkmen: "tk",
  ukrainian: "uk",
  urdu: "ur",
  uzbek: "uz",
  valencian: "ca",
  vietnamese: "vi",
  welsh: "cy",
  yiddish: "yi",
  yoruba: "yo",
};

const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(CODE_BY_NAME));

/** ISO 639 codes for no language or for several. */
const NO_LANGUAGE: ReadonlySet<string> = new Set(["und", "mul", "mis", "zxx"]);
/** Codes that ISO 639 has replaced. One of them (`jw`) is used by Whisper. */
const REPLACED: ReadonlySet<string> = new Set(["jw", "iw", "in", "ji", "mo"]);

/** Converts a provider's language name or code (`english`, `en_us`, `eng`). Null: neither. */
export function languageTag(value: string | null): string | null {
  if (value === null) return null;
  const text = value.trim();
  const byName = NAMES.get(text.toLowerCase());
  if (byName !== undefined) return byName;
  const tag = LANGUAGE_TAG.safeParse(text.replaceAll("_", "-")).data;
  if (tag === undefined) return null;
  const primary = primarySubtag(tag);
  if (NO_LANGUAGE.has(primary)) return null;
  return tag.length === 3 || REPLACED.has(primary) ? canonicalTag(tag) : tag;
}

/** Two letters if ISO 639-1 has them: `eng` becomes `en`, `haw` stays. */
function canonicalTag(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? tag;
  } catch {
    // Invalid despite its form: it repeats a variant.
    return tag;
  }
}

/** For a prompt: pt-BR becomes "Brazilian Portuguese". A tag without a name stays as it is. */
export function englishNameOf(tag: string): string {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(tag) ?? tag;
  } catch {
    // Invalid despite its form: it repeats a variant.
    return tag;
  }
}
