// Targets on the sandbox: the golden requests of the provider that each simulates, under the sandbox's origin.
import type { GoldenModel } from "../suites/fixtures.ts";
import { ASSEMBLYAI_GOLDEN, ASSEMBLYAI_STREAMING_GOLDEN } from "./assemblyai.ts";
import { DEEPGRAM_GOLDEN, SIMULATED_GOLDEN } from "./deepgram.ts";
import { ELEVENLABS_GOLDEN, ELEVENLABS_STREAMING_GOLDEN } from "./elevenlabs.ts";
import { GEMINI_GOLDEN } from "./gemini.ts";
import { GOOGLE_SPEECH_GOLDEN } from "./google-speech.ts";
import { OPENAI_GOLDEN } from "./openai.ts";

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

export const SANDBOX_GOLDEN: readonly GoldenModel[] = [
  simulated("", "/deepgram", SIMULATED_GOLDEN),
  ...[...ASSEMBLYAI_GOLDEN, ...ASSEMBLYAI_STREAMING_GOLDEN].map((golden) =>
    simulated("assemblyai/", "/assemblyai", golden),
  ),
  ...DEEPGRAM_GOLDEN.map((golden) => simulated("deepgram/", "/deepgram", golden)),
  ...[...ELEVENLABS_GOLDEN, ...ELEVENLABS_STREAMING_GOLDEN].map((golden) =>
    simulated("elevenlabs/", "/elevenlabs", golden),
  ),
  ...GEMINI_GOLDEN.map((golden) => simulated("gemini/", "/gemini", golden)),
  ...GOOGLE_INLINE.map((golden) => simulated("google-speech/", "/google-speech", golden)),
  ...OPENAI_GOLDEN.map((golden) => simulated("openai/", "/openai/v1", golden)),
];
