// Every recorded request against the sandbox, which refuses what the providers refuse: two readings of the same documentation
// agree. And every receipt holds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dialect, startSandbox } from "../../sandbox/server.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import { assemblyai } from "../../src/providers/assemblyai/assemblyai.ts";
import { deepgram } from "../../src/providers/deepgram/deepgram.ts";
import { geminiAudio } from "../../src/providers/gemini/gemini-audio.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { googleSpeech } from "../../src/providers/google-speech/google-speech.ts";
import { createIo } from "../../src/providers/wire/make-io.ts";
import { openaiCompatible } from "../../src/providers/openai/openai-compatible.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import type { StreamingIo } from "../../src/providers/io.ts";
import type {
  RawTranscript,
  SpeechAudio,
  SpeechPlan,
  SpeechProvider,
  SpeechRequest,
  SpeechTarget,
} from "../../src/providers/provider.ts";
import { sandbox as sandboxProvider } from "../../src/providers/sandbox/sandbox.ts";
import { wav } from "../sandbox/wav.ts";
import { ASKING, audioFixture, type GoldenModel, PREFERRING, requestFor } from "./suites/fixtures.ts";
import { ASSEMBLYAI_GOLDEN as RECORDED, ASSEMBLYAI_STREAMING_GOLDEN } from "./golden/assemblyai.ts";
import { DEEPGRAM_GOLDEN, SIMULATED_GOLDEN } from "./golden/deepgram.ts";
import { GEMINI_GOLDEN } from "./golden/gemini.ts";
import { ELEVENLABS_GOLDEN as RECORDED_ELEVENLABS, ELEVENLABS_STREAMING_GOLDEN } from "./golden/elevenlabs.ts";
import { COMPATIBLE_GOLDEN } from "./golden/openai-compatible.ts";
import { GOOGLE_SPEECH_GOLDEN } from "./golden/google-speech.ts";
import { OPENAI_GOLDEN } from "./golden/openai.ts";
import { targetOf } from "./suites/subject.ts";
import { testReplies } from "../harness/replies.ts";

/** A day on which every model of the catalogue was still accepted. */
const server = await startSandbox({ nowMs: () => Date.parse("2026-05-01T12:00:00Z") });
const outbound = createOutbound();
test.after(async () => {
  await outbound.destroy();
  await server.close();
});

const WAV = wav(3, 2);
const AUDIO: SpeechAudio = audioFixture({
  sizeBytes: WAV.byteLength,
  channels: 2,
  durationSeconds: 3,
  open: async function* () {
    yield WAV;
  },
});

const ASSEMBLYAI_GOLDEN = [...RECORDED, ...ASSEMBLYAI_STREAMING_GOLDEN];
const ELEVENLABS_GOLDEN = [...RECORDED_ELEVENLABS, ...ELEVENLABS_STREAMING_GOLDEN];

/** A second of it: samples are sent no faster than they are spoken. */
const SAMPLES: SpeechAudio = {
  ...AUDIO,
  channels: 1,
  durationSeconds: 1,
  samplesPerSecond: 16_000,
  open: async function* () {
    yield new Uint8Array(32_000);
  },
};

interface Place {
  readonly provider: SpeechProvider;
  readonly baseUrl: string;
  readonly golden: GoldenModel;
}

const dialectOf = (golden: GoldenModel): Dialect => (golden.settings?.["dialect"] as Dialect | undefined) ?? "openai";

