// Built-in chat models by provider kind, so that a text-only route can be configured without declaring them [providers.chat-catalogue]. Incomplete: other
// models of an account are declared under its connection's `models`. Models that have ended stay listed, so that a configuration with them still loads.
import { ANTHROPIC_CHAT_MODELS } from "./anthropic/anthropic-chat-models.ts";
import type { CataloguedChatModel } from "./chat/chat-provider.ts";
import { GEMINI_CHAT_MODELS } from "./gemini/gemini-chat-models.ts";
import { OPENAI_CHAT_MODELS } from "./openai/openai-chat-models.ts";
import type { ProviderKind } from "./provider.ts";

export const CHAT_MODELS: Readonly<Partial<Record<ProviderKind, Readonly<Record<string, CataloguedChatModel>>>>> = {
  openai: OPENAI_CHAT_MODELS,
  anthropic: ANTHROPIC_CHAT_MODELS,
  gemini: GEMINI_CHAT_MODELS,
};
