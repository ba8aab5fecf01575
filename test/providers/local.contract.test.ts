// The adapter of `kind: local` without an engine: what it plans, what it does with the engine's results, and what its models declare.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { judgeTest } from "../../src/admin/connections/judge-test.ts";
import { samplePath } from "../../src/cli/package-root.ts";
import { checkConnection } from "../../src/config/check-connection.ts";
import type { InstalledModel } from "../../src/local-models/installed-model.ts";
import { MANIFEST } from "../../src/local-models/manifest.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";
import type { StreamingIo } from "../../src/providers/io.ts";
import { BUNDLED_SAMPLE, DEMONSTRATION, DEMONSTRATION_SPEC } from "../../src/providers/local/demonstration.ts";
import { engineConfigOf, speakersConfigOf } from "../../src/providers/local/engine/engine-config-of.ts";
import type { EngineResult, SpeakerTurn } from "../../src/providers/local/engine/engine-protocol.ts";
import type { LocalCalls, LocalSession } from "../../src/providers/local/local-calls.ts";
import { localSpeechModel, localSpeechModels } from "../../src/providers/local/local-models.ts";
import { buildTranscript } from "../../src/providers/local/local-transcript.ts";
import { local } from "../../src/providers/local/local.ts";
import { wordsOf } from "../../src/providers/local/local-words.ts";
import type { SpeechAudio, SpeechModel, SpeechRequest } from "../../src/providers/provider.ts";
import { judgeTarget } from "../../src/routing/judge-target.ts";
import { type Requirements, requiredFeatures } from "../../src/routing/required-features.ts";
import { RATE, sentence, speak, wordsModel } from "../harness/local-model.ts";

const NO_CONCESSIONS = { acceptWeak: [], splitLongAudio: false };
const PLAIN: SpeechRequest = {
  task: "transcribe",
  toLanguage: null,
  language: { kind: "default", tag: "en" },
  diarization: false,
  words: false,
  segments: false,
  keyterms: [],
  redaction: [],
  multichannel: false,
  profanityFilter: false,
  stream: false,
  speakerCountHint: null,
  smartFormatting: null,
  prompt: null,
};

const installedOf = (spec: ModelSpec): InstalledModel => ({ name: spec.name, dir: "/models", files: spec.files, spec });
const specOf = (name: string): ModelSpec => {
  const spec = MANIFEST.find((each) => each.name === name);
  assert.ok(spec !== undefined, name);
  return spec;
};
const wanted = (fields: Record<string, unknown> = {}): Requirements => requiredFeatures(fields, "transcribe");
const lacksOf = (model: SpeechModel, fields: Record<string, unknown> = {}) =>
  judgeTarget(model, wanted(fields), FACTS, NO_CONCESSIONS).missing;
const FACTS = { format: "wav", sizeBytes: 1_000, durationSeconds: 10, channels: 1, pcmRate: 16_000 } as const;

const NO_RESULT: EngineResult = {
  text: "",
  tokens: [],
  timestamps: [],
  durations: [],
  logProbs: [],
  language: "",
  startSeconds: 0,
};

interface Fake {
  readonly model?: InstalledModel;
  readonly results?: readonly Partial<EngineResult>[];
  readonly turns?: readonly SpeakerTurn[];
}

/** Answers each piece with the next result. */
function fakeIo({ model = wordsModel, results = [], turns = [] }: Fake): { io: StreamingIo; asked: unknown[] } {
  const asked: unknown[] = [];
  const next = (): EngineResult => ({ ...NO_RESULT, ...results[asked.length - 1] });
  const session: LocalSession = {
    model,
    runtime: { engine: "sherpa-onnx 1.13.8", processor: "x64 avx2" },
    signal: new AbortController().signal,
    decode: async ({ samples, sampleRate }, keyterms) => {
      asked.push({ seconds: samples.length / sampleRate, keyterms });
      return next();
    },
    listen: async () => ({
      hear: async () => {
        asked.push("hear");
        return asked.length <= results.length ? [next()] : [];
      },
      finish: async () => [],
    }),
    diarize: async (samples, speakers) => {
      let seconds = 0;
      for await (const part of samples()) seconds += part.samples.length / part.sampleRate;
      asked.push({ diarized: seconds, speakers });
      return turns;
    },
    release: () => void asked.push("released"),
  };
  const here: LocalCalls = {
    state: async () => ({ isEngineInstalled: true, models: [model] }),
    open: async () => session,
  };
  return { io: { local: here, retain: () => undefined } as unknown as StreamingIo, asked };
}

