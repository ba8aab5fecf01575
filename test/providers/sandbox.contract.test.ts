// Targets on the sandbox: the wire of the provider that each simulates, under the sandbox's origin.
import { sandbox } from "../../src/providers/sandbox/sandbox.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { SANDBOX_GOLDEN } from "./golden/simulated.ts";
import {
  beforeAssemblyAi,
  refusedByAssemblyAi,
  refusedByDeepgram,
  refusedByElevenLabs,
  refusedByGemini,
  refusedByGoogleSpeech,
  refusedByOpenAi,
} from "./suites/refusals.ts";
import type { ContractSubject } from "./suites/subject.ts";

const WIRES: Readonly<Record<string, Pick<ContractSubject, "refusal" | "before">>> = {
  assemblyai: { refusal: refusedByAssemblyAi, before: beforeAssemblyAi },
  elevenlabs: { refusal: refusedByElevenLabs },
  gemini: { refusal: refusedByGemini },
  "google-speech": { refusal: refusedByGoogleSpeech },
  openai: { refusal: refusedByOpenAi },
};

speechContract({
  provider: sandbox,
  golden: SANDBOX_GOLDEN,
  authorization: (credential) => `Token ${credential}`,
  success: {
    metadata: { request_id: "r-1", duration: 1, model_info: { m: { name: "simulated-speech", arch: "simulated" } } },
    results: { channels: [{ alternatives: [{ transcript: "[simulated transcript, 1.0 s, mono]", words: [] }] }] },
  },
  refusal: refusedByDeepgram,
  wireOf: ({ model }) => WIRES[model.slice(0, Math.max(0, model.indexOf("/")))] ?? { refusal: refusedByDeepgram },
});
