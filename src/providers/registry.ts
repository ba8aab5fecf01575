// Registers every provider of speech and chat, one line each (src/providers/README.md).
import type { AccountProbe } from "./account-probe.ts";
import { anthropicChat, anthropicProbe } from "./anthropic/anthropic-chat.ts";
import { assemblyaiProbe } from "./assemblyai/assemblyai-run.ts";
import { assemblyai } from "./assemblyai/assemblyai.ts";
import type { ChatProvider } from "./chat/chat-provider.ts";
import { deepgram, deepgramProbe } from "./deepgram/deepgram.ts";
import { geminiAudio } from "./gemini/gemini-audio.ts";
import { geminiChat, geminiProbe } from "./gemini/gemini-chat.ts";
import { googleSpeech, googleSpeechProbe } from "./google-speech/google-speech.ts";
import { openaiCompatibleProbe, openaiProbe } from "./openai/openai-account.ts";
import { openaiChat, openaiCompatibleChat } from "./openai/openai-chat.ts";
import { elevenlabs, elevenlabsProbe } from "./elevenlabs/elevenlabs.ts";
import { local, localProbe } from "./local/local.ts";
import { openaiCompatible } from "./openai/openai-compatible.ts";
import { openai } from "./openai/openai.ts";
import type { ProviderKind, SpeechProvider } from "./provider.ts";
import { sandboxChat } from "./sandbox/sandbox-chat.ts";
import { sandbox, sandboxProbe } from "./sandbox/sandbox.ts";

export const providers: ReadonlyMap<ProviderKind, SpeechProvider> = new Map(
  [assemblyai, deepgram, elevenlabs, geminiAudio, googleSpeech, local, openai, openaiCompatible, sandbox].map(
    (provider) => [provider.kind, provider],
  ),
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
  local: localProbe,
  sandbox: sandboxProbe,
};
