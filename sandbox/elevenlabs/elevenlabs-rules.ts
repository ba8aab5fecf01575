// Validates fields of ElevenLabs' `POST /v1/speech-to-text`. Stricter than the provider on purpose [providers.sandbox-refusals]: refuses fields that are
// undocumented or cannot be simulated, so that a wrong adapter is noticed.
import { randomUUID } from "node:crypto";
import { isRetired } from "../retired-models.ts";
import { invalidField } from "../wire/fastapi-error.ts";
import { jsonAnswer, type Pairs, valueOf, valuesOf, type WireAnswer } from "../wire/wire.ts";

export const MAX_BODY_BYTES = 5_000_000_000;
const MODELS: ReadonlySet<string> = new Set(["scribe_v2", "scribe_v1"]);
const SINGLE: ReadonlySet<string> = new Set(
  "model_id language_code diarize num_speakers diarization_threshold timestamps_granularity tag_audio_events no_verbatim entity_redaction_mode use_multi_channel multichannel_output_style file_format temperature seed".split(
    " ",
  ),
);
const REPEATED: ReadonlySet<string> = new Set(["keyterms", "entity_detection", "entity_redaction"]);
const BOOLEANS: ReadonlySet<string> = new Set(["diarize", "tag_audio_events", "no_verbatim", "use_multi_channel"]);
const CATEGORIES: ReadonlySet<string> = new Set(["all", "pii", "phi", "pci", "other", "offensive_language"]);
const MODES: ReadonlySet<string> = new Set(["redacted", "entity_type", "enumerated_entity_type"]);
const FORBIDDEN_IN_TERMS = /[<>{}[\]\\]/u;

export interface ElevenLabsAsked {
  readonly model: string;
  readonly language: string | null;
  readonly isDiarized: boolean;
  readonly isMultichannel: boolean;
  readonly hasTimes: boolean;
}
export type ElevenLabsJudgement =
  | { readonly ok: true; readonly asked: ElevenLabsAsked }
  | { readonly ok: false; readonly refusal: WireAnswer };

export function judgeElevenLabsFields(fields: Pairs, hasFile: boolean, nowMs: number): ElevenLabsJudgement {
  const invalid = findInvalidField(fields, hasFile) ?? findRetiredModel(fields, nowMs);
  if (invalid !== null) return { ok: false, refusal: invalidField(...invalid) };
  const wrong = findWrongTerm(fields) ?? findWrongCombination(fields);
  if (wrong !== null) return { ok: false, refusal: badRequest(...wrong) };
  return {
    ok: true,
    asked: {
      model: valueOf(fields, "model_id") ?? "",
      language: valueOf(fields, "language_code"),
      isDiarized: valueOf(fields, "diarize") === "true",
      isMultichannel: valueOf(fields, "use_multi_channel") === "true",
      hasTimes: valueOf(fields, "timestamps_granularity") !== "none",
    },
  };
}

/** The field that validation refuses with 422, and the reason. */
function findInvalidField(fields: Pairs, hasFile: boolean): readonly [string, string] | null {
  if (!hasFile) return ["file", "Field required"];
  const names = new Set<string>();
  for (const [name, value] of fields) {
    if (!SINGLE.has(name) && !REPEATED.has(name)) return [name, "Unknown field"];
    if (names.has(name) && !REPEATED.has(name)) return [name, "Given more than once"];
    names.add(name);
    const fault = wrongValue(name, value);
    if (fault !== null) return [name, fault];
  }
  return names.has("model_id") ? null : ["model_id", "Field required"];
}

/** The text for a retired model is not documented: it is that for an unknown one. */
function findRetiredModel(fields: Pairs, nowMs: number): readonly [string, string] | null {
  return isRetired("elevenlabs", valueOf(fields, "model_id") ?? "", nowMs)
    ? ["model_id", "Input should be 'scribe_v2'"]
    : null;
}

function wrongValue(name: string, value: string): string | null {
  if (BOOLEANS.has(name)) return ["true", "false"].includes(value) ? null : "Input should be a valid boolean";
  switch (name) {
    case "model_id":
      return MODELS.has(value) ? null : "Input should be 'scribe_v2'";
    case "language_code":
      return /^[a-z]{2,3}$/u.test(value) ? null : "Not an ISO 639 code";
    case "num_speakers":
      return /^([1-9]|[12]\d|3[0-2])$/u.test(value) ? null : "Input should be between 1 and 32";
    case "timestamps_granularity":
      return ["none", "word", "character"].includes(value) ? null : "Input should be 'none', 'word' or 'character'";
    case "entity_detection":
    case "entity_redaction":
      return CATEGORIES.has(value) ? null : "No such entity or category; repeat the field for several";
    case "entity_redaction_mode":
      return MODES.has(value) ? null : "No such mode";
    case "multichannel_output_style":
      return ["separate", "combined"].includes(value) ? null : "Input should be 'separate' or 'combined'";
    default:
      return null;
  }
}

type Wrong = readonly [status: string, message: string, param: string];

function findWrongTerm(fields: Pairs): Wrong | null {
  const terms = valuesOf(fields, "keyterms");
  if (terms.length > 1000) return ["invalid_parameters", "At most 1000 keyterms are supported", "keyterms"];
  if (terms.some((term) => FORBIDDEN_IN_TERMS.test(term)))
    return ["invalid_keyword", "Some keyword contains invalid characters", "keyterms"];
  if (terms.some((term) => term.length >= 50 || term.trim().split(/\s+/u).length > 5))
    return ["invalid_keyword", "Some keyword is too long", "keyterms"];
  if (terms.length > 0 && valueOf(fields, "model_id") === "scribe_v1")
    return ["invalid_parameters", "keyterms is not supported by this model", "keyterms"];
  return null;
}

function findWrongCombination(fields: Pairs): Wrong | null {
  const isOn = (name: string): boolean => valueOf(fields, name) === "true";
  const wrong = (message: string, param: string): Wrong => ["invalid_parameters", message, param];
  if (isOn("use_multi_channel") && isOn("diarize"))
    return wrong("diarize must be false when use_multi_channel is true", "diarize");
  if (isOn("use_multi_channel") && valueOf(fields, "num_speakers") !== null)
    return wrong("num_speakers is not allowed when use_multi_channel is true", "num_speakers");
  if (valueOf(fields, "num_speakers") !== null && valueOf(fields, "diarization_threshold") !== null)
    return wrong("diarization_threshold needs num_speakers to be unset", "diarization_threshold");
  const detected = valuesOf(fields, "entity_detection");
  if (valuesOf(fields, "entity_redaction").some((each) => !detected.includes(each) && !detected.includes("all")))
    return wrong("entity_redaction must be a subset of entity_detection", "entity_redaction");
  const isV1 = valueOf(fields, "model_id") === "scribe_v1";
  if (isV1 && (detected.length > 0 || isOn("no_verbatim")))
    return wrong("Only supported with scribe_v2", detected.length > 0 ? "entity_detection" : "no_verbatim");
  if (valueOf(fields, "multichannel_output_style") === "combined" && detected.length > 0)
    return wrong("combined does not support entity detection", "multichannel_output_style");
  return null;
}

/** The newer of its two error formats. */
export function badRequest(status: string, message: string, param: string): WireAnswer {
  const detail = {
    type: "validation_error",
    code: "invalid_parameters",
    message,
    status,
    request_id: randomUUID(),
    param,
  };
  return jsonAnswer(400, { detail });
}
