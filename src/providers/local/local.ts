// The adapter of `kind: local`: models on this machine, recognised by sherpa-onnx in child processes (docs/reference/local.md). It has no wire protocol, and
// everything it does goes through `io.local`.
import { z } from "zod";
import type { Feature, Preference } from "../../contract/features.ts";
import type { AccountProbe } from "../account-probe.ts";
import { deepgram } from "../deepgram/deepgram.ts";
import { type Io, ProviderError } from "../io.ts";
import { WAV_HEADER_BYTES, wavHeader } from "../../lib/wav.ts";
import { receiptsFor } from "../receipts.ts";
import type {
  PlanResult,
  ProviderKind,
  ProviderTranscript,
  RawTranscript,
  SpeechAudio,
  SpeechModel,
  SpeechPlan,
  SpeechProvider,
  SpeechRequest,
  SpeechTarget,
} from "../provider.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { MANIFEST } from "../../local-models/manifest.ts";
import { DEMONSTRATION_SPEC } from "./demonstration.ts";
import type { LocalState } from "./local-calls.ts";
import { isRecogniser, localSpeechModel, localSpeechModels } from "./local-models.ts";
import { recogniseRecording, streamRecording } from "./recognise.ts";
import type { LocalBody, LocalPlan } from "./recognise.ts";
import { buildTranscript } from "./local-transcript.ts";

/** Not an address: the call stays on this machine. A test key's call goes to the sandbox instead. */
export const LOCAL_ADDRESS = "local:engine";

/** Header of simulated calls: the SHA-256 of the recording that the samples come from. */
const SIMULATED_RECORDING = "x-simulated-recording";

/** What the models can do. Whether they are installed is known to the directory of a gateway only. */
const CATALOGUE = Object.fromEntries(
  [...MANIFEST, DEMONSTRATION_SPEC].filter(isRecogniser).map((spec) => [spec.name, localSpeechModel(spec, false)]),
);

export const local: SpeechProvider = {
  kind: "local",
  models: CATALOGUE,
  settings: z.strictObject({}),
  defaultBaseUrl: LOCAL_ADDRESS,
  isOnThisMachine: true,
  plan: planLocal,
  transcribe: async (plan, audio, io) => {
    const own = ownPlan(plan);
    return isSimulated(io)
      ? deepgram.transcribe(own.simulated, asFile(audio), naming(audio, io))
      : recogniseRecording(own, audio, io);
  },
  stream: (plan, audio, io) => {
    const own = ownPlan(plan);
    if (!isSimulated(io)) return streamRecording(own, audio, io);
    if (deepgram.stream === undefined) throw new TypeError("the simulation streams");
    return deepgram.stream(own.simulated, asFile(audio), io);
  },
  normalise: normaliseLocal,
};

/** The adapters with the models that are installed here in place of the catalogue. */
export function withLocalModels(
  adapters: ReadonlyMap<ProviderKind, SpeechProvider>,
  state: LocalState,
): ReadonlyMap<ProviderKind, SpeechProvider> {
  const models = localSpeechModels([...MANIFEST, DEMONSTRATION_SPEC], state);
  return new Map(adapters).set(local.kind, { ...local, models });
}

/** A test key's calls are simulated, as everywhere: in the sandbox's plainest protocol. */
function isSimulated({ local: here }: Pick<Io, "local">): boolean {
  return here === undefined;
}

/** Names a known recording to the sandbox, which receives decoded samples and has its script. */
function naming({ sha256 }: SpeechAudio, io: Io): Io {
  if (sha256 === undefined) return io;
  return {
    ...io,
    send: (request) => io.send({ ...request, headers: { ...request.headers, [SIMULATED_RECORDING]: sha256 } }),
  };
}

/** Decoded samples as a WAV file, because the sandbox measures what it is sent. */
function asFile(audio: SpeechAudio): SpeechAudio {
  const { samplesPerSecond, sizeBytes, open } = audio;
  if (samplesPerSecond === undefined) return audio;
  return {
    ...audio,
    format: "wav",
    mediaType: "audio/wav",
    sizeBytes: WAV_HEADER_BYTES + sizeBytes,
    open: async function* () {
      yield wavHeader(samplesPerSecond, 1, sizeBytes);
      yield* open();
    },
  };
}

