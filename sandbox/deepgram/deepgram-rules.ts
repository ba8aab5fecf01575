// Validates parameters of Deepgram's `/v1/listen`. Stricter than the provider on purpose [providers.sandbox-refusals]: refuses parameters that are undocumented
// or cannot be simulated, so that a wrong adapter is noticed.
import { REDACTABLE_ENTITIES } from "./deepgram-entities.ts";
import { type Pairs, valueOf, valuesOf } from "../wire/wire.ts";

const MAX_KEYTERM_TOKENS = 500;
const VARIANTS_OF_2 =
  "general|meeting|finance|conversationalai|voicemail|video|medical|drivethru|automotive|phonecall|atc";
const MODELS = new RegExp(
  `^(?:simulated-speech|nova-3(?:-general|-medical)?|nova-2(?:-(?:${VARIANTS_OF_2}))?|(?:nova|enhanced|base)(?:-(?:general|meeting|finance|phonecall|medical|video|voicemail|conversationalai))?)$`,
);
const LANGUAGE = /^(?:multi|[a-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Z]{2}|\d{3}))?)$/;
const TERM_WITH_BOOST = /^[^:]+(?::-?\d+(?:\.\d+)?)?$/;

const BOOLEANS =
  "smart_format punctuate paragraphs numerals measurements dictation filler_words utterances profanity_filter multichannel diarize mip_opt_out".split(
    " ",
  );
const REPEATABLE = "redact keyterm keywords replace tag extra detect_language".split(" ");
const FREE_TEXT = "model version language diarize_model utt_split".split(" ");
const UNSIMULATED =
  "callback callback_method encoding sample_rate channels search detect_entities summarize topics custom_topic custom_topic_mode intents custom_intent custom_intent_mode sentiment".split(
    " ",
  );
const REDACTION_GROUPS: ReadonlySet<string> = new Set(["pci", "pii", "phi", "numbers", "true", "aggressive_numbers"]);
const NUMBER_REDACTION: ReadonlySet<string> = new Set(["numbers", "true", "aggressive_numbers"]);

export interface DeepgramAsked {
  readonly model: string;
  readonly language: string | null;
  readonly detectsLanguage: boolean;
  readonly diarization: "v1" | "v2" | null;
  readonly isPunctuated: boolean;
  readonly hasParagraphs: boolean;
  readonly hasUtterances: boolean;
  readonly isMultichannel: boolean;
  readonly tags: readonly string[];
}
export type DeepgramJudgement =
  | { readonly ok: true; readonly asked: DeepgramAsked }
  | { readonly ok: false; readonly code: string; readonly message: string };

export function judgeDeepgramQuery(query: Pairs): DeepgramJudgement {
  const model = valueOf(query, "model") ?? "base-general";
  if (!MODELS.test(model))
    return { ok: false, code: "Bad Request", message: "Bad Request: No such model/version combination found." };
  const fault = findWrongParameter(query) ?? findWrongCombination(query, model);
  if (fault !== null) return { ok: false, code: "INVALID_QUERY_PARAMETER", message: fault };
  return { ok: true, asked: describe(query, model) };
}

/** The reason why a single parameter is wrong, or null. */
function findWrongParameter(query: Pairs): string | null {
  const names = new Set<string>();
  for (const [name, value] of query) {
    if (UNSIMULATED.includes(name)) return `The sandbox does not simulate \`${name}\`.`;
    if (![...BOOLEANS, ...REPEATABLE, ...FREE_TEXT].includes(name)) return `Unknown query parameter \`${name}\`.`;
    if (names.has(name) && !REPEATABLE.includes(name)) return `Query parameter \`${name}\` was given more than once.`;
    names.add(name);
    const fault = wrongValue(name, value);
    if (fault !== null) return `Invalid value for \`${name}\`: ${fault}.`;
  }
  return null;
}

