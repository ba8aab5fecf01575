// Self-hosted servers against the contract suite, and what each of them answers in its own way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openaiCompatible } from "../../src/providers/openai-compatible.ts";
import { speechContract } from "./contract-suite.ts";
import type { GoldenModel } from "./fixtures.ts";
import { COMPATIBLE_GOLDEN } from "./golden/openai-compatible.ts";
import { piece, replyContract } from "./reply-suite.ts";

const [UNKNOWN, , WHISPER_CPP, SPEACHES, VLLM] = COMPATIBLE_GOLDEN;
assert.ok(UNKNOWN && WHISPER_CPP && SPEACHES && VLLM?.declared);

speechContract({
  provider: openaiCompatible,
  golden: COMPATIBLE_GOLDEN,
  authorization: (credential) => `Bearer ${credential}`,
  success: { text: "Hello." },
  refusal: (code, text) => ({ error: { message: text, type: "invalid_request_error", param: null, code } }),
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
    name: "a duration that is no number is null",
    golden: UNKNOWN,
    reply: { text: "Hi.", duration: "soon" },
    transcript: { providerSeconds: null },
    receipts: [],
  },
]);

test("openai-compatible: settings name a known dialect and a path, and nothing else", () => {
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
