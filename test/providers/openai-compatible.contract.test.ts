// Self-hosted servers against the contract suite, and what each of them answers in its own way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openaiCompatible } from "../../src/providers/openai/openai-compatible.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { type GoldenModel, requestFor } from "./suites/fixtures.ts";
import { COMPATIBLE_GOLDEN } from "./golden/openai-compatible.ts";
import { refusedByOpenAi } from "./suites/refusals.ts";
import { piece, replyContract } from "./suites/reply-suite.ts";
import { targetOf } from "./suites/subject.ts";

const [UNKNOWN, , WHISPER_CPP, SPEACHES, VLLM, GROQ, MISTRAL] = COMPATIBLE_GOLDEN;
assert.ok(UNKNOWN && WHISPER_CPP && SPEACHES && VLLM?.declared && GROQ && MISTRAL);

speechContract({
  provider: openaiCompatible,
  golden: COMPATIBLE_GOLDEN,
  authorization: (credential) => `Bearer ${credential}`,
  success: { text: "Hello." },
  refusal: refusedByOpenAi,
});

const VLLM_WITH_WORDS: GoldenModel = {
  ...VLLM,
  declared: {
    ...VLLM.declared,
    features: { ...VLLM.declared.features, "timestamps.word": { support: "native", grade: "shown" } },
  },
};

