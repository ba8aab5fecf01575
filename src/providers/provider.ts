// The interface of a speech provider, which each wire protocol implements in one file (src/providers/README.md). `plan` and `normalise` are pure, and all side
// effects go through `Io`.
import type { z } from "zod";
import type { AudioFormat } from "../contract/transcription/audio-formats.ts";
import type { Feature, Lack, Preference, ReceiptGrade, RedactionGroup } from "../contract/features.ts";
import type { ProviderKind } from "../contract/provider-kinds.ts";
import type { OpenBytes } from "../lib/open-bytes.ts";
import type { Io, RemoteRun, StreamingIo } from "./io.ts";
import type { ModelLife, NotOffered } from "./model-life.ts";
import type { Receipt } from "./receipt.ts";
import type { JsonReply } from "./wire/read-reply.ts";

export { PROVIDER_KINDS, type ProviderKind } from "../contract/provider-kinds.ts";
export type { Receipt } from "./receipt.ts";

/** How well a model supports one feature. `weak` counts only if the route lists the feature in `accept_weak`. */
export interface FeatureSupport {
  readonly support: "native" | "exact" | "weak";
  readonly grade: ReceiptGrade;
  /** Primary language subtags for which the feature works. Absent: all. Compared with the language in force. */
  readonly languages?: readonly string[];
  /** The gateway implements it around the call and does not request it from the provider. */
  readonly byGateway?: true;
}

/** A speech model's declared capabilities. A declaration in the configuration file replaces them field by field. */
export interface SpeechModel {
  /** Absent for models that the configuration declares. */
  readonly life?: ModelLife;
  readonly features: { readonly [F in Feature]?: FeatureSupport };
  readonly preferences: readonly Preference[];
  readonly limits: SpeechLimits;
  /** Primary subtags that the model supports. `any` if the provider publishes no closed list. */
  readonly languages: "any" | readonly string[];
  /** The source of a closed list, for the documentation. */
  readonly languagesFrom?: string;
  /**
   * Documented default language: a tag (then sent explicitly), or `auto` if the model detects by itself and accepts no default, so that the language in force
   * is unknown.
   */
  readonly defaultLanguage: string;
  /** Primary subtags that the feature `translation` can produce. Absent: only English, as in Whisper. */
  readonly translatesInto?: "any" | readonly string[];
  /** Encodings of live audio that it accepts. Absent: only files. */
  readonly live?: readonly LiveEncoding[];
  /** It supports only streaming. */
  readonly streamsOnly?: boolean;
  /** It accepts only PCM: a recording is decoded here first, or the target lacks a `decoder`. */
  readonly samplesOnly?: boolean;
  /** It cannot be called on this machine at the moment, whatever is requested. */
  readonly unusable?: Lack;
  /** The provider has it, and no adapter speaks its protocol. */
  readonly notOffered?: NotOffered;
  /** It shows what recognition looks like and is for nothing else: the warning `DEMONSTRATION_MODEL` of each of its answers. */
  readonly demonstrationNotice?: string;
  /** For operators: what would provide what the model lacks, as in "run `…`". */
  readonly hints?: { readonly [L in Lack]?: string };
  /** Features that cannot be combined: the target lacks the second when the first is requested. */
  readonly excludes?: readonly (readonly [Feature, Feature])[];
}

/** A built-in model, of which it is known when it was checked and when it ends [providers.model-life]. */
export type CataloguedSpeechModel = SpeechModel & { readonly life: ModelLife };

export interface SpeechLimits {
  readonly maxBytes?: number;
  readonly maxSeconds?: number;
  /** Shorter limits while a feature is requested. */
  readonly maxSecondsWith?: { readonly [F in Feature]?: number };
  readonly maxChannels?: number;
  readonly formats?: readonly AudioFormat[];
  /** It accepts these recordings and no others. */
  readonly recordings?: readonly KnownRecording[];
  readonly keyterms?: {
    readonly maxTerms?: number;
    readonly maxTermCharacters?: number;
    readonly maxTotalTokens?: number;
    readonly maxTermWords?: number;
    readonly forbiddenCharacters?: readonly string[];
  };
}

