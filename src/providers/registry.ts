// Every speech provider, one line each (ARCHITECTURE.md, "A provider is one file").
import { deepgram } from "./deepgram.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { openai } from "./openai.ts";
import type { ProviderKind, SpeechProvider } from "./provider.ts";
import { sandbox } from "./sandbox.ts";

export const providers: ReadonlyMap<ProviderKind, SpeechProvider> = new Map(
  [deepgram, openai, openaiCompatible, sandbox].map((provider) => [provider.kind, provider]),
);
