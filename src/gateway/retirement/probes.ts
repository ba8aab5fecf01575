// The requests that show whether a route delivers a feature [retirement.probes]: one for each feature and each group of languages that its models distinguish.
// Pure.
import { CHAT_FEATURES, type ChatFeature, FEATURES, type Feature } from "../../contract/features.ts";
import type { ChatFields } from "../../contract/chat/chat-request.ts";
import type { TranslationFields } from "../../contract/transcription/transcription-fields.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import type { SpeechModel } from "../../providers/provider.ts";
import type { AudioFacts } from "../../routing/judge-target.ts";
import { withDefaults } from "../../routing/purpose-defaults.ts";
import { type Requirements, requiredFeatures } from "../../routing/required-features.ts";
import type { PurposeDefaults } from "../../routing/types.ts";
import { chatRequest } from "../chat/chat-request.ts";
import { liveFacts } from "../transcription/unmeasured-audio.ts";

/** What a route can lose as a whole: the names of features without any requirement. */
export const TRANSCRIPTION = "transcription";
export const CHAT = "chat";
/** Live audio over a WebSocket. */
export const LIVE_AUDIO = "live_audio";
/** The language group of requests that name no language: BCP 47's tag of an undetermined one. */
export const UNSPECIFIED = "und";
/** A purpose without required features. */
const PURPOSE = "purpose";
/** Languages that no model of the route names. */
export const OTHER_LANGUAGES = "other";

export interface AudioProbe {
  readonly kind: "audio";
  readonly feature: string;
  /** The languages that this probe represents. */
  readonly languages: readonly string[];
  readonly task: Requirements["task"];
  readonly fields: TranslationFields;
  readonly audio: AudioFacts | null;
  /** Of a purpose's own request: the features that its defaults require together. */
  readonly parts?: readonly Feature[];
}

export interface ChatProbe {
  readonly kind: "chat";
  readonly feature: string;
  readonly languages: readonly string[];
  readonly request: ChatRequest;
}

export type Probe = AudioProbe | ChatProbe;

const AUDIO_FIELDS: { readonly [F in Exclude<Feature, "translation">]: TranslationFields } = {
  diarization: { diarization: true },
  "timestamps.word": { timestamps: "word" },
  "timestamps.segment": { timestamps: "segment" },
  "redaction.pii": { redaction: ["pii"] },
  "redaction.pci": { redaction: ["pci"] },
  "redaction.phi": { redaction: ["phi"] },
  "redaction.numbers": { redaction: ["numbers"] },
  keyterms: { keyterms: ["Ada"] },
  multichannel: { multichannel: true },
  profanity_filter: { profanity_filter: true },
  streaming: { stream: true },
};

/** `models`: every speech model that the targets have, or are answered by, on any day. */
export function audioProbes(models: readonly SpeechModel[]): readonly AudioProbe[] {
  const groups = languageGroups(models);
  const inEach = (feature: string, fields: TranslationFields, rest: Partial<AudioProbe> = {}): readonly AudioProbe[] =>
    groups.map(({ language, languages }) => ({
      kind: "audio",
      feature,
      languages,
      task: "transcribe",
      fields: language === null ? fields : { ...fields, language },
      audio: null,
      ...rest,
    }));
  return [
    ...inEach(TRANSCRIPTION, {}),
    ...FEATURES.flatMap((feature) => (feature === "translation" ? [] : inEach(feature, AUDIO_FIELDS[feature]))),
    ...inEach("translation", {}, { task: "translate" }),
    ...inEach(LIVE_AUDIO, { stream: true }, { audio: liveFacts("pcm_s16le") }),
  ];
}

/** The request of a purpose whose caller sends nothing but the audio. */
export function purposeProbe(defaults: PurposeDefaults): AudioProbe {
  const fields = withDefaults({}, defaults);
  const { features } = requiredFeatures(fields, "transcribe");
  return {
    kind: "audio",
    feature: features.length === 0 ? PURPOSE : features.join("+"),
    languages: [fields.language ?? UNSPECIFIED],
    task: "transcribe",
    fields,
    audio: null,
    parts: features,
  };
}

interface LanguageGroup {
  /** A member of the group. Null: none is sent. */
  readonly language: string | null;
  readonly languages: readonly string[];
}

/** A tag that no model lists: ISO 639's code of no linguistic content. */
const UNLISTED = "zxx";

/** Languages that every model treats alike are one group, so that there are a few probes instead of a hundred. */
function languageGroups(models: readonly SpeechModel[]): readonly LanguageGroup[] {
  const lists = models.flatMap(({ languages, features }) => [
    ...(languages === "any" ? [] : [languages]),
    ...Object.values(features).flatMap(({ languages: conditional }) =>
      conditional === undefined ? [] : [conditional],
    ),
  ]);
  const sets = [...new Set(lists)].map((list) => new Set(list));
  const all = [...new Set(lists.flat())].toSorted();
  const groups = Map.groupBy(all, (language) => sets.map((set) => (set.has(language) ? "1" : "0")).join(""));
  return [
    { language: null, languages: [UNSPECIFIED] },
    ...[...groups.values()].map((languages) => ({ language: languages[0] ?? null, languages })),
    { language: UNLISTED, languages: [OTHER_LANGUAGES] },
  ];
}

const HELLO: ChatFields["messages"] = [{ role: "user", content: "Hello" }];
const TOOLS: NonNullable<ChatFields["tools"]> = [
  { type: "function", function: { name: "answer", parameters: { type: "object", properties: {} } } },
];
/** The strictest form, which every provider with the feature accepts. */
const SCHEMA = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
};
/** One transparent pixel. */
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const CHAT_FIELDS: { readonly [F in ChatFeature]: ChatFields } = {
  tools: { messages: HELLO, tools: TOOLS },
  tool_choice: { messages: HELLO, tools: TOOLS, tool_choice: "required" },
  parallel_tool_calls: { messages: HELLO, tools: TOOLS, parallel_tool_calls: false },
  "response_format.json_object": { messages: HELLO, response_format: { type: "json_object" } },
  "response_format.json_schema": {
    messages: HELLO,
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
  },
  image_parts: { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: PIXEL } }] }] },
  audio_parts: {
    messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }] }],
  },
};

export function chatProbes(): readonly ChatProbe[] {
  const probe = (feature: string, fields: ChatFields): ChatProbe => ({
    kind: "chat",
    feature,
    languages: [UNSPECIFIED],
    request: chatRequest(fields, false),
  });
  return [probe(CHAT, { messages: HELLO }), ...CHAT_FEATURES.map((feature) => probe(feature, CHAT_FIELDS[feature]))];
}