function audioOf(samples: Int16Array): SpeechAudio {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  return {
    format: "wav",
    mediaType: "audio/wav",
    fileName: "audio.wav",
    sizeBytes: bytes.length,
    durationSeconds: samples.length / RATE,
    channels: 1,
    codec: "pcm",
    sampleRate: RATE,
    samplesPerSecond: RATE,
    open: async function* () {
      // Chunks that end within a sample.
      for (let at = 0; at < bytes.length; at += 3_333) yield bytes.subarray(at, at + 3_333);
    },
  };
}

async function transcribe(fake: Fake, audio: SpeechAudio, request: SpeechRequest, speech: SpeechModel) {
  const target = { model: "m", speech, settings: {} };
  const planned = local.plan(request, target);
  assert.ok(planned.ok);
  const { io, asked } = fakeIo(fake);
  const raw = await local.transcribe(planned.plan, audio, io);
  return { transcript: local.normalise(raw, request, target, audio), asked };
}

const WITH_WORDS = localSpeechModel(specOf("parakeet-0.6b-v3"), true);

test("local.features: each model of the manifest declares what it does, and every other feature is refused", () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    "parakeet-110m-en": [],
    "parakeet-0.6b-v3": [],
    "moonshine-tiny-en": ["timestamps.word"],
    "zipformer-20m-en-streaming": [],
  };
  for (const [name, lacks] of Object.entries(expected)) {
    const model = localSpeechModel(specOf(name), false);
    assert.deepEqual(lacksOf(model, { timestamps: "both" }), lacks, name);
    assert.deepEqual(lacksOf(model, { keyterms: ["Patchbay"] }), ["keyterms"], name);
    assert.deepEqual(lacksOf(model, { redaction: ["pii"] }), ["redaction.pii"], name);
    assert.deepEqual(lacksOf(model, { language: "ja" }), ["language"], name);
  }
});

test("local.speakers, local.hints: speakers need both speaker models, and the hint names the command", () => {
  const english = specOf("parakeet-110m-en");
  const pair = ["speaker-segmentation", "titanet-small"].map((name) => installedOf(specOf(name)));
  const modelWith = (models: readonly InstalledModel[]) =>
    localSpeechModels(MANIFEST, { isEngineInstalled: true, models: [installedOf(english), ...models] })[english.name];
  for (const models of [[], pair.slice(0, 1), pair.slice(1)]) {
    const model = modelWith(models);
    assert.ok(model !== undefined);
    assert.deepEqual(lacksOf(model, { diarization: true }), ["diarization"]);
    assert.match(model.hints?.diarization ?? "", /patchbay models pull speaker-segmentation titanet-small/u);
    assert.equal(speakersConfigOf(models, 1), null);
  }
  const whole = modelWith(pair);
  assert.ok(whole !== undefined);
  assert.deepEqual(lacksOf(whole, { diarization: true }), []);
  assert.deepEqual(lacksOf(whole, { diarization: true, stream: true }), ["diarization"]);
  assert.deepEqual(speakersConfigOf(pair, 2), {
    kind: "speakers",
    segmentation: "/models/model.onnx",
    embedding: "/models/nemo_en_titanet_small.onnx",
    threads: 2,
  });
});

test("local.missing, local.hints: without the model or the engine nothing is eligible, and the hint names the command", () => {
  const english = specOf("parakeet-110m-en");
  const without = localSpeechModels(MANIFEST, { isEngineInstalled: true, models: [] })[english.name];
  assert.ok(without !== undefined);
  assert.deepEqual(lacksOf(without), ["model_not_installed"]);
  assert.match(without.hints?.model_not_installed ?? "", /patchbay models pull parakeet-110m-en/u);
  const noEngine = { isEngineInstalled: false, models: [installedOf(english)] };
  const unusable = localSpeechModels(MANIFEST, noEngine)[english.name];
  assert.ok(unusable !== undefined);
  assert.deepEqual(lacksOf(unusable), ["engine_not_installed"]);
  assert.match(unusable.hints?.engine_not_installed ?? "", /npm install sherpa-onnx-node@1\.13\.8/u);
  const facts = { hasCredential: false, models: [], undeclared: null };
  const answer = {
    kind: "local",
    status: 200,
    isEngineInstalled: false,
    listed: { models: [], isWhole: true },
  } as const;
  const judged = judgeTest(answer, facts);
  assert.equal(judged.ok, false);
  assert.match(judged.message, /npm install sherpa-onnx-node@1\.13\.8/u);
  assert.ok(judgeTest({ ...answer, isEngineInstalled: true }, facts).ok);
});