replyContract(openaiCompatible, [
  {
    name: "whisper.cpp's tokens become words, as sure as their least sure token",
    golden: WHISPER_CPP,
    reply: new URL("openai-compatible/whisper-cpp.json", import.meta.url),
    wishes: { words: true, segments: true, language: { kind: "detect" } },
    transcript: {
      text: "Patchbay works. Really.",
      language: "de",
      languageConfidence: 0.87,
      providerSeconds: 3.2,
      words: [
        piece("Patchbay", 0, 0.7, { confidence: 0.6 }),
        piece("works.", 0.7, 1.8, { confidence: 0.98 }),
        piece("Really.", 1.8, 3, { confidence: 0.8 }),
      ],
      segments: [piece("Patchbay works.", 0, 1.8), piece("Really.", 1.8, 3)],
    },
    receipts: ["timestamps.word shown yes", "timestamps.segment shown yes", "language shown yes"],
  },
  {
    name: "FLD-19: asked for one language, whisper.cpp's guess of another one does not count",
    golden: WHISPER_CPP,
    reply: {
      text: "It works.",
      language: "english",
      detected_language: "dutch",
      detected_language_probability: 0.41,
      language_probabilities: { nl: 0.41, en: 0.39 },
      segments: [],
    },
    wishes: { language: { kind: "asked", tag: "en" } },
    transcript: { text: "It works.", language: "en", languageConfidence: null },
    receipts: [],
  },
  {
    name: "whisper.cpp's tokens of a script without spaces are words each, and punctuation hangs on the one before it",
    golden: WHISPER_CPP,
    reply: {
      text: "タワーです。",
      segments: [
        {
          text: "タワーです。",
          start: 0,
          end: 2,
          words: [
            { word: "タワー", start: 0, end: 1, probability: 0.9 },
            { word: "です", start: 1, end: 1.8, probability: 0.8 },
            { word: "。", start: 1.8, end: 2, probability: 0.7 },
          ],
        },
      ],
    },
    wishes: { words: true },
    transcript: { words: [piece("タワー", 0, 1, { confidence: 0.9 }), piece("です。", 1, 2, { confidence: 0.7 })] },
    receipts: ["timestamps.word shown yes"],
  },
  {
    name: "speaches without pyannote drops speakers in silence: not delivered",
    golden: SPEACHES,
    reply: { text: "Hi.", language: "en", duration: 1, segments: [{ text: "Hi.", start: 0, end: 1 }] },
    wishes: { diarization: true },
    receipts: ["diarization shown no"],
  },
  {
    name: "speaches with pyannote labels segments, and its hotwords are proven by their field",
    golden: SPEACHES,
    reply: {
      text: "Hi.",
      language: "en",
      duration: 1,
      segments: [{ text: "Hi.", start: 0, end: 1, speaker: "SPEAKER_00" }],
    },
    wishes: { diarization: true, keyterms: ["Patchbay"] },
    transcript: { language: "en", segments: [piece("Hi.", 0, 1, { speaker: "SPEAKER_00" })] },
    receipts: ["diarization shown yes", "keyterms sent yes"],
  },
  {
    name: "speaches names speakers in its segments alone: a word has its segment's speaker, and none outside of all segments",
    golden: SPEACHES,
    reply: {
      text: "Hi. You? Hm.",
      segments: [
        { text: "You?", start: 1, end: 2, speaker: "SPEAKER_01" },
        { text: "Hi.", start: 0, end: 1, speaker: "SPEAKER_00" },
      ],
      words: [
        { word: " Hi.", start: 0.2, end: 1, probability: 0.5 },
        { word: " You?", start: 1, end: 1.5, probability: 0.5 },
        { word: " Hm.", start: 2.5, end: 3, probability: 0.5 },
      ],
    },
    wishes: { diarization: true, words: true },
    transcript: {
      words: [
        piece("Hi.", 0.2, 1, { confidence: 0.5, speaker: "SPEAKER_00" }),
        piece("You?", 1, 1.5, { confidence: 0.5, speaker: "SPEAKER_01" }),
        piece("Hm.", 2.5, 3, { confidence: 0.5 }),
      ],
    },
    receipts: ["diarization shown yes", "timestamps.word shown yes"],
  },
  {
    name: "vLLM's duration is text, and it ignores the wish for words: not delivered",
    golden: VLLM_WITH_WORDS,
    reply: {
      text: "Hi.",
      language: "en",
      duration: "1.25",
      segments: [{ id: 0, text: "Hi.", start: 0, end: 1, no_speech_prob: null }],
      words: null,
    },
    wishes: { words: true, segments: true },
    transcript: { providerSeconds: 1.25 },
    receipts: ["timestamps.word shown no", "timestamps.segment shown yes"],
  },
  {
    name: "Groq names the language, and its id is in the body",
    golden: GROQ,
    reply: {
      task: "transcribe",
      language: "German",
      duration: 3.1,
      text: " Guten Tag.",
      words: [
        { word: "Guten", start: 0, end: 0.4 },
        { word: "Tag.", start: 0.4, end: 0.9 },
      ],
      segments: [{ id: 0, seek: 0, start: 0, end: 0.9, text: " Guten Tag.", avg_logprob: -0.2, no_speech_prob: 0 }],
      x_groq: { id: "req_01k" },
    },
    wishes: { words: true, segments: true, language: { kind: "detect" } },
    transcript: {
      text: "Guten Tag.",
      language: "de",
      providerSeconds: 3.1,
      providerRequestId: "req_01k",
      words: [piece("Guten", 0, 0.4), piece("Tag.", 0.4, 0.9)],
      segments: [piece("Guten Tag.", 0, 0.9)],
    },
    receipts: ["timestamps.word shown yes", "timestamps.segment shown yes", "language shown yes"],
  },
  {
    name: "the language of a translation's text is not the spoken one",
    golden: GROQ,
    reply: { task: "translate", language: "english", duration: 3.1, text: "Good day.", segments: [] },
    wishes: { task: "translate", toLanguage: "en", segments: false },
    transcript: { text: "Good day.", language: null },
    receipts: ["translation sent yes"],
  },
  {
    name: "Mistral's word entries, in the place of segments, are words with their speakers, and hold the segments",
    golden: MISTRAL,
    reply: {
      model: "voxtral-mini-2602",
      text: "Hi there.",
      language: null,
      segments: [
        { type: "transcription_segment", text: " Hi", start: 0.1, end: 0.3, score: null, speaker_id: "speaker_0" },
        { type: "transcription_segment", text: " there.", start: 0.3, end: 0.7, score: null, speaker_id: "speaker_1" },
      ],
      usage: { prompt_audio_seconds: 2, prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 },
    },
    wishes: { words: true, segments: true, diarization: true },
    transcript: {
      words: [piece("Hi", 0.1, 0.3, { speaker: "speaker_0" }), piece("there.", 0.3, 0.7, { speaker: "speaker_1" })],
      segments: [],
      providerSeconds: 2,
    },
    receipts: [
      "timestamps.word shown yes",
      "timestamps.segment shown yes",
      "diarization shown yes",
      "model echoed yes",
    ],
  },
  {
    name: "Mistral's segments without a speaker do not distinguish speakers",
    golden: MISTRAL,
    reply: {
      text: "Hi.",
      language: "en",
      segments: [{ text: "Hi.", start: 0, end: 1, speaker_id: null }],
      usage: { prompt_audio_seconds: null },
    },
    wishes: { diarization: true, keyterms: ["Patchbay"] },
    transcript: { language: "en", providerSeconds: null, segments: [piece("Hi.", 0, 1)], words: [] },
    receipts: ["diarization shown no", "keyterms sent yes", "model echoed no"],
  },
  {
    name: "a language, a usage or an id in a form of the server's own costs no transcript",
    golden: UNKNOWN,
    reply: { text: "Hi.", language: ["en"], languages: ["en"], detected_language: 5, usage: 12, x_groq: "r-1" },
    transcript: { text: "Hi.", language: null, providerSeconds: null, providerRequestId: null },
    receipts: [],
  },
  {
    name: "a duration that is no number is null",
    golden: UNKNOWN,
    reply: { text: "Hi.", duration: "soon" },
    transcript: { providerSeconds: null },
    receipts: [],
  },
]);

