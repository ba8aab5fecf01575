// The interface of a chat provider, which each chat protocol implements in one file. `plan` is pure, and all side effects go through `StreamingIo`. provider.ts
// is its counterpart for speech.
import type { z } from "zod";
import type { HistoryField } from "../../contract/chat/chat-history.ts";
import type {
  ChatDropped,
  ChatFeature,
  ChatLack,
  ChatPreference,
  ReasoningEffort,
  ReceiptGrade,
  Verbosity,
} from "../../contract/features.ts";
import type { StreamingIo, WireRequest } from "../io.ts";
import type { ModelLife } from "../model-life.ts";
import type { ProviderKind } from "../provider.ts";

/** A chat model's declared capabilities. A declaration in the configuration file replaces them field by field. */
export interface ChatModel {
  /** Absent for models that the configuration declares. */
  readonly life?: ModelLife;
  readonly features: readonly ChatFeature[];
  readonly preferences: readonly ChatPreference[];
  readonly limits: ChatLimits;
  /** Features that cannot be combined: the target lacks the second when the first is requested. */
  readonly excludes?: readonly (readonly [ChatFeature, ChatFeature])[];
  /** Preferences that cannot be combined: the second is dropped when both are requested. */
  readonly rivals?: readonly (readonly [ChatPreference, ChatPreference])[];
  readonly quirks?: readonly ChatQuirk[];
}

/** A built-in model: when and where its facts were verified is part of them. */
export type CataloguedChatModel = ChatModel & { readonly life: ModelLife };

export interface ChatLimits {
  /** Most tokens of one answer, including reasoning. Absent: unknown. */
  readonly maxOutputTokens?: number;
  readonly contextTokens?: number;
  readonly maxTemperature?: number;
  readonly maxStopSequences?: number;
  /** Supported reasoning efforts. Absent: none. */
  readonly reasoningEfforts?: readonly ReasoningEffort[];
  /** Most tokens of one image. Absent: no more than for other models. */
  readonly imageTokens?: number;
  /** Accepted media types of images. Absent: any. */
  readonly imageTypes?: readonly string[];
}

export type ChatQuirk =
  /** Instructions have the role `developer`. */
  | "developer_role"
  /** "To use function tools, use /v1/responses or set reasoning_effort to 'none'." */
  | "tools_without_reasoning"
  /** "This model does not support assistant message prefill. The conversation must end with a user message." */
  | "no_prefill"
  /** A tool call in the history must contain the signature that the model returned with it. */
  | "signed_tool_calls";

/** A cache breakpoint: the provider may keep the input up to here for later requests. */
export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "5m" | "1h";
}

/** The model's reasoning, under its server's field name. A server accepts it back under the name that it uses in answers. */
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
      /** Image detail, if the protocol has a parameter for it. A preference. */
      readonly detail?: "auto" | "low" | "high";
    }
  | { readonly kind: "audio"; readonly format: "wav" | "mp3"; readonly base64: string };

export type ChatMessage =
  /** `parts`: the same text, split where a part of it is to be cached. */
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
  /** Opaque, and must be sent back unchanged: it may contain some thousand characters that a provider needs again. */
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. Possibly invalid if the answer was truncated by its length. */
  readonly arguments: string;
  /** The provider's signature of a call in the history, if the caller returned it in a separate field. */
  readonly signature?: string;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ChatTool {
  readonly name: string;
  readonly description: string | null;
  /** Null: a function without arguments. */
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

/** A validated request to one target: the model declares every required feature. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** Null, here and below: not set by the caller. */
  readonly toolChoice: ChatToolChoice | null;
  readonly parallelToolCalls: boolean | null;
  readonly responseFormat: ChatResponseFormat;
  /** Null: the model's limit is sent, so that no more can be spent than was reserved. */
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly seed: number | null;
  readonly stop: readonly string[];
  readonly reasoningEffort: ReasoningEffort | null;
  readonly verbosity: Verbosity | null;
  /** Fields of other backends' answers in the conversation. Absent: none. */
  readonly history?: readonly HistoryField[];
  /** Whether the plan is for `stream` or `chat`. */
  readonly stream: boolean;
}