function wrongValue(name: string, value: string): string | null {
  if (BOOLEANS.includes(name)) return isBoolean(value) ? null : "must be true or false";
  if (value === "") return "it is empty";
  switch (name) {
    case "diarize_model":
      return ["latest", "v1", "v2"].includes(value) ? null : "must be latest, v1 or v2";
    case "utt_split":
      return Number(value) > 0 ? null : "must be a number of seconds";
    case "language":
      return LANGUAGE.test(value) ? null : "not a BCP-47 tag";
    case "detect_language":
      return isBoolean(value) || (value !== "multi" && LANGUAGE.test(value))
        ? null
        : "must be a boolean or a language code";
    case "redact":
      return REDACTION_GROUPS.has(value) || REDACTABLE_ENTITIES.has(value)
        ? null
        : "no such entity or group; repeat the parameter for several";
    case "keywords":
      return TERM_WITH_BOOST.test(value) ? null : "must be term or term:boost";
    default:
      return null;
  }
}

/** The reason why the parameters conflict with each other or with the model, or null. */
function findWrongCombination(query: Pairs, model: string): string | null {
  const isNova3 = model === "simulated-speech" || model.startsWith("nova-3");
  const keyterms = valuesOf(query, "keyterm");
  if (keyterms.length > 0 && !isNova3) return "Keyterms are only supported for Nova-3. Please use `keywords` instead.";
  if (isNova3 && valueOf(query, "keywords") !== null)
    return "Keywords are not supported for Nova-3. Please use `keyterm` instead.";
  // The provider's tokenizer is not public. A token is at least a word, so this is the most lenient reading of the limit.
  const tokens = keyterms.flatMap((term) => term.trim().split(/\s+/)).length;
  if (tokens > MAX_KEYTERM_TOKENS)
    return `Keyterm limit exceeded. The maximum number of tokens across all keyterms is ${MAX_KEYTERM_TOKENS}.`;
  const codes = valuesOf(query, "detect_language");
  if (codes.length > 1 && codes.some(isBoolean))
    return "Invalid value for `detect_language`: either one boolean or language codes.";
  if (model === "simulated-speech") return null;
  return findWrongLanguage(query, model, codes);
}

function findWrongLanguage(query: Pairs, model: string, codes: readonly string[]): string | null {
  const language = valueOf(query, "language") ?? "en";
  const isDetected = codes.length > 0 && codes[0] !== "false";
  const isEnglish = !isDetected && language.split("-")[0] === "en";
  if (language === "multi" && !/^nova-[23]/.test(model)) return "`language=multi` needs nova-2 or nova-3.";
  const isMedicalMulti = model === "nova-3-medical" && !isDetected && language === "multi";
  if (model.endsWith("-medical") && !isEnglish && !isMedicalMulti)
    return "No such model/language/tier combination found.";
  const needsEnglish = valuesOf(query, "redact").some((value) => !NUMBER_REDACTION.has(value));
  // Not documented whether the provider refuses or ignores this. Refusing reveals the mistake.
  return needsEnglish && !isEnglish ? "Entity redaction is only available for English." : null;
}

function describe(query: Pairs, model: string): DeepgramAsked {
  const isOn = (name: string): boolean => valueOf(query, name) === "true";
  const codes = valuesOf(query, "detect_language");
  const diarizeModel = valueOf(query, "diarize_model");
  return {
    model,
    language: valueOf(query, "language"),
    detectsLanguage: codes.length > 0 && codes[0] !== "false",
    diarization: diarizeModel === null ? (isOn("diarize") ? "v1" : null) : diarizeModel === "v1" ? "v1" : "v2",
    isPunctuated: isOn("punctuate") || isOn("smart_format") || isOn("paragraphs"),
    hasParagraphs: isOn("paragraphs") || isOn("smart_format"),
    hasUtterances: isOn("utterances"),
    isMultichannel: isOn("multichannel"),
    tags: valuesOf(query, "tag"),
  };
}

const isBoolean = (value: string): boolean => value === "true" || value === "false";