test("providers.settings: openai-compatible, settings name a known dialect and a path, and nothing else", () => {
  const { settings } = openaiCompatible;
  assert.equal(
    settings.safeParse({ dialect: "whisper-cpp", transcribe_path: "/v1/audio/transcriptions" }).success,
    true,
  );
  for (const wrong of [
    { dialect: "whispercpp" },
    { transcribe_path: "https://elsewhere.example/" },
    { diarize: true },
  ]) {
    assert.equal(settings.safeParse(wrong).success, false, JSON.stringify(wrong));
  }
});

test("providers.preference-named: mistral, a language sent together with times is named as dropped, because the two exclude each other", () => {
  const { speech, target } = targetOf(openaiCompatible, MISTRAL);
  const language = { kind: "asked", tag: "de" } as const;
  const result = openaiCompatible.plan(requestFor(speech, { words: true, segments: true, language }), target);
  assert.ok(result.ok && result.plan.kind === "multipart");
  assert.deepEqual(result.dropped, ["language"]);
  assert.deepEqual(result.plan.fields, [
    ["model", "voxtral-mini-latest"],
    ["timestamp_granularities", "word"],
  ]);
});

test("providers.preference-named: mistral, voxtral 3 accepts a language together with times", () => {
  for (const model of ["voxtral-mini-transcribe-3", "voxtral-small-transcribe-3-0"]) {
    const speech = openaiCompatible.models[model];
    assert.ok(speech);
    const language = { kind: "asked", tag: "de" } as const;
    // The name implies the dialect.
    const target = { model, speech, settings: {} };
    const result = openaiCompatible.plan(requestFor(speech, { words: true, language }), target);
    assert.ok(result.ok && result.plan.kind === "multipart");
    assert.deepEqual(result.dropped, []);
    assert.deepEqual(result.plan.fields, [
      ["model", model],
      ["language", "de"],
      ["timestamp_granularities", "word"],
    ]);
  }
});

test("providers.configured-model: voxtral 3 on a server with another dialect is a model of which nothing is known", () => {
  const model = openaiCompatible.models["voxtral-mini-transcribe-3"];
  assert.ok(model);
  const { configured, unknownModel } = openaiCompatible;
  assert.equal(configured?.("voxtral-mini-transcribe-3", model, { dialect: "vllm" }), unknownModel);
  assert.equal(configured?.("voxtral-mini-transcribe-3", model, {}), model);
});

test("providers.keyterm-encoding, providers.model-limits: mistral, at most 100 terms without blanks and commas: others make the target lack keyterms_limit", () => {
  for (const golden of [MISTRAL, { ...MISTRAL, model: "voxtral-mini-transcribe-3" }]) {
    const { speech, target } = targetOf(openaiCompatible, golden);
    const planned = (keyterms: readonly string[]) => openaiCompatible.plan(requestFor(speech, { keyterms }), target);
    for (const terms of [["New York"], ["Acme,Inc."], ["a\tb"], Array.from({ length: 101 }, (_, at) => `t${at}`)])
      assert.deepEqual(planned(terms), { ok: false, missing: ["keyterms_limit"] }, terms[0]);
    const result = planned([" Zürich "]);
    assert.ok(result.ok && result.plan.kind === "multipart");
    assert.deepEqual(result.plan.fields.slice(1), [["context_bias", "Zürich"]]);
  }
});