/** One model on one account. `settings` are the merged settings of target and profile. */
export interface ChatTarget {
  readonly model: string;
  readonly chat: ChatModel;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A complete wire request without base URL and credential. */
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
      /** Fields of the request's `history` that this target does not accept. */
      readonly ignored?: readonly HistoryField[];
      /** Indexes of tools with a schema that had to be rewritten for this target. */
      readonly rewrittenTools?: readonly number[];
    }
  | { readonly ok: false; readonly missing: readonly ChatLack[] };

export type ChatFinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Usage as reported by the provider. Output includes reasoning, and input includes cached input. */
export interface ChatUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}

export interface ChatResult {
  /** Null only with tool calls and no text. */
  readonly text: string | null;
  /** The text is a refusal, if the protocol distinguishes it from an answer. */
  readonly isRefusal?: boolean;
  /** Present if the server separates it from the answer. */
  readonly reasoning?: Reasoning;
  readonly toolCalls: readonly ChatToolCall[];
  readonly finishReason: ChatFinishReason;
  /** The provider ended a complete answer with an unknown finish reason, or with none. */
  readonly isFinishUnknown?: true;
  /** Null: not reported by the provider, so it is estimated and marked. */
  readonly usage: ChatUsage | null;
  readonly providerRequestId: string | null;
  /** The model that the answer reports [providers.answered-model]. Absent: none. */
  readonly answeredModel?: string;
}

/** Evidence, per required feature, that the answer has it. `delivered: false` fails the target. */
export interface ChatReceipt {
  readonly feature: ChatFeature;
  readonly grade: ReceiptGrade;
  readonly delivered: boolean;
}

/**
 * A stream begins with `open`, ends with exactly one `finish`, and throws a `ProviderError` if it breaks before. `usage` may come anywhere before the end and
 * repeatedly: the last one counts, even if the stream breaks.
 */
export type ChatEvent =
  /** The provider accepted the request. No content has arrived yet. */
  | { readonly type: "open"; readonly providerRequestId: string | null }
  /** The model that answers, as soon as it is reported. Repeated if another model continues the answer. */
  | { readonly type: "model"; readonly name: string }
  /** Never empty. `isRefusal` as in a result. */
  | { readonly type: "text"; readonly text: string; readonly isRefusal?: boolean }
  /** A piece of the model's reasoning, which is not content. */
  | { readonly type: "reasoning"; readonly reasoning: Reasoning }
  /** `index` counts the answer's calls from 0. Only the first piece of a call has its id and name. */
  | {
      readonly type: "tool_call";
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly arguments: string;
    }
  /** `isFinal: false` while the answer continues: its output counts at most what was generated so far. */
  | { readonly type: "usage"; readonly usage: ChatUsage; readonly isFinal: boolean }
  /** `isUnknown` as `isFinishUnknown` of a result. */
  | { readonly type: "finish"; readonly reason: ChatFinishReason; readonly isUnknown?: true };

export interface ChatProvider {
  readonly kind: ProviderKind;
  /** Built-in models by name. */
  readonly models: Readonly<Record<string, ChatModel>>;
  /** Assumed capabilities of a model outside the catalogue, which its declaration extends. */
  readonly unknownModel: ChatModel;
  readonly defaultBaseUrl: string | null;
  /** Schema of a chat target's `settings`. Unknown keys are refused when the configuration is read. */
  readonly settings: z.ZodType;
  plan(request: ChatRequest, target: ChatTarget): ChatPlanResult;
  /** Whether an answer by that name is by the target's model [providers.answered-model]. */
  isSameModel(target: Pick<ChatTarget, "model" | "settings">, answered: string): boolean;
  /** For a plan made with `stream: false`. A success without a regular finish is thrown as `bad_reply`. */
  chat(plan: ChatPlan, io: StreamingIo): Promise<ChatResult>;
  /**
   * For a plan made with `stream: true`. Events that arrived together are yielded together, and no list is empty. To stop while an event is awaited, abort the
   * signal passed to `io`.
   */
  stream(plan: ChatPlan, io: StreamingIo): AsyncIterable<readonly ChatEvent[]>;
}
