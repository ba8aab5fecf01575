// What a chat request asks of the protocol, what of it the model lacks [providers.declared-features], and which preferences are dropped
// [providers.preference-named]. Pure. Every adapter's plan begins here, and the plan is routing's verdict.
import type { HistoryField } from "../contract/chat-history.ts";
import type { ChatFeature, ChatLack, ChatPreference, ReasoningEffort, Verbosity } from "../contract/features.ts";
import type { ChatModel, ChatPart, ChatRequest } from "./chat-provider.ts";

export function askedChatFeatures(request: ChatRequest): readonly ChatFeature[] {
  const asked: ChatFeature[] = [];
  if (request.tools.length > 0) asked.push("tools");
  if (request.toolChoice !== null && request.toolChoice.kind !== "auto") asked.push("tool_choice");
  // Permission to call several at once is what every model has unasked; only its refusal needs a parameter.
  if (request.parallelToolCalls === false) asked.push("parallel_tool_calls");
  if (request.responseFormat.kind !== "text") asked.push(`response_format.${request.responseFormat.kind}`);
  if (hasPart(request, isImage)) asked.push("image_parts");
  if (hasPart(request, isAudio)) asked.push("audio_parts");
  return asked;
}

/** `canSend` says what the wire can express: a declaration in the configuration may name more than that. */
export function unmetChatFeatures(
  request: ChatRequest,
  model: ChatModel,
  canSend: (feature: ChatFeature) => boolean = () => true,
): readonly ChatLack[] {
  const { features, limits, excludes = [] } = model;
  const asked = askedChatFeatures(request);
  const isTooLong = (request.maxTokens ?? 0) > (limits.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  if (asked.length === 0) return isTooLong ? ["max_tokens"] : [];
  const unmet = new Set<ChatLack>(asked.filter((feature) => !features.includes(feature) || !canSend(feature)));
  for (const [first, second] of excludes) if (asked.includes(first) && asked.includes(second)) unmet.add(second);
  const isForeign = (part: ChatPart): boolean =>
    part.kind === "image" && limits.imageTypes?.includes(part.mediaType) === false;
  if (hasPart(request, isForeign)) unmet.add("image_parts");
  if (isTooLong) unmet.add("max_tokens");
  return [...unmet];
}

/** What of the conversation's history a target is not sent. */
export function ignoredHistory(
  { history }: ChatRequest,
  kept: readonly HistoryField[] = [],
): { readonly ignored?: readonly HistoryField[] } {
  return history === undefined ? {} : { ignored: history.filter((field) => !kept.includes(field)) };
}

/** Left out by protocols without a word for it; `auto` asks for nothing. */
export function droppedDetail(request: ChatRequest): readonly "detail"[] {
  const isAsked = hasPart(
    request,
    (part) => part.kind === "image" && part.detail !== undefined && part.detail !== "auto",
  );
  return isAsked ? ["detail"] : [];
}

/** What goes out as `max_tokens` in each protocol's own word, and what a budget has to reserve; null: unknown. */
export function outputCap(request: Pick<ChatRequest, "maxTokens">, model: ChatModel): number | null {
  return request.maxTokens ?? model.limits.maxOutputTokens ?? null;
}

export interface Sampling {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly seed: number | null;
  readonly stop: readonly string[];
  readonly reasoningEffort: ReasoningEffort | null;
  readonly verbosity: Verbosity | null;
  readonly dropped: readonly ChatPreference[];
}

const NOTHING_ASKED: Sampling = {
  temperature: null,
  topP: null,
  seed: null,
  stop: [],
  reasoningEffort: null,
  verbosity: null,
  dropped: [],
};

/** The preferences as far as the model takes them. `withheld`: what the target's settings decide, or the wire has no word for. */
export function samplingOf(
  request: ChatRequest,
  model: ChatModel,
  withheld: Readonly<Partial<Record<ChatPreference, unknown>>> = {},
): Sampling {
  const { limits, preferences, rivals = [] } = model;
  const asked = new Set<ChatPreference>();
  if (request.temperature !== null) asked.add("temperature");
  if (request.topP !== null) asked.add("top_p");
  if (request.seed !== null) asked.add("seed");
  if (request.stop.length > 0) asked.add("stop");
  if (request.reasoningEffort !== null) asked.add("reasoning_effort");
  if (request.verbosity !== null) asked.add("verbosity");
  if (asked.size === 0) return NOTHING_ASKED;
  const kept = new Set([...asked].filter((preference) => preferences.includes(preference)));
  if ((request.temperature ?? 0) > (limits.maxTemperature ?? Number.POSITIVE_INFINITY)) kept.delete("temperature");
  if (request.stop.length > (limits.maxStopSequences ?? Number.POSITIVE_INFINITY)) kept.delete("stop");
  if (request.reasoningEffort !== null && limits.reasoningEfforts?.includes(request.reasoningEffort) !== true)
    kept.delete("reasoning_effort");
  for (const preference of asked) if (withheld[preference] !== undefined) kept.delete(preference);
  for (const [first, second] of rivals) if (kept.has(first)) kept.delete(second);
  return {
    temperature: kept.has("temperature") ? request.temperature : null,
    topP: kept.has("top_p") ? request.topP : null,
    seed: kept.has("seed") ? request.seed : null,
    stop: kept.has("stop") ? request.stop : [],
    reasoningEffort: kept.has("reasoning_effort") ? request.reasoningEffort : null,
    verbosity: kept.has("verbosity") ? request.verbosity : null,
    dropped: [...asked].filter((preference) => !kept.has(preference)),
  };
}

const isImage = (part: ChatPart): boolean => part.kind === "image";
const isAudio = (part: ChatPart): boolean => part.kind === "audio";

function hasPart({ messages }: ChatRequest, is: (part: ChatPart) => boolean): boolean {
  return messages.some((message) => message.role === "user" && message.parts.some(is));
}
