// Registers every provider of speech and chat, one line each (src/providers/README.md).
import type { AccountProbe } from "./account-probe.ts";
import { anthropicChat, anthropicProbe } from "./anthropic-chat.ts";
import { assemblyaiProbe } from "./assemblyai-run.ts";
import { assemblyai } from "./assemblyai.ts";
import type { ChatProvider } from "./chat-provider.ts";
import { deepgram, deepgramProbe } from "./deepgram.ts";
import { geminiAudio } from "./gemini-audio.ts";
import { geminiChat, geminiProbe } from "./gemini-chat.ts";
import { googleSpeech, googleSpeechProbe } from "./google-speech.ts";
import { openaiCompatibleProbe, openaiProbe } from "./openai-account.ts";
import { openaiChat, openaiCompatibleChat } from "./openai-chat.ts";
import { elevenlabs, elevenlabsProbe } from "./elevenlabs.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { openai } from "./openai.ts";
import type { ProviderKind, SpeechProvider } from "./provider.ts";
import { sandboxChat } from "./sandbox-chat.ts";
import { sandbox, sandboxProbe } from "./sandbox.ts";

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

/** The credential test of each provider kind, for speech and chat. */
export const accountProbes: Readonly<Record<ProviderKind, AccountProbe>> = {
  openai: openaiProbe,
  "openai-compatible": openaiCompatibleProbe,
  deepgram: deepgramProbe,
  assemblyai: assemblyaiProbe,
  elevenlabs: elevenlabsProbe,
  "google-speech": googleSpeechProbe,
  anthropic: anthropicProbe,
  gemini: geminiProbe,
  sandbox: sandboxProbe,
};
