// The provider interface: what one file per wire protocol supplies (src/providers/README.md).
// `plan` and `normalise` are pure; everything impure comes in through `Io`.
import type { z } from "zod";
import type { AudioFormat } from "../contract/audio-formats.ts";
import type { Feature, Lack, Preference, ReceiptGrade, RedactionGroup } from "../contract/features.ts";
import type { ProviderKind } from "../contract/provider-kinds.ts";
import type { OpenBytes } from "../lib/open-bytes.ts";
import type { Io, RemoteRun, StreamingIo } from "./io.ts";
import type { JsonReply } from "./read-reply.ts";

export { PROVIDER_KINDS, type ProviderKind } from "../contract/provider-kinds.ts";

/** How well a model does one feature. `weak` counts only where the route lists the feature in `accept_weak`. */
export interface FeatureSupport {
  readonly support: "native" | "exact" | "weak";
  readonly grade: ReceiptGrade;
  /** Primary language subtags under which the feature works; absent: all. Judged against the language in force. */
  readonly languages?: readonly string[];
  /** The gateway does it around the call, and the provider is not asked for it. */
  readonly byGateway?: true;
}

/** What a speech model declares as data. A declaration in the configuration file replaces it field by field. */
export interface SpeechModel {
  readonly features: { readonly [F in Feature]?: FeatureSupport };
  readonly preferences: readonly Preference[];
  readonly limits: SpeechLimits;
  /** Primary subtags the model covers; `any` when the provider publishes no closed list. */
  readonly languages: "any" | readonly string[];
  /** What a closed list rests on; for the docs. */
  readonly languagesFrom?: string;
  /**
   * Documented language when none is sent: a tag (then sent explicitly), or `auto` when the model detects by itself
   * and cannot be told a default: then the language in force is unknown.
   */
  readonly defaultLanguage: string;
  /** Primary subtags that the feature `translation` can answer in; absent: English alone, as in Whisper and its kin. */
  readonly translatesInto?: "any" | readonly string[];
  /** What it takes as live audio; absent: files alone. */
  readonly live?: readonly LiveEncoding[];
  /** It has no way but a stream. */
  readonly streamsOnly?: boolean;
  /** It takes bare samples alone: a recording is decoded here first, or the target lacks a `decoder`. */
  readonly samplesOnly?: boolean;
  /** Features that cannot be asked together; the target lacks the second when the first is asked. */
  readonly excludes?: readonly (readonly [Feature, Feature])[];
}

export interface SpeechLimits {
  readonly maxBytes?: number;
  readonly maxSeconds?: number;
  /** Shorter limits while a feature is asked. */
  readonly maxSecondsWith?: { readonly [F in Feature]?: number };
  readonly maxChannels?: number;
  readonly formats?: readonly AudioFormat[];
  readonly keyterms?: {
    readonly maxTerms?: number;
    readonly maxTermCharacters?: number;
    readonly maxTotalTokens?: number;
    readonly maxTermWords?: number;
    readonly forbiddenCharacters?: readonly string[];
  };
}

/**
 * Language in force [routing.language-in-force]: the one asked; with detection, unknown; else the target's documented default.
 * `asked`: a caller's tag. `detect`: detection asked. `default`: the target's tag, sent explicitly. `auto`: nothing known.
 */
export type LanguageInForce =
  | { readonly kind: "asked"; readonly tag: string }
  | { readonly kind: "detect" }
  | { readonly kind: "default"; readonly tag: string }
  | { readonly kind: "auto" };

/** What the gateway asks of one target: already judged, so every required feature is declared by the model. */
export interface SpeechRequest {
  readonly task: "transcribe" | "translate";
  /** The tag to translate into, one that the model covers; null when nothing is translated. */
  readonly toLanguage: string | null;
  readonly language: LanguageInForce;
  readonly diarization: boolean;
  /** Word times must come back. */
  readonly words: boolean;
  /** Segment times must come back; a model whose segments are `exact` may deliver words instead. */
  readonly segments: boolean;
  readonly keyterms: readonly string[];
  readonly redaction: readonly RedactionGroup[];
  readonly multichannel: boolean;
  readonly profanityFilter: boolean;
  /** The transcript as it is made: the plan is for `stream`. */
  readonly stream: boolean;
  readonly speakerCountHint: number | null;
  readonly smartFormatting: boolean | null;
  readonly prompt: string | null;
}

/** Audio that is sent while it is spoken [realtime.encodings]: bare 16-bit samples of one channel, or what a browser records. */
export const LIVE_ENCODINGS = ["pcm_s16le", "webm_opus"] as const;
export type LiveEncoding = (typeof LIVE_ENCODINGS)[number];
export const LIVE_SAMPLE_RATE = 16_000;

