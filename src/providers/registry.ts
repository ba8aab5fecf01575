// Every provider of speech and of chat, one line each (ARCHITECTURE.md, "A provider is one file").
import { anthropicChat } from "./anthropic-chat.ts";
import { assemblyai } from "./assemblyai.ts";
import type { ChatProvider } from "./chat-provider.ts";
import { deepgram } from "./deepgram.ts";
import { geminiAudio } from "./gemini-audio.ts";
import { geminiChat } from "./gemini-chat.ts";
import { googleSpeech } from "./google-speech.ts";
import { openaiChat, openaiCompatibleChat } from "./openai-chat.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { openai } from "./openai.ts";
import type { ProviderKind, SpeechProvider } from "./provider.ts";
import { sandboxChat } from "./sandbox-chat.ts";
import { sandbox } from "./sandbox.ts";

export const providers: ReadonlyMap<ProviderKind, SpeechProvider> = new Map(
  [assemblyai, deepgram, elevenlabs, geminiAudio, googleSpeech, openai, openaiCompatible, sandbox].map((provider) => [
    provider.kind,
    provider,
  ]),
);

export const chatProviders: ReadonlyMap<ProviderKind, ChatProvider> = new Map(
  [anthropicChat, geminiChat, openaiChat, openaiCompatibleChat, sandboxChat].map((provider) => [
    provider.kind,
    provider,
  ]),
);