const PLACES: readonly Place[] = [
  ...ASSEMBLYAI_GOLDEN.map((golden) => ({ provider: assemblyai, baseUrl: server.assemblyaiUrl, golden })),
  ...ELEVENLABS_GOLDEN.map((golden) => ({ provider: elevenlabs, baseUrl: server.elevenlabsUrl, golden })),
  ...DEEPGRAM_GOLDEN.map((golden) => ({ provider: deepgram, baseUrl: server.deepgramUrl, golden })),
  ...GEMINI_GOLDEN.map((golden) => ({ provider: geminiAudio, baseUrl: server.geminiUrl, golden })),
  ...GOOGLE_SPEECH_GOLDEN.map((golden) => ({ provider: googleSpeech, baseUrl: server.googleSpeechUrl, golden })),
  ...OPENAI_GOLDEN.map((golden) => ({ provider: openai, baseUrl: server.openaiUrl, golden })),
  ...[
    SIMULATED_GOLDEN,
    ...prefixed("assemblyai/", ASSEMBLYAI_GOLDEN),
    ...prefixed("deepgram/", DEEPGRAM_GOLDEN),
    ...prefixed("elevenlabs/", ELEVENLABS_GOLDEN),
    ...prefixed("gemini/", GEMINI_GOLDEN),
    ...prefixed(
      "google-speech/",
      GOOGLE_SPEECH_GOLDEN.filter(({ settings }) => settings?.["bucket"] === undefined),
    ),
    ...prefixed("openai/", OPENAI_GOLDEN),
  ].map((golden) => ({ provider: sandboxProvider, baseUrl: server.origin, golden })),
  ...COMPATIBLE_GOLDEN.filter(({ settings }) => settings?.["dialect"] !== undefined).map((golden) => ({
    provider: openaiCompatible,
    baseUrl: server.compatibleUrl(dialectOf(golden)),
    golden,
  })),
];

function prefixed(prefix: string, models: readonly GoldenModel[]): readonly GoldenModel[] {
  return models.map((golden) => ({ ...golden, model: `${prefix}${golden.model}` }));
}

for (const { provider, baseUrl, golden } of PLACES) {
  const { speech, target } = targetOf(provider, golden);
  const wishes: readonly (readonly [string, Partial<SpeechRequest>])[] = [
    ["nothing", {}],
    ...Object.keys(golden.features).map((feature) => [feature, ASKING[feature as keyof typeof ASKING]] as const),
    ...speech.preferences
      .filter(
        (preference) => preference !== "language" || speech.languages === "any" || speech.languages.includes("pt"),
      )
      .map((preference) => [preference, PREFERRING[preference]] as const),
  ];
  test(`providers.sandbox-understands: ${provider.kind}/${golden.model}, the sandbox accepts every recorded request, and every receipt holds`, async (t) => {
    for (const [name, wish] of wishes) {
      await t.test(name, () => transcribed(provider, target, baseUrl, requestFor(speech, wish)));
    }
  });
}

async function transcribed(
  provider: SpeechProvider,
  target: SpeechTarget,
  baseUrl: string,
  request: SpeechRequest,
): Promise<void> {
  const result = provider.plan(request, target);
  assert.ok(result.ok);
  const { signal } = new AbortController();
  const io = createIo({
    outbound,
    replies: testReplies(),
    baseUrl,
    credential: "sandbox-key",
    signal,
    deadlineMs: 20_000,
  });
  const { raw, streamed } = await answerOf(provider, result.plan, { request, audio: audioFor(target) }, io);
  const transcript = provider.normalise(raw, request, target, audioFor(target));
  if (streamed !== null) assert.equal(streamed, transcript.text);
  assert.match(transcript.text, /simulated/);
  assert.deepEqual(
    transcript.receipts.filter(({ delivered }) => !delivered),
    [],
  );
}

const audioFor = ({ speech }: SpeechTarget): SpeechAudio => (speech.streamsOnly === true ? SAMPLES : AUDIO);

/** In one piece, or the end of what was streamed, and its pieces of text. */
async function answerOf(
  provider: SpeechProvider,
  plan: SpeechPlan,
  { request, audio }: { readonly request: SpeechRequest; readonly audio: SpeechAudio },
  io: StreamingIo,
): Promise<{ readonly raw: RawTranscript; readonly streamed: string | null }> {
  if (!request.stream) return { raw: await provider.transcribe(plan, audio, io), streamed: null };
  const texts: string[] = [];
  for await (const event of provider.stream?.(plan, audio, io) ?? []) {
    if (event.type === "end") return { raw: event.raw, streamed: texts.join("") };
    if (event.type === "text") texts.push(event.text);
  }
  return assert.fail("a stream without an end");
}