test("local.demonstration: the demonstration model accepts the bundled sample by its bytes, and nothing else", () => {
  const bytes = readFileSync(samplePath());
  assert.equal(bytes.length, BUNDLED_SAMPLE.sizeBytes);
  assert.equal(createHash("sha256").update(bytes).digest("hex"), BUNDLED_SAMPLE.sha256);
  const model = localSpeechModel(DEMONSTRATION_SPEC, true);
  const sample = { ...FACTS, format: "mp3", sizeBytes: bytes.length, sha256: BUNDLED_SAMPLE.sha256 } as const;
  const missing = (facts: Parameters<typeof judgeTarget>[2], fields = {}) =>
    judgeTarget(model, wanted(fields), facts, NO_CONCESSIONS).missing;
  assert.deepEqual(missing(sample, { timestamps: "word" }), []);
  assert.deepEqual(missing(FACTS), ["recording"]);
  assert.deepEqual(missing({ ...sample, sha256: "0".repeat(64) }), ["recording"]);
  const { sha256: _, ...withoutHash } = sample;
  assert.deepEqual(missing(withoutHash), ["recording"]);
  assert.deepEqual(missing(sample, { diarization: true }), ["diarization"]);
  assert.deepEqual(missing({ ...FACTS, live: "pcm_s16le" }, { stream: true }), ["live_audio"]);
  assert.deepEqual(missing(sample, { stream: true }), []);
  assert.deepEqual(missing(FACTS, { stream: true }), ["recording"]);
  assert.equal(DEMONSTRATION_SPEC.name, DEMONSTRATION);
});

test("local.engines: every model of the manifest that writes text has a configuration of the engine with all of its files", () => {
  for (const spec of MANIFEST) {
    const config = JSON.stringify(engineConfigOf(installedOf(spec), 3));
    if (spec.role === "silence" || spec.role === "speakers") assert.equal(config, "null", spec.name);
    else for (const { path } of spec.files) assert.ok(config.includes(`/models/${path}`), `${spec.name} ${path}`);
  }
  const tdt = JSON.stringify(engineConfigOf(installedOf(specOf("parakeet-0.6b-v3")), 3));
  assert.match(tdt, /"modelType":"nemo_transducer"/u);
});

test("local.words, local.confidence: tokens become words, with the model's own lengths and probabilities", () => {
  const result = {
    ...NO_RESULT,
    text: "Hello doctor.",
    tokens: ["▁He", "llo", "▁doctor", ".", "<unk>"],
    timestamps: [0.4, 0.6, 1.0, 1.4, 1.5],
    durations: [0.2, 0.2, 0.4, 0.1, 0.1],
    logProbs: [Math.log(0.9), Math.log(0.4), 0, 0, -9],
  };
  const activity = { levels: Array.from({ length: 100 }, () => -20), pauseLevel: -50 };
  const words = wordsOf(result, { seconds: 2, activity });
  assert.deepEqual(
    words.map(({ text, start, end }) => [text, start, Math.round(end * 1000) / 1000]),
    [
      ["Hello", 0.4, 0.8],
      ["doctor.", 1.0, 1.5],
    ],
  );
  assert.ok(Math.abs((words[0]?.confidence ?? 0) - 0.6) < 1e-9);
  assert.equal(words[1]?.confidence, 1);
  const without = wordsOf({ ...result, logProbs: [] }, { seconds: 2, activity });
  assert.deepEqual(
    without.map(({ confidence }) => confidence),
    [null, null],
  );
  assert.deepEqual(wordsOf({ ...result, timestamps: [] }, { seconds: 2, activity }), []);
});

