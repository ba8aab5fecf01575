// The transcript invariants over the replies of each provider that answers a whole file at once.
import * as fc from "fast-check";
import { assemblyai } from "../../src/providers/assemblyai/assemblyai.ts";
import { deepgram } from "../../src/providers/deepgram/deepgram.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { googleSpeech } from "../../src/providers/google-speech/google-speech.ts";
import { openaiCompatible } from "../../src/providers/openai/openai-compatible.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import type { SpeechModel } from "../../src/providers/provider.ts";
import {
  asAssemblyAi,
  asDeepgram,
  asElevenLabs,
  asGoogleSpeech,
  asOpenAiDiarized,
  asOpenAiVerbose,
  asWhisperCpp,
} from "./conversation.ts";
import { catalogued, keepsInvariants, keepsTextDespiteHoles, type Teller } from "./invariants.ts";
import { anything, format, speakersOrChannels, timesOnly, timesOrChannels } from "./wishes.ts";

const WHISPER_CPP: SpeechModel = {
  features: {
    "timestamps.word": { support: "native", grade: "shown" },
    "timestamps.segment": { support: "native", grade: "shown" },
  },
  preferences: ["language"],
  limits: {},
  languages: "any",
  defaultLanguage: "auto",
};

const TELLERS: readonly Teller[] = [
  { ...catalogued(deepgram, "nova-3"), maxChannels: 3, wishes: anything, reply: asDeepgram },
  { ...catalogued(assemblyai, "universal-3-5-pro"), maxChannels: 3, wishes: anything, reply: asAssemblyAi },
  { ...catalogued(elevenlabs, "scribe_v2"), maxChannels: 3, wishes: speakersOrChannels, reply: asElevenLabs },
  {
    ...catalogued(googleSpeech, "chirp_2"),
    maxChannels: 3,
    wishes: timesOrChannels,
    reply: asGoogleSpeech,
    countsHeardChannels: true,
  },
  { ...catalogued(openai, "whisper-1"), maxChannels: 1, wishes: timesOnly, reply: asOpenAiVerbose },
  {
    ...catalogued(openai, "gpt-4o-transcribe-diarize"),
    maxChannels: 1,
    wishes: fc.record(
      { timestamps: fc.constant("segment"), response_format: format, diarization: fc.boolean() },
      { requiredKeys: ["timestamps"] },
    ),
    reply: asOpenAiDiarized,
  },
  {
    name: "openai-compatible/whisper.cpp",
    provider: openaiCompatible,
    model: "whisper",
    speech: WHISPER_CPP,
    settings: { dialect: "whisper-cpp" },
    maxChannels: 1,
    wishes: timesOnly,
    reply: asWhisperCpp,
  },
];

for (const teller of TELLERS) {
  keepsInvariants(teller);
  keepsTextDespiteHoles(teller);
}
