// Speech targets on the sandbox server, for development without a provider account: every model that it simulates, each with its provider's protocol
// (`deepgram/nova-3`), and `simulated-speech`, which supports all features and identifies itself.
import type { Feature } from "../../contract/features.ts";
import { z } from "zod";
import type { AccountProbe } from "../account-probe.ts";
import { assemblyai } from "../assemblyai/assemblyai.ts";
import { NOVA_3 } from "../deepgram/deepgram-models.ts";
import { deepgram, deepgramProbe } from "../deepgram/deepgram.ts";
import { elevenlabs } from "../elevenlabs/elevenlabs.ts";
import { geminiAudio } from "../gemini/gemini-audio.ts";
import { googleSpeech } from "../google-speech/google-speech.ts";
import { openai } from "../openai/openai.ts";
import { removeKept } from "../wire/run-remote.ts";
import { withoutLife } from "../life-status.ts";
import type { FeatureSupport, SpeechModel, SpeechProvider, SpeechTarget } from "../provider.ts";

/** Simulated speech has no language, so no condition on language applies. */
const SIMULATED: SpeechModel = {
  ...NOVA_3,
  features: Object.fromEntries(
    (Object.entries(NOVA_3.features) as readonly [Feature, FeatureSupport][]).map(([feature, { support, grade }]) => [
      feature,
      { support, grade },
    ]),
  ),
  languages: "any",
};

interface Wire {
  readonly prefix: string;
  readonly provider: SpeechProvider;
  /** The sandbox's path prefix for this protocol. The base URL of a sandbox connection is its origin. */
  readonly basePath: string;
}

const WIRES: readonly Wire[] = [
  // Polled inside the one call, because a stored run must name its provider.
  { prefix: "assemblyai/", provider: assemblyai, basePath: "/assemblyai" },
  { prefix: "deepgram/", provider: deepgram, basePath: "/deepgram" },
  { prefix: "elevenlabs/", provider: elevenlabs, basePath: "/elevenlabs" },
  { prefix: "gemini/", provider: geminiAudio, basePath: "/gemini" },
  { prefix: "google-speech/", provider: googleSpeech, basePath: "/google-speech" },
  { prefix: "openai/", provider: openai, basePath: "/openai/v1" },
];
const PLAIN_WIRE: Wire = { prefix: "", provider: deepgram, basePath: "/deepgram" };

export const sandbox: SpeechProvider = {
  kind: "sandbox",
  models: {
    "simulated-speech": SIMULATED,
    ...Object.fromEntries(
      WIRES.flatMap(({ prefix, provider }) =>
        Object.entries(provider.models).map(([name, model]) => [`${prefix}${name}`, withoutLife(model)]),
      ),
    ),
  },
  // Each protocol validates its own settings. A simulated target accepts those of any.
  settings: z.record(z.string(), z.unknown()),
  defaultBaseUrl: null,
  plan: (request, target) => {
    const wire = wireOf(target);
    const result = wire.provider.plan(request, onWire(target, wire));
    return result.ok ? { ...result, plan: { ...result.plan, path: `${wire.basePath}${result.plan.path}` } } : result;
  },
  transcribe: (plan, audio, io) => providerAt(plan.path).transcribe(plan, audio, io),
  stream: (plan, audio, io) => {
    const { kind, stream } = providerAt(plan.path);
    if (stream === undefined) throw new TypeError(`${kind} does not stream`);
    return stream(plan, audio, io);
  },
  remove: (run, io) => removeKept(providerAt(String(run.details["path"])), run, io),
  normalise: (raw, request, target, audio) => {
    const wire = wireOf(target);
    return wire.provider.normalise(raw, request, onWire(target, wire), audio);
  },
};

/** Tests the default protocol: a server that answers there simulates all of them. */
export const sandboxProbe: AccountProbe = {
  ...deepgramProbe,
  path: `${PLAIN_WIRE.basePath}${deepgramProbe.path}`,
  ask: (io) =>
    deepgramProbe.ask({
      ...io,
      send: (request) => io.send({ ...request, path: `${PLAIN_WIRE.basePath}${request.path}` }),
    }),
};

function wireOf(target: SpeechTarget): Wire {
  return WIRES.find(({ prefix }) => target.model.startsWith(prefix)) ?? PLAIN_WIRE;
}

function onWire(target: SpeechTarget, wire: Wire): SpeechTarget {
  return { ...target, model: target.model.slice(wire.prefix.length) };
}

function providerAt(path: string): SpeechProvider {
  return (WIRES.find(({ basePath }) => path.startsWith(`${basePath}/`)) ?? PLAIN_WIRE).provider;
}
