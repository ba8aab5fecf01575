// Determines which features a chat request needs, which of them the model lacks [providers.declared-features], and which preferences are dropped
// [providers.preference-named]. Pure. Every adapter's plan begins here, and routing uses the plan.
import type { HistoryField } from "../../contract/chat/chat-history.ts";
import type { ChatFeature, ChatLack, ChatPreference, ReasoningEffort, Verbosity } from "../../contract/features.ts";
import type { ChatModel, ChatPart, ChatRequest } from "./chat-provider.ts";

export function askedChatFeatures(request: ChatRequest): readonly ChatFeature[] {
  const features: ChatFeature[] = [];
  if (request.tools.length > 0) features.push("tools");
  if (request.toolChoice !== null && request.toolChoice.kind !== "auto") features.push("tool_choice");
  // Every model may call several tools at once by default. Only forbidding it needs a parameter.
  if (request.parallelToolCalls === false) features.push("parallel_tool_calls");
  if (request.responseFormat.kind !== "text") features.push(`response_format.${request.responseFormat.kind}`);
  if (hasPart(request, isImage)) features.push("image_parts");
  if (hasPart(request, isAudio)) features.push("audio_parts");
  return features;
}

/** `canSend` is what the protocol can express: a declaration in the configuration may name more. */
export function unmetChatFeatures(
  request: ChatRequest,
  model: ChatModel,
  canSend: (feature: ChatFeature) => boolean = () => true,
): readonly ChatLack[] {
  const { features, limits, excludes = [] } = model;
  const requested = askedChatFeatures(request);
  const isTooLong = (request.maxTokens ?? 0) > (limits.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  if (requested.length === 0) return isTooLong ? ["max_tokens"] : [];
  const unmet = new Set<ChatLack>(requested.filter((feature) => !features.includes(feature) || !canSend(feature)));
  for (const [first, second] of excludes)
    if (requested.includes(first) && requested.includes(second)) unmet.add(second);
  const isForeign = (part: ChatPart): boolean =>
    part.kind === "image" && limits.imageTypes?.includes(part.mediaType) === false;
  if (hasPart(request, isForeign)) unmet.add("image_parts");
  if (isTooLong) unmet.add("max_tokens");
  return [...unmet];
}

/** The parts of the conversation's history that a target is not sent. */
export function ignoredHistory(
  { history }: ChatRequest,
  accepted: readonly HistoryField[] = [],
): { readonly ignored?: readonly HistoryField[] } {
  return history === undefined ? {} : { ignored: history.filter((field) => !accepted.includes(field)) };
}

/** Dropped by protocols without a parameter for it. `auto` requests nothing. */
export function droppedDetail(request: ChatRequest): readonly "detail"[] {
  const isAsked = hasPart(
    request,
    (part) => part.kind === "image" && part.detail !== undefined && part.detail !== "auto",
  );
  return isAsked ? ["detail"] : [];
}

/** The value of each protocol's `max_tokens` parameter, which a budget has to reserve. Null: unknown. */
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

/** The sampling preferences that the model accepts. `withheld`: those that the target's settings decide, or that the protocol cannot express. */
export function samplingOf(
  request: ChatRequest,
  model: ChatModel,
  withheld: Readonly<Partial<Record<ChatPreference, unknown>>> = {},
): Sampling {
  const { limits, preferences, rivals = [] } = model;
  const requested = new Set<ChatPreference>();
  if (request.temperature !== null) requested.add("temperature");
  if (request.topP !== null) requested.add("top_p");
  if (request.seed !== null) requested.add("seed");
  if (request.stop.length > 0) requested.add("stop");
  if (request.reasoningEffort !== null) requested.add("reasoning_effort");
  if (request.verbosity !== null) requested.add("verbosity");
  if (requested.size === 0) return NOTHING_ASKED;
  const accepted = new Set([...requested].filter((preference) => preferences.includes(preference)));
  if ((request.temperature ?? 0) > (limits.maxTemperature ?? Number.POSITIVE_INFINITY)) accepted.delete("temperature");
  if (request.stop.length > (limits.maxStopSequences ?? Number.POSITIVE_INFINITY)) accepted.delete("stop");
  if (request.reasoningEffort !== null && limits.reasoningEfforts?.includes(request.reasoningEffort) !== true)
    accepted.delete("reasoning_effort");
  for (const preference of requested) if (withheld[preference] !== undefined) accepted.delete(preference);
  for (const [first, second] of rivals) if (accepted.has(first)) accepted.delete(second);
  return {
    temperature: accepted.has("temperature") ? request.temperature : null,
    topP: accepted.has("top_p") ? request.topP : null,
    seed: accepted.has("seed") ? request.seed : null,
    stop: accepted.has("stop") ? request.stop : [],
    reasoningEffort: accepted.has("reasoning_effort") ? request.reasoningEffort : null,
    verbosity: accepted.has("verbosity") ? request.verbosity : null,
    dropped: [...requested].filter((preference) => !accepted.has(preference)),
  };
}

const isImage = (part: ChatPart): boolean => part.kind === "image";
const isAudio = (part: ChatPart): boolean => part.kind === "audio";

function hasPart({ messages }: ChatRequest, matches: (part: ChatPart) => boolean): boolean {
  return messages.some((message) => message.role === "user" && message.parts.some(matches));
}
