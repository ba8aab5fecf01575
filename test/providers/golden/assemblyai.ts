// AssemblyAI's submission per model and feature, from its API reference (POST /v2/transcript, checked 2026-11-26). Members
// of the JSON body, each value as JSON.
import type { Change, GoldenModel, Parameter } from "../suites/fixtures.ts";

const PCI = [
  "account_number",
  "banking_information",
  "credit_card_cvv",
  "credit_card_expiration",
  "credit_card_number",
];

function redacted(...policies: readonly string[]): Change {
  return {
    added: [
      ["redact_pii", "true"],
      ["redact_pii_policies", JSON.stringify(policies)],
      ["redact_pii_sub", '"entity_name"'],
    ],
  };
}

const FEATURES: GoldenModel["features"] = {
  diarization: { added: [["speaker_labels", "true"]] },
  // Words come with times always, and segments are made of them.
  "timestamps.word": {},
  "timestamps.segment": {},
  "redaction.pii": redacted(
    "date_of_birth",
    "drivers_license",
    "email_address",
    "gender_sexuality",
    "ip_address",
    "location",
    "marital_status",
    "nationality",
    "passport_number",
    "password",
    "person_age",
    "person_name",
    "phone_number",
    "physical_attribute",
    "political_affiliation",
    "religion",
    "url",
    "us_social_security_number",
    "username",
    "vehicle_id",
    "zodiac_sign",
    ...PCI,
  ),
  "redaction.pci": redacted(...PCI),
  "redaction.phi": redacted(
    "blood_type",
    "drug",
    "healthcare_number",
    "injury",
    "medical_condition",
    "medical_process",
    "date_of_birth",
    "person_age",
    "person_name",
    "us_social_security_number",
  ),
  "redaction.numbers": redacted(
    "number_sequence",
    "account_number",
    "credit_card_cvv",
    "credit_card_number",
    "healthcare_number",
    "passport_number",
    "phone_number",
    "us_social_security_number",
  ),
  keyterms: { added: [["keyterms_prompt", '["Patchbay","Zürich"]']] },
  multichannel: { added: [["multichannel", "true"]] },
  profanity_filter: { added: [["filter_profanity", "true"]] },
};

const DEFAULT_LANGUAGE: Parameter = ["language_code", '"en_us"'];

function golden(model: string, prompt: GoldenModel["preferences"]["prompt"]): GoldenModel {
  return {
    model,
    path: "/v2/transcript",
    base: [["speech_models", JSON.stringify([model])], DEFAULT_LANGUAGE],
    features: FEATURES,
    preferences: {
      // Never together with a language.
      detect_language: { added: [["language_detection", "true"]], removed: [DEFAULT_LANGUAGE] },
      // Bounds the labels, so it goes with them or not at all.
      speaker_count_hint: {},
      smart_formatting: {
        added: [
          ["punctuate", "true"],
          ["format_text", "true"],
        ],
      },
      prompt,
      language: { added: [["language_code", '"pt"']], removed: [DEFAULT_LANGUAGE] },
    },
  };
}

const PROMPT: Change = { added: [["prompt", '"A call about invoices."']] };

/** The query of the socket (docs/streaming, checked 2026-11-26). */
function streaming(
  model: string,
  detection: GoldenModel["preferences"]["detect_language"],
  language: GoldenModel["preferences"]["language"] = "dropped",
): GoldenModel {
  return {
    model,
    path: "/v3/ws",
    base: [
      ["speech_model", model],
      ["encoding", "pcm_s16le"],
      ["format_turns", "true"],
    ],
    features: {
      diarization: { added: [["speaker_labels", "true"]] },
      "timestamps.word": {},
      "timestamps.segment": {},
      keyterms: { added: [["keyterms_prompt", '["Patchbay","Zürich"]']] },
      streaming: {},
    },
    preferences: {
      detect_language: detection,
      speaker_count_hint: "dropped",
      smart_formatting: "dropped",
      prompt: "dropped",
      language,
    },
  };
}

const DETECTION: Change = { added: [["language_detection", "true"]] };

export const ASSEMBLYAI_STREAMING_GOLDEN: readonly GoldenModel[] = [
  streaming("u3-rt-pro", "dropped"),
  streaming("universal-3-6-pro", DETECTION, { added: [["language_codes", '["pt"]']] }),
  streaming("universal-streaming-english", "dropped"),
  streaming("universal-streaming-multilingual", DETECTION),
];

export const ASSEMBLYAI_GOLDEN: readonly GoldenModel[] = [
  golden("assemblyai-stt-3-7", PROMPT),
  golden("universal-3-5-pro", PROMPT),
  golden("universal-2", "dropped"),
  golden("universal-3-pro", PROMPT),
];