test("local.words: a model that marks pauses says where its words begin, and they last until the mark or the next word", () => {
  const result = {
    ...NO_RESULT,
    text: "good morning hello",
    tokens: ["▁good", "▁morning", "▁", "▁hello"],
    timestamps: [0.5, 0.8, 1.3, 2.0],
  };
  const levels = Array.from({ length: 150 }, (_, frame) => (frame < 120 ? -20 : -80));
  const words = wordsOf(result, { seconds: 3, activity: { levels, pauseLevel: -50 } });
  assert.deepEqual(
    words.map(({ text, start, end }) => [text, start, Math.round(end * 100) / 100]),
    [
      ["good", 0.5, 0.8],
      ["morning", 0.8, 1.3],
      ["hello", 2, 2.4],
    ],
  );
});

test("local.speakers: words belong to the speaker of their moment, and segments end where speakers change", async () => {
  const spoken = speak(0.5, "hello", 0.1, "doctor", 0.1, "good", 0.1, "morning", 0.5);
  const [hello, doctor, good, morning] = spoken.words;
  assert.ok(hello !== undefined && doctor !== undefined && good !== undefined && morning !== undefined);
  const { transcript, asked } = await transcribe(
    {
      results: [
        {
          text: "hello doctor good morning",
          tokens: ["▁hello", "▁doctor", "▁good", "▁morning"],
          timestamps: spoken.words.map(({ start }) => start + 0.1),
          language: "",
        },
      ],
      turns: [
        { start: 0.4, end: doctor.end + 0.05, speaker: 1 },
        { start: good.start - 0.05, end: morning.end, speaker: 0 },
      ],
    },
    audioOf(spoken.samples),
    { ...PLAIN, diarization: true, words: true, speakerCountHint: 2 },
    WITH_WORDS,
  );
  assert.deepEqual(
    transcript.words.map(({ speaker }) => speaker),
    ["1", "1", "0", "0"],
  );
  assert.deepEqual(
    transcript.segments.map(({ text, speaker }) => [text, speaker]),
    [
      ["hello doctor", "1"],
      ["good morning", "0"],
    ],
  );
  assert.ok(transcript.receipts.every(({ delivered }) => delivered));
  const diarization = asked.at(-2) as { diarized: number; speakers: number };
  assert.ok(Math.abs(diarization.diarized - spoken.seconds) < 1e-6);
  assert.equal(diarization.speakers, 2);
  assert.equal(asked.at(-1), "released");
});

test("local.speakers: two hours of words and turns are matched within the time of a few event-loop ticks", () => {
  const turns = Array.from({ length: 4_000 }, (_, index) => ({
    start: index * 1.8,
    end: index * 1.8 + 1.7,
    speaker: index % 3,
  }));
  const words = Array.from({ length: 20_000 }, (_, index) => ({
    text: "word",
    start: index * 0.36,
    end: index * 0.36 + 0.3,
    confidence: null,
  }));
  const piece = { startSeconds: 0, text: "", language: "", words, bounds: { start: 0, end: 7_200 } };
  const { words: labelled } = buildTranscript([piece], turns.toReversed());
  for (const index of [0, 7, 9_999, 19_999]) {
    const middle = index * 0.36 + 0.15;
    const spoken = turns.find(({ start, end }) => start <= middle && middle <= end);
    assert.equal(labelled[index]?.speaker, String(spoken?.speaker), `word ${index}`);
  }
});

test("local.no-account: a connection of this kind has neither a credential nor an address", () => {
  const faults = (value: Record<string, unknown>) =>
    checkConnection({ path: [], value }).map(({ path, message }) => `${path.join(".")}: ${message}`);
  assert.deepEqual(faults({ kind: "local" }), []);
  const all = faults({ kind: "local", api_key: "x", base_url: "http://127.0.0.1:1" });
  assert.equal(all.length, 2);
  assert.ok(all.every((text) => /must not be set/u.test(text)));
});