/** The audio as it was spooled and measured; sent under a name made from its content, never the caller's. */
export interface SpeechAudio {
  readonly format: AudioFormat;
  readonly mediaType: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly durationSeconds: number;
  readonly channels: number;
  /** Of its content; absent where nobody measured them. */
  readonly codec?: string;
  readonly sampleRate?: number;
  /** A fresh reader from the beginning; each attempt opens its own. */
  readonly open: OpenBytes;
  /** It has no end yet, and is read once: what `open` gives is spoken while it is read. */
  readonly live?: LiveEncoding;
  /** What `open` gives are bare 16-bit samples of one channel, so many a second. */
  readonly samplesPerSecond?: number;
}

/** One model on one account, as an adapter needs it. `settings` is the merged target and profile settings. */
export interface SpeechTarget {
  readonly model: string;
  readonly speech: SpeechModel;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A wire request, complete but for the base URL, the credential and the audio bytes. */
export type SpeechPlan =
  | { readonly kind: "raw"; readonly path: string; readonly query: readonly (readonly [string, string])[] }
  | { readonly kind: "multipart"; readonly path: string; readonly fields: readonly (readonly [string, string])[] }
  /** The adapter adds where the audio lies. */
  | { readonly kind: "json"; readonly path: string; readonly body: Readonly<Record<string, unknown>> };

export type PlanResult =
  | { readonly ok: true; readonly plan: SpeechPlan; readonly dropped: readonly Preference[] }
  | { readonly ok: false; readonly missing: readonly Lack[] };

/** A provider's answer in one piece. */
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

/** A normalised reply before the gateway's own finishing (speaker labels `S1…`, clamping, building what is missing). */
export interface ProviderTranscript {
  /** Whole text; for several channels the texts in channel order joined by newlines. */
  readonly text: string;
  /** BCP-47, or null when the provider does not say. */
  readonly language: string | null;
  readonly languageConfidence: number | null;
  readonly segments: readonly ProviderSegment[];
  readonly words: readonly ProviderWord[];
  /** The provider's own figure; kept for the usage record only. */
  readonly providerSeconds: number | null;
  readonly providerRequestId: string | null;
  readonly receipts: readonly Receipt[];
}

/** Proof, per required feature, that it came back [providers.receipts]. `delivered: false` fails the target. */
export interface Receipt {
  readonly feature: Feature | "model" | "language";
  readonly grade: ReceiptGrade;
  readonly delivered: boolean;
}

export type RemotePoll =
  | { readonly done: false; readonly retryAfterSeconds: number | null; readonly fraction: number | null }
  | { readonly done: true; readonly raw: RawTranscript };

/** The three calls of a provider that takes a submission and is polled for its end. */
export interface RemoteSpeech {
  /** Whether a plan can be submitted: each, where it is absent. One that cannot is for `transcribe`. */
  takes?(plan: SpeechPlan): boolean;
  submit(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RemoteRun>;
  /**
   * A run that failed at the provider is thrown as a `ProviderError`, definite. Trouble with the poll itself says nothing
   * about the run and is thrown as `unknown`, `timeout` or `aborted`; `pollToEnd` asks again.
   */
  poll(run: RemoteRun, io: Io): Promise<RemotePoll>;
  /** Deletes what the provider keeps of it. Gone already counts as deleted. */
  remove(run: RemoteRun, io: Io): Promise<void>;
}

/**
 * What a provider says of one file while it transcribes it. The stream ends with exactly one `end`, which is what the answer
 * would have been in one piece, and throws a `ProviderError` wherever it breaks before.
 */
export type SpeechEvent =
  /** Never empty. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "segment"; readonly segment: ProviderSegment }
  | { readonly type: "end"; readonly raw: RawTranscript };

export interface SpeechProvider {
  readonly kind: ProviderKind;
  /** Models known from the start, by name. */
  readonly models: Readonly<Record<string, SpeechModel>>;
  /** What is wrong with a credential as far as its form shows, without a word of it. */
  readonly credentialFault?: (credential: string) => string | null;
  /** What a target's settings change about a model: what an account was given besides its credential. */
  readonly configured?: (name: string, model: SpeechModel, settings: Readonly<Record<string, unknown>>) => SpeechModel;
  /** What a model absent from the catalogue is assumed to do before its declaration adds to it. */
  readonly unknownModel?: SpeechModel;
  readonly defaultBaseUrl: string | null;
  /** What a target's `settings` may hold; unknown keys are refused when the configuration is read. */
  readonly settings: z.ZodType;
  plan(request: SpeechRequest, target: SpeechTarget): PlanResult;
  /** In one go. A provider with `remote` submits and polls in it, and tells `io.onRemoteRun` in between. */
  transcribe(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript>;
  /** Of models with the feature `streaming`: a plan that asks for it, piece by piece. */
  readonly stream?: (plan: SpeechPlan, audio: SpeechAudio, io: StreamingIo) => AsyncIterable<SpeechEvent>;
  readonly remote?: RemoteSpeech;
  /**
   * Deletes what a provider without `remote` keeps of a call that it answered at once; `transcribe` tells `io.onRemoteRun`
   * of it when the answer is there.
   */
  remove?(run: RemoteRun, io: Io): Promise<void>;
  normalise(raw: RawTranscript, request: SpeechRequest, target: SpeechTarget, audio: SpeechAudio): ProviderTranscript;
}