/** A recording, recognised by its bytes. */
export interface KnownRecording {
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * The language in force [routing.language-in-force]: the requested one, unknown with detection, otherwise the target's documented default. `asked`: a caller's
 * tag. `detect`: detection requested. `default`: the target's tag, sent explicitly. `auto`: unknown.
 */
export type LanguageInForce =
  | { readonly kind: "asked"; readonly tag: string }
  | { readonly kind: "detect" }
  | { readonly kind: "default"; readonly tag: string }
  | { readonly kind: "auto" };

/** A validated request to one target: the model declares every required feature. */
export interface SpeechRequest {
  readonly task: "transcribe" | "translate";
  /** The tag to translate into, which the model supports. Null: no translation. */
  readonly toLanguage: string | null;
  readonly language: LanguageInForce;
  readonly diarization: boolean;
  /** Word times are required. */
  readonly words: boolean;
  /** Segment times are required. A model with `exact` segments may return words instead. */
  readonly segments: boolean;
  readonly keyterms: readonly string[];
  readonly redaction: readonly RedactionGroup[];
  readonly multichannel: boolean;
  readonly profanityFilter: boolean;
  /** Return the transcript while it is generated: the plan is for `stream`. */
  readonly stream: boolean;
  readonly speakerCountHint: number | null;
  readonly smartFormatting: boolean | null;
  readonly prompt: string | null;
}

/** Encodings of live audio [realtime.encodings]: 16-bit mono PCM, or a browser's recording. */
export const LIVE_ENCODINGS = ["pcm_s16le", "webm_opus"] as const;
export type LiveEncoding = (typeof LIVE_ENCODINGS)[number];
export const LIVE_SAMPLE_RATE = 16_000;

/** Spooled and measured audio. Sent under a name derived from its content, never the caller's. */
export interface SpeechAudio {
  readonly format: AudioFormat;
  readonly mediaType: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly durationSeconds: number;
  readonly channels: number;
  /** From its content. Absent if it was not measured. */
  readonly codec?: string;
  readonly sampleRate?: number;
  /** A new reader from the beginning. Each attempt opens its own. */
  readonly open: OpenBytes;
  /** Live audio without a known end: `open` can be read once, while it is spoken. */
  readonly live?: LiveEncoding;
  /** SHA-256 of the recording, if it has the size of one that a model knows. Absent: it has not. */
  readonly sha256?: string;
  /** `open` yields 16-bit mono PCM with this sample rate. */
  readonly samplesPerSecond?: number;
}

/** One model on one account. `settings` are the merged settings of target and profile. */
export interface SpeechTarget {
  readonly model: string;
  readonly speech: SpeechModel;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A complete wire request without base URL, credential and audio bytes. */
export type SpeechPlan =
  | { readonly kind: "raw"; readonly path: string; readonly query: readonly (readonly [string, string])[] }
  | { readonly kind: "multipart"; readonly path: string; readonly fields: readonly (readonly [string, string])[] }
  /** The adapter adds where the audio is stored. */
  | { readonly kind: "json"; readonly path: string; readonly body: Readonly<Record<string, unknown>> };

export type PlanResult =
  | { readonly ok: true; readonly plan: SpeechPlan; readonly dropped: readonly Preference[] }
  | { readonly ok: false; readonly missing: readonly Lack[] };

/** A provider's complete answer. */
export interface RawTranscript extends JsonReply {}

export interface ProviderWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number | null;
  readonly speaker: string | null;
  readonly channel: number | null;
}
export interface ProviderSegment extends ProviderWord {}

/** A normalised reply before the gateway completes it (speaker labels `S1…`, clamping, building missing parts). */
export interface ProviderTranscript {
  /** The whole text. Several channels' texts are in channel order, joined by newlines. */
  readonly text: string;
  /** BCP 47. Null: not reported by the provider. */
  readonly language: string | null;
  readonly languageConfidence: number | null;
  readonly segments: readonly ProviderSegment[];
  readonly words: readonly ProviderWord[];
  /** The provider's own figure, stored only in the usage record. */
  readonly providerSeconds: number | null;
  readonly providerRequestId: string | null;
  readonly receipts: readonly Receipt[];
}

export type RemotePoll =
  | { readonly done: false; readonly retryAfterSeconds: number | null; readonly fraction: number | null }
  | { readonly done: true; readonly raw: RawTranscript };

/** The three calls of a provider that accepts a submission and is polled for its end. */
export interface RemoteSpeech {
  /** Whether a plan can be submitted. Absent: every plan. Others use `transcribe`. */
  takes?(plan: SpeechPlan): boolean;
  submit(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RemoteRun>;
  /**
   * A run that failed at the provider is thrown as a definite `ProviderError`. A failure of the poll itself proves nothing about the run and is thrown as
   * `unknown`, `timeout` or `aborted`: `pollToEnd` retries.
   */
  poll(run: RemoteRun, io: Io): Promise<RemotePoll>;
  /** Deletes what the provider stores of a run. One that does not exist counts as deleted. */
  remove(run: RemoteRun, io: Io): Promise<void>;
}

/**
 * Events while a provider transcribes one file. The stream ends with exactly one `end`, which contains what a buffered reply would have had, and throws a
 * `ProviderError` if it breaks before.
 */
export type SpeechEvent =
  /** Never empty. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "segment"; readonly segment: ProviderSegment }
  | { readonly type: "end"; readonly raw: RawTranscript };

export interface SpeechProvider {
  readonly kind: ProviderKind;
  /** Built-in models by name. */
  readonly models: Readonly<Record<string, SpeechModel>>;
  /** Models that are known and not offered, by name [providers.not-offered]. */
  readonly notOffered?: Readonly<Record<string, CataloguedSpeechModel>>;
  /** Describes a credential that is malformed, without quoting it. */
  readonly credentialFault?: (credential: string) => string | null;
  /** Applies a target's settings to a model: options of an account other than its credential. */
  readonly configured?: (name: string, model: SpeechModel, settings: Readonly<Record<string, unknown>>) => SpeechModel;
  /** Assumed capabilities of a model outside the catalogue, which its declaration extends. */
  readonly unknownModel?: SpeechModel;
  readonly defaultBaseUrl: string | null;
  /** Its models run on this machine: its default address is no URL, and accounts have no other. */
  readonly isOnThisMachine?: true;
  /** An account may lead to any server: that a model is known says nothing about whether the server has it. */
  readonly isAnyServer?: true;
  /** Schema of a target's `settings`. Unknown keys are refused when the configuration is read. */
  readonly settings: z.ZodType;
  plan(request: SpeechRequest, target: SpeechTarget): PlanResult;
  /** Transcribes in one call. With `remote` it submits and polls, and calls `io.onRemoteRun` in between. */
  transcribe(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript>;
  /** For models with the feature `streaming` and plans that request it. */
  readonly stream?: (plan: SpeechPlan, audio: SpeechAudio, io: StreamingIo) => AsyncIterable<SpeechEvent>;
  readonly remote?: RemoteSpeech;
  /**
   * Deletes what a provider without `remote` stores of a call that it answered at once. `transcribe` reports it to `io.onRemoteRun` when the answer has
   * arrived.
   */
  remove?(run: RemoteRun, io: Io): Promise<void>;
  normalise(raw: RawTranscript, request: SpeechRequest, target: SpeechTarget, audio: SpeechAudio): ProviderTranscript;
}
