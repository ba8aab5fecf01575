// Determines what a chat model on a connection supports: the catalogue entry, overridden by the operator's declaration [providers.declaration-wins]. Pure.
import { CHAT_FEATURES, type ChatFeature } from "../contract/features.ts";
import { ownProperty } from "../lib/json/own-property.ts";
import { CHAT_MODELS } from "../providers/catalog.ts";
import type { ChatModel, ChatProvider } from "../providers/chat/chat-provider.ts";
import type { ProviderKind } from "../providers/provider.ts";
import type { StoredModel } from "./stored-schemas.ts";

/** Null: the model does not support chat there. */
export function chatModel(
  kind: ProviderKind,
  provider: ChatProvider | undefined,
  name: string,
  declared: StoredModel | undefined,
): ChatModel | null {
  // A declaration gives a provider no protocol for chats.
  if (provider === undefined) return null;
  const catalogueModel = ownProperty(provider.models, name) ?? ownProperty(CHAT_MODELS[kind] ?? {}, name);
  if (declared === undefined) return catalogueModel ?? null;
  if (!declared.capabilities.includes("chat")) return null;
  const base = catalogueModel ?? provider.unknownModel;
  const { maxOutputTokens } = declared.limits;
  return {
    ...base,
    features: declaredFeatures(base.features, declared.features),
    limits: { ...base.limits, ...(maxOutputTokens === null ? {} : { maxOutputTokens }) },
  };
}

/** Merges feature by feature: `true` adds, `false` removes, unset keeps the catalogue's value. */
function declaredFeatures(
  catalogueFeatures: readonly ChatFeature[],
  features: StoredModel["features"],
): readonly ChatFeature[] {
  const json = (mode: "json_object" | "json_schema") => features.responseFormat?.includes(mode) ?? null;
  const declared: { readonly [F in ChatFeature]: boolean | null } = {
    tools: features.tools,
    tool_choice: features.toolChoice,
    parallel_tool_calls: features.parallelToolCalls,
    "response_format.json_object": json("json_object"),
    "response_format.json_schema": json("json_schema"),
    image_parts: features.imageParts,
    audio_parts: features.audioParts,
  };
  return CHAT_FEATURES.filter((feature) => declared[feature] ?? catalogueFeatures.includes(feature));
}
