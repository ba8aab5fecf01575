// Maps each field of a request with audio (transcription, translation or job) to a command-line option [cli.every-field]. A test compares this list with the
// schemas.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { PROFILES } from "../../contract/features.ts";
import { jobFields } from "../../contract/jobs.ts";
import {
  audioFields,
  RESPONSE_FORMATS,
  transcriptionFields,
  translationFields,
} from "../../contract/transcription/transcription-fields.ts";

type Field = keyof typeof transcriptionFields.shape;
type MoreField = Exclude<keyof typeof jobFields.shape, Field>;

/** Fields of each kind of request with audio. */
export const AUDIO_REQUESTS = {
  transcription: transcriptionFields,
  translation: translationFields,
  job: jobFields,
} as const;
export type AudioRequest = keyof typeof AUDIO_REQUESTS;

interface FieldOption {
  /** Long name without dashes; commander uses its `camelCase` as key. */
  readonly name: string;
  readonly kind: "flag" | "text" | "number" | "list" | "choice" | "redaction" | "pairs" | "policy";
  readonly choices?: readonly string[];
}

const FIELD_OPTIONS: Readonly<Record<Field, FieldOption>> = {
  mode: { name: "mode", kind: "choice", choices: ["batch", "async", "realtime"] },
  stream: { name: "stream", kind: "flag" },
  dry_run: { name: "dry-run", kind: "flag" },
  language: { name: "language", kind: "text" },
  diarization: { name: "diarization", kind: "flag" },
  speaker_count_hint: { name: "speaker-count-hint", kind: "number" },
  timestamps: { name: "timestamps", kind: "choice", choices: ["word", "segment", "both"] },
  custom_vocabulary: { name: "custom-vocabulary", kind: "list" },
  keyterms: { name: "keyterm", kind: "list" },
  smart_formatting: { name: "smart-formatting", kind: "flag" },
  detect_language: { name: "detect-language", kind: "flag" },
  profanity_filter: { name: "profanity-filter", kind: "flag" },
  redaction: { name: "redaction", kind: "redaction" },
  multichannel: { name: "multichannel", kind: "flag" },
  prompt: { name: "prompt", kind: "text" },
  response_format: { name: "response-format", kind: "choice", choices: RESPONSE_FORMATS },
  purpose: { name: "purpose", kind: "text" },
  purpose_policy: { name: "purpose-policy", kind: "choice", choices: ["fallback", "strict"] },
  response_profile: { name: "response-profile", kind: "choice", choices: PROFILES },
  data_policy: { name: "data-policy", kind: "policy" },
};

const MORE_OPTIONS: Readonly<Record<MoreField, FieldOption>> = {
  to_language: { name: "to-language", kind: "text" },
  task: { name: "task", kind: "choice", choices: ["transcribe", "translate"] },
  metadata: { name: "metadata", kind: "pairs" },
};

/** The options of a request by field name. */
export function optionsOf(request: AudioRequest): readonly (readonly [field: string, option: FieldOption])[] {
  const { shape } = AUDIO_REQUESTS[request];
  return Object.entries({ ...FIELD_OPTIONS, ...MORE_OPTIONS }).filter(([field]) => Object.hasOwn(shape, field));
}

/** Adds every field's options to a command; `--no-…` sends an explicit false, which overrides a purpose's default. */
export function addFieldOptions(command: Command, request: AudioRequest = "transcription"): Command {
  const shape: Readonly<Record<string, z.ZodOptional>> = AUDIO_REQUESTS[request].shape;
  for (const [field, option] of optionsOf(request)) {
    const doc = shape[field] === undefined ? "" : descriptionOf(shape[field]);
    if (option.kind === "flag") {
      command.addOption(new Option(`--${option.name}`, doc));
      command.addOption(new Option(`--no-${option.name}`, `Send \`${field}: false\`.`).hideHelp());
    } else command.addOption(valueOption(option, doc));
  }
  return command
    .addOption(new Option("--media-type <type>", descriptionOf(audioFields.shape.media_type)))
    .addOption(new Option("--filename <name>", descriptionOf(audioFields.shape.filename)));
}

function valueOption(option: FieldOption, doc: string): Option {
  switch (option.kind) {
    case "choice":
      return new Option(`--${option.name} <${option.name}>`, doc).choices(option.choices ?? []);
    case "list":
      return new Option(`--${option.name} <term>`, `${doc} Repeatable.`).argParser(
        (term: string, terms: string[] | undefined) => [...(terms ?? []), term],
      );
    case "pairs":
      return new Option(`--${option.name} <name=text>`, `${doc} Repeatable.`).argParser(parsePair);
    case "policy":
      return policyOption(option.name, doc);
    case "redaction":
      return new Option(`--${option.name} <groups>`, `${doc} Or a list such as pii,numbers.`).argParser(parseRedaction);
    case "number":
      return new Option(`--${option.name} <n>`, doc).argParser(parseCount);
    case "text":
    case "flag":
      return new Option(`--${option.name} <text>`, doc);
  }
}

/** The given options, under their API names. */
export function fieldsOf(
  options: Readonly<Record<string, unknown>>,
  request: AudioRequest = "transcription",
): Record<string, unknown> {
  const pairs = optionsOf(request).flatMap(([field, option]) => {
    const value = options[optionKey(option.name)];
    return value === undefined ? [] : [[field, value] as const];
  });
  return Object.fromEntries(pairs);
}

function optionKey(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function parseRedaction(text: string): boolean | string[] {
  if (text === "true" || text === "false") return text === "true";
  return text.split(",").map((group) => group.trim());
}

/** `--data-policy training=never --data-policy retention=30 --data-policy regions=eu,us`. */
export function policyOption(name: string, doc: string): Option {
  const usage = "`training=never`, `retention=none`, `retention=30`, `regions=eu,us`. Repeatable.";
  return new Option(`--${name} <name=value>`, `${doc} ${usage}`).argParser(parsePolicy);
}

function parsePolicy(text: string, policy: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const [[name, value] = ["", ""]] = Object.entries(parsePair(text, {}));
  if (name === "regions") return { ...policy, regions: value.split(",").map((region) => region.trim()) };
  return { ...policy, [name]: name === "retention" && /^\d{1,9}$/u.test(value) ? Number(value) : value };
}

function parsePair(text: string, pairs: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("It must be NAME=TEXT.");
  return { ...pairs, [text.slice(0, equals)]: text.slice(equals + 1) };
}

export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** The description belongs to the schema inside `.optional()`. */
export function descriptionOf(schema: z.ZodOptional): string {
  return schema.description ?? (schema.unwrap() as z.ZodType).description ?? "";
}
