// Every provider of speech and of chat, one line each (ARCHITECTURE.md, "A provider is one file").
import { assemblyai } from "./assemblyai.ts";
import type { ChatProvider } from "./chat-provider.ts";
import { deepgram } from "./deepgram.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { openai } from "./openai.ts";
import type { ProviderKind, SpeechProvider } from "./provider.ts";
import { sandbox } from "./sandbox.ts";

export const providers: ReadonlyMap<ProviderKind, SpeechProvider> = new Map(
  [assemblyai, deepgram, openai, openaiCompatible, sandbox].map((provider) => [provider.kind, provider]),
);

export const chatProviders: ReadonlyMap<ProviderKind, ChatProvider> = new Map(
  ([] as readonly ChatProvider[]).map((provider) => [provider.kind, provider]),
);
