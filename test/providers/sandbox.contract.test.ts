// Targets on the sandbox: the wire of the provider each stands for, under the sandbox's origin.
import assert from "node:assert/strict";
import { sandbox } from "../../src/providers/sandbox.ts";
import { speechContract } from "./contract-suite.ts";
import type { GoldenModel } from "./fixtures.ts";
import { ASSEMBLYAI_GOLDEN, ASSEMBLYAI_STREAMING_GOLDEN } from "./golden/assemblyai.ts";
import { DEEPGRAM_GOLDEN, SIMULATED_GOLDEN } from "./golden/deepgram.ts";
import { ELEVENLABS_GOLDEN } from "./golden/elevenlabs.ts";
import { GEMINI_GOLDEN } from "./golden/gemini.ts";
import { GOOGLE_SPEECH_GOLDEN } from "./golden/google-speech.ts";
import { OPENAI_GOLDEN } from "./golden/openai.ts";

/** The same requests under a longer model name; the wire knows the short one. */
function simulated(prefix: string, basePath: string, golden: GoldenModel): GoldenModel {
  const features = Object.fromEntries(
    Object.entries(golden.features).map(([feature, change]) => [
      feature,
      change.path === undefined ? change : { ...change, path: `${basePath}${change.path}` },
    ]),
  );
  return { ...golden, model: `${prefix}${golden.model}`, path: `${basePath}${golden.path}`, features };
}

/** A simulated target has no bucket. */
const GOOGLE_INLINE = GOOGLE_SPEECH_GOLDEN.filter(({ settings }) => settings?.["bucket"] === undefined);
assert.ok(DEEPGRAM_GOLDEN.length > 0 && OPENAI_GOLDEN.length > 0);

speechContract({
  provider: sandbox,
  golden: [
    simulated("", "/deepgram", SIMULATED_GOLDEN),
    ...[...ASSEMBLYAI_GOLDEN, ...ASSEMBLYAI_STREAMING_GOLDEN].map((golden) =>
      simulated("assemblyai/", "/assemblyai", golden),
    ),
    ...DEEPGRAM_GOLDEN.map((golden) => simulated("deepgram/", "/deepgram", golden)),
    ...ELEVENLABS_GOLDEN.map((golden) => simulated("elevenlabs/", "/elevenlabs", golden)),
    ...GEMINI_GOLDEN.map((golden) => simulated("gemini/", "/gemini", golden)),
    ...GOOGLE_INLINE.map((golden) => simulated("google-speech/", "/google-speech", golden)),
    ...OPENAI_GOLDEN.map((golden) => simulated("openai/", "/openai/v1", golden)),
  ],
  authorization: (credential) => `Token ${credential}`,
  success: {
    metadata: { request_id: "r-1", duration: 1, model_info: { m: { name: "simulated-speech", arch: "simulated" } } },
    results: { channels: [{ alternatives: [{ transcript: "[simulated transcript, 1.0 s, mono]", words: [] }] }] },
  },
  refusal: (code, text) => ({ err_code: code, err_msg: text, request_id: "r-1" }),
});