/** The only feature without an implementation here. Redaction and translation are not declared. */
function canSend(feature: Feature): boolean {
  return feature !== "translation" && !feature.startsWith("redaction.");
}

function planLocal(request: SpeechRequest, target: SpeechTarget): PlanResult {
  const missing = unmetFeatures(request, target.speech, canSend);
  if (missing.length > 0) return { ok: false, missing };
  const simulation = deepgram.plan(request, { ...target, model: "simulated-speech", settings: {} });
  if (!simulation.ok) return simulation;
  const plan: LocalPlan = {
    model: target.model,
    hasWords: target.speech.features["timestamps.word"] !== undefined,
    keyterms: request.keyterms,
    diarization: request.diarization,
    speakers: supportsPreference(target, "speaker_count_hint") ? request.speakerCountHint : null,
    simulated: simulation.plan,
  };
  return {
    ok: true,
    plan: { kind: "json", path: "/recognise", body: { ...plan } },
    dropped: droppedPreferences(request, target),
  };
}

function droppedPreferences(request: SpeechRequest, target: SpeechTarget): readonly Preference[] {
  const dropped: Preference[] = [];
  if (request.language.kind === "detect" && !supportsPreference(target, "detect_language"))
    dropped.push("detect_language");
  if (request.speakerCountHint !== null && !request.diarization) dropped.push("speaker_count_hint");
  if (request.smartFormatting !== null) dropped.push("smart_formatting");
  if (request.prompt !== null) dropped.push("prompt");
  return dropped;
}

/** The cast is safe: only `planLocal` makes a plan for this adapter. */
function ownPlan(plan: SpeechPlan): LocalPlan {
  if (plan.kind !== "json") throw new TypeError("not a plan of this adapter");
  return plan.body as unknown as LocalPlan;
}

function normaliseLocal(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  const body = ownBody(raw.body);
  if (body === null) return deepgram.normalise(raw, request, { ...target, model: "simulated-speech" }, audio);
  const { words, segments, text, language } = buildTranscript(body.pieces, body.turns);
  const evidence = {
    text,
    words,
    segments,
    channels: 1,
    language,
    wasSent: (feature: Feature) => feature === "streaming" || (feature === "keyterms" && request.keyterms.length > 0),
  };
  return {
    text,
    language: language ?? languageOf(target.speech),
    languageConfidence: null,
    segments,
    words,
    providerSeconds: null,
    providerRequestId: null,
    receipts: [
      ...receiptsFor(request, audio, evidence, supportsPreference(target, "detect_language")),
      { feature: "model", grade: "shown", delivered: true, model: body.model },
    ],
  };
}

/** The language of a model that knows no other. */
function languageOf({ languages }: SpeechModel): string | null {
  return languages !== "any" && languages.length === 1 ? (languages[0] ?? null) : null;
}

/** Null: the sandbox's answer to a test key. The cast is safe: only `recognise.ts` makes bodies with this mark. */
function ownBody(body: unknown): LocalBody | null {
  return typeof body === "object" && body !== null && "engine" in body && body.engine === "sherpa-onnx"
    ? (body as LocalBody)
    : null;
}

/** Reports what is installed, without a call. */
export const localProbe: AccountProbe = {
  path: "",
  listsModels: true,
  listsEnds: false,
  ask: async ({ local: here }) => {
    if (here === undefined) throw new ProviderError("connect", { reason: "no_engine_here" });
    const { isEngineInstalled, models } = await here.state();
    const names = models.filter(({ spec }) => spec.role !== "speakers" && spec.role !== "silence");
    return {
      kind: "local",
      status: 200,
      isEngineInstalled,
      listed: { models: names.map(({ name }) => ({ id: name, alias: null })), isWhole: true },
    };
  },
};
