// The transcript invariants over the replies of Gemini and of the servers that speak OpenAI's protocol in their own way.
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { geminiAudio } from "../../src/providers/gemini/gemini-audio.ts";
import { openaiCompatible } from "../../src/providers/openai/openai-compatible.ts";
import { COMPATIBLE_GOLDEN } from "../providers/golden/openai-compatible.ts";
import { asGeminiGenerated, asGeminiInteraction, asGroq, asMistral, asSpeaches } from "./dialect-conversation.ts";
import { catalogued, keepsInvariants, keepsTextDespiteHoles, type Teller } from "./invariants.ts";
import { speakersAndTimes, timesOnly } from "./wishes.ts";

/** As an operator declares it. */
function declared(dialect: string): Pick<Teller, "name" | "provider" | "model" | "speech" | "settings"> {
  const golden = COMPATIBLE_GOLDEN.find(({ settings }) => settings?.["dialect"] === dialect);
  assert.ok(golden?.declared && golden.settings);
  const { model, declared: speech, settings } = golden;
  return { name: `openai-compatible/${dialect}`, provider: openaiCompatible, model, speech, settings };
}

const TELLERS: readonly Teller[] = [
  {
    ...catalogued(geminiAudio, "gemini-3.5-transcribe"),
    maxChannels: 1,
    wishes: speakersAndTimes,
    reply: asGeminiInteraction,
  },
  {
    ...catalogued(geminiAudio, "gemini-3.5-flash"),
    maxChannels: 1,
    wishes: fc.record({ response_format: fc.constantFrom("json", "text") }, { requiredKeys: [] }),
    reply: asGeminiGenerated,
  },
  { ...declared("groq"), maxChannels: 1, wishes: timesOnly, reply: asGroq },
  { ...declared("mistral"), maxChannels: 1, wishes: speakersAndTimes, reply: asMistral },
  { ...declared("speaches"), maxChannels: 1, wishes: speakersAndTimes, reply: asSpeaches },
];

for (const teller of TELLERS) {
  keepsInvariants(teller);
  keepsTextDespiteHoles(teller);
}
