// The chat side of the provider interface: what one file per chat protocol supplies. `plan` is pure;
// everything impure comes in through `StreamingIo`. Its speech counterpart is provider.ts.
import type { z } from "zod";
import type { HistoryField } from "../contract/chat-history.ts";
import type {
  ChatDropped,
  ChatFeature,
  ChatLack,
  ChatPreference,
  ReasoningEffort,
  ReceiptGrade,
  Verbosity,
} from "../contract/features.ts";
import type { StreamingIo, WireRequest } from "./io.ts";
import type { ProviderKind } from "./provider.ts";

/** What a chat model declares as data. A declaration in the configuration file replaces it field by field. */
export interface ChatModel {
  readonly features: readonly ChatFeature[];
  readonly preferences: readonly ChatPreference[];
  readonly limits: ChatLimits;
  /** Features that cannot be asked together; the target lacks the second when the first is asked. */
  readonly excludes?: readonly (readonly [ChatFeature, ChatFeature])[];
  /** Preferences that cannot be sent together; the second is dropped when both are asked. */
  readonly rivals?: readonly (readonly [ChatPreference, ChatPreference])[];
  readonly quirks?: readonly ChatQuirk[];
}

export interface ChatLimits {
  /** Most tokens of one answer, reasoning included; absent: unknown. */
  readonly maxOutputTokens?: number;
  readonly contextTokens?: number;
  readonly maxTemperature?: number;
  readonly maxStopSequences?: number;
  /** The efforts that the model knows; absent: none. */
  readonly reasoningEfforts?: readonly ReasoningEffort[];
  /** What one image is at most; absent: no more than with others. */
  readonly imageTokens?: number;
  /** Media types of images taken; absent: any. */
  readonly imageTypes?: readonly string[];
}

export type ChatQuirk =
  /** Instructions go in role `developer`. */
  | "developer_role"
  /** "This model does not support assistant message prefill. The conversation must end with a user message." */
  | "no_prefill"
  /** A tool call brought back must carry the signature the model gave it. */
  | "signed_tool_calls";

/** Up to where the provider may keep the input for later requests. */
export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "5m" | "1h";
}

/** What a model thought, under its server's name for it: who answers with a name takes it back under the same. */
export interface Reasoning {
  readonly field: "reasoning_content" | "reasoning";
  readonly text: string;
}

export interface ChatTextPart {
  readonly kind: "text";
  readonly text: string;
  readonly cache?: CacheControl;
}

export type ChatPart =
  | ChatTextPart
  | {
      readonly kind: "image";
      readonly mediaType: string;
      readonly base64: string;
      /** How closely it is looked at, where the protocol has a word for it; a preference. */
      readonly detail?: "auto" | "low" | "high";
    }
  | { readonly kind: "audio"; readonly format: "wav" | "mp3"; readonly base64: string };

export type ChatMessage =
  /** `parts`: the same text, where some of it is to be cached. */
  | { readonly role: "system"; readonly text: string; readonly parts?: readonly ChatTextPart[] }
  | { readonly role: "user"; readonly parts: readonly ChatPart[] }
  | {
      readonly role: "assistant";
      readonly text: string | null;
      readonly toolCalls: readonly ChatToolCall[];
      readonly reasoning?: Reasoning;
      readonly cache?: CacheControl;
    }
  | { readonly role: "tool"; readonly toolCallId: string; readonly text: string; readonly cache?: CacheControl };

export interface ChatToolCall {
  /** Opaque and to be brought back unchanged: what a provider wants to see again may be in it, some thousand characters. */
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it; it may be broken where the answer was cut by its length. */
  readonly arguments: string;
  /** Of a call brought back: what its provider signed it with, where the caller kept that in a field of its own. */
  readonly signature?: string;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ChatTool {
  readonly name: string;
  readonly description: string | null;
  /** null: a function without arguments. */
  readonly parameters: JsonSchema | null;
  readonly strict: boolean | null;
  readonly cache?: CacheControl;
}

export type ChatToolChoice =
  | { readonly kind: "auto" | "none" | "required" }
  | { readonly kind: "tool"; readonly name: string };

export type ChatResponseFormat =
  | { readonly kind: "text" | "json_object" }
  | {
      readonly kind: "json_schema";
      readonly name: string;
      readonly description: string | null;
      readonly schema: JsonSchema;
      readonly strict: boolean | null;
    };

/** What the gateway asks of one target: already judged, so every required feature is declared by the model. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** null here and below: the caller said nothing. */
  readonly toolChoice: ChatToolChoice | null;
  readonly parallelToolCalls: boolean | null;
  readonly responseFormat: ChatResponseFormat;
  /** null: the model's limit is sent, so that what was reserved is what can be spent. */
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly seed: number | null;
  readonly stop: readonly string[];
  readonly reasoningEffort: ReasoningEffort | null;
  readonly verbosity: Verbosity | null;
  /** What the conversation brings back of other backends' answers; absent: nothing. */
  readonly history?: readonly HistoryField[];
  /** Which of `chat` and `stream` the plan is for. */
  readonly stream: boolean;
}