test("local.segments: a model without times of words gives one segment an utterance, where it was spoken", async () => {
  const spoken = speak(0.6, "hello", 0.1, "doctor", 1, "good", 0.1, "morning", 0.8);
  const [first, second, third, fourth] = spoken.words;
  const { transcript } = await transcribe(
    { results: [{ text: "Hello, doctor." }, { text: "Good morning." }] },
    audioOf(spoken.samples),
    { ...PLAIN, segments: true },
    localSpeechModel(specOf("moonshine-tiny-en"), false),
  );
  assert.equal(transcript.text, "Hello, doctor. Good morning.");
  assert.deepEqual(transcript.words, []);
  for (const [index, [from, to]] of [
    [first, second],
    [third, fourth],
  ].entries()) {
    const segment = transcript.segments[index];
    assert.ok(Math.abs((segment?.start ?? 0) - (from?.start ?? 0)) < 0.05);
    assert.ok(Math.abs((segment?.end ?? 0) - (to?.end ?? 0)) < 0.05);
  }
});

test("local.keyterms: key terms reach a decoder that takes them, and terms that it would misread are refused", async () => {
  const spec = { ...specOf("parakeet-110m-en"), features: { ...specOf("parakeet-110m-en").features, keyterms: true } };
  const speech = localSpeechModel(spec, false);
  const { asked } = await transcribe(
    { results: [{ text: "hello" }] },
    audioOf(sentence("hello").samples),
    { ...PLAIN, keyterms: ["Patchbay", "Don Quixote"] },
    speech,
  );
  assert.deepEqual((asked[0] as { keyterms: unknown }).keyterms, ["Patchbay", "Don Quixote"]);
  assert.deepEqual(lacksOf(speech, { keyterms: ["a/b"] }), ["keyterms_limit"]);
  assert.deepEqual(lacksOf(speech, { keyterms: ["a:2"] }), ["keyterms_limit"]);
  const config = engineConfigOf(installedOf(spec), 1);
  assert.equal(config?.kind === "offline" ? config.decoding : null, "modified_beam_search");
});

test("local.live: a streaming model hears the audio as it comes and reports its utterances", async () => {
  const spoken = speak("hello", 0.5, "doctor", 0.5);
  const spec = specOf("zipformer-20m-en-streaming");
  const { transcript } = await transcribe(
    {
      model: installedOf(spec),
      results: [
        { text: " HELLO", tokens: [" HE", "LLO"], timestamps: [0.1, 0.3], startSeconds: 0 },
        { text: " DOCTOR", tokens: [" DOCTOR"], timestamps: [0.2], startSeconds: 1.0 },
      ],
    },
    audioOf(spoken.samples),
    { ...PLAIN, words: true },
    localSpeechModel(spec, false),
  );
  assert.equal(transcript.text, "HELLO DOCTOR");
  assert.deepEqual(
    transcript.words.map(({ text, start }) => [text, start]),
    [
      ["HELLO", 0.1],
      ["DOCTOR", 1.2],
    ],
  );
});

test("local.pieces: a long recording is recognised without being kept in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const chunkBytes = 1_048_576;
  const chunks = 48;
  const sizeBytes = chunks * chunkBytes;
  const buffers = (): number => process.memoryUsage().arrayBuffers;
  // Other tests of this process have buffers of their own. Those that are collected are freed by another thread, so that more than one look is needed. Each
  // collects everything, which takes long in a process with many files.
  const leastBytes = async (enoughBytes: number, mostLooks: number): Promise<number> => {
    let least = Infinity;
    for (let looks = 0; looks < mostLooks && least > enoughBytes; looks++) {
      await new Promise(setImmediate);
      collectGarbage();
      least = Math.min(least, buffers());
    }
    return least;
  };
  const before = await leastBytes(0, 3);
  let keptBytes: number | null = null;
  const open = async function* () {
    for (let chunk = 0; chunk < chunks; chunk++) yield Buffer.alloc(chunkBytes, chunk + 1);
    keptBytes = (await leastBytes(before + sizeBytes / 3, 200)) - before;
  };
  const audio = { ...audioOf(new Int16Array(0)), sizeBytes, durationSeconds: sizeBytes / 2 / RATE, open };
  await transcribe({}, audio, PLAIN, localSpeechModel(wordsModel.spec, false));
  assert.ok(keptBytes !== null && keptBytes <= sizeBytes / 3, `${keptBytes} bytes of ${sizeBytes} were kept`);
});