/** One model on one account, as an adapter needs it. `settings` is the merged target and profile settings. */
export interface ChatTarget {
  readonly model: string;
  readonly chat: ChatModel;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A wire request, complete but for the base URL and the credential. */
export interface ChatPlan {
  readonly path: string;
  readonly query: NonNullable<WireRequest["query"]>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export type ChatPlanResult =
  | {
      readonly ok: true;
      readonly plan: ChatPlan;
      readonly dropped: readonly ChatDropped[];
      /** Of the request's `history`: what this target does not want. */
      readonly ignored?: readonly HistoryField[];
      /** Tools, by position, whose schema this target takes in another form only. */
      readonly rewrittenTools?: readonly number[];
    }
  | { readonly ok: false; readonly missing: readonly ChatLack[] };

export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** As the provider reported it. Reasoning is part of the output, cached input part of the input. */
export interface ChatUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}

export interface ChatResult {
  /** null only with tool calls alone. */
  readonly text: string | null;
  /** The text is what the model said instead of an answer, where the protocol tells one from the other. */
  readonly isRefusal?: boolean;
  /** Where the server tells it from the answer. */
  readonly reasoning?: Reasoning;
  readonly toolCalls: readonly ChatToolCall[];
  readonly finishReason: ChatFinishReason;
  /** The provider ended a whole answer with a word that is in no table, or with none. */
  readonly isFinishUnknown?: true;
  /** null: the provider did not report any; to be estimated and marked. */
  readonly usage: ChatUsage | null;
  readonly providerRequestId: string | null;
}

/** Proof, per required feature, that the answer has it. `delivered: false` fails the target. */
export interface ChatReceipt {
  readonly feature: ChatFeature;
  readonly grade: ReceiptGrade;
  readonly delivered: boolean;
}

/**
 * A stream begins with `open`, ends with exactly one `finish`, and throws a `ProviderError` wherever it breaks before.
 * `usage` comes at any place before the end, possibly more than once: the last one counts, also when the stream broke.
 */
export type ChatEvent =
  /** The provider took the request; nothing of the answer is there yet. */
  | { readonly type: "open"; readonly providerRequestId: string | null }
  /** Never empty. `isRefusal`: as of a result. */
  | { readonly type: "text"; readonly text: string; readonly isRefusal?: boolean }
  /** A piece of what the model thinks: no content. */
  | { readonly type: "reasoning"; readonly reasoning: Reasoning }
  /** `index` counts the answer's calls from 0. The first piece of a call has its id and name, later ones neither. */
  | {
      readonly type: "tool_call";
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly arguments: string;
    }
  /** `isFinal: false` when the answer goes on: its output counts what was written so far, or less. */
  | { readonly type: "usage"; readonly usage: ChatUsage; readonly isFinal: boolean }
  /** `isUnknown`: as `isFinishUnknown` of a result. */
  | { readonly type: "finish"; readonly reason: ChatFinishReason; readonly isUnknown?: true };

export interface ChatProvider {
  readonly kind: ProviderKind;
  /** Models known from the start, by name. */
  readonly models: Readonly<Record<string, ChatModel>>;
  /** What a model absent from the catalogue is assumed to do before its declaration adds to it. */
  readonly unknownModel: ChatModel;
  readonly defaultBaseUrl: string | null;
  /** What a chat target's `settings` may hold; unknown keys are refused when the configuration is read. */
  readonly settings: z.ZodType;
  plan(request: ChatRequest, target: ChatTarget): ChatPlanResult;
  /** For a plan made with `stream: false`. A success without a regular finish is thrown as `bad_reply`. */
  chat(plan: ChatPlan, io: StreamingIo): Promise<ChatResult>;
  /**
   * For a plan made with `stream: true`. Events that came together are handed over together; no list is empty. To stop it while a
   * next one is awaited, abort the signal given to `io`.
   */
  stream(plan: ChatPlan, io: StreamingIo): AsyncIterable<readonly ChatEvent[]>;
}
