// OpenAI's transcription models against the contract suite, and their replies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { speechModel } from "../../src/directory/speech-model.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { requestFor } from "./suites/fixtures.ts";
import { OPENAI_GOLDEN } from "./golden/openai.ts";
import { refusedByOpenAi } from "./suites/refusals.ts";
import { piece, replyContract } from "./suites/reply-suite.ts";
import { targetOf } from "./suites/subject.ts";

const [WHISPER_1, GPT_4O, , DIARIZE, GPT_TRANSCRIBE] = OPENAI_GOLDEN;
assert.ok(WHISPER_1 && GPT_4O && DIARIZE && GPT_TRANSCRIBE);
const reply = (name: string): URL => new URL(`openai/${name}.json`, import.meta.url);

speechContract({
  provider: openai,
  golden: OPENAI_GOLDEN,
  authorization: (credential) => `Bearer ${credential}`,
  success: { text: "Hello.", usage: { type: "duration", seconds: 1 } },
  refusal: refusedByOpenAi,
});

replyContract(openai, [
  {
    name: "whisper-1 with times: words, segments, language by its tag, exact seconds, request id",
    golden: WHISPER_1,
    reply: reply("whisper-verbose"),
    headers: { "x-request-id": "req_123" },
    wishes: { words: true, segments: true, language: { kind: "detect" } },
    transcript: {
      text: "The beach was a popular spot. People swam.",
      language: "en",
      languageConfidence: null,
      providerSeconds: 8.470000267028809,
      providerRequestId: "req_123",
      words: [piece("The", 0, 0.24), piece("beach", 0.24, 0.6)],
      segments: [piece("The beach was a popular spot.", 0, 3.32), piece("People swam.", 3.32, 5.1)],
    },
    receipts: ["timestamps.word shown yes", "timestamps.segment shown yes", "language shown yes"],
  },
  {
    name: "word times that do not come are not delivered",
    golden: WHISPER_1,
    reply: { text: "Hello.", language: "english", duration: 1.5, segments: [{ text: "Hello.", start: 0, end: 1 }] },
    wishes: { words: true },
    receipts: ["timestamps.word shown no"],
  },
  {
    name: "a language with an unknown name is no language",
    golden: WHISPER_1,
    reply: { text: "Hello.", language: "old high martian", duration: 1.5 },
    wishes: { language: { kind: "detect" } },
    transcript: { language: null },
    receipts: ["language shown no"],
  },
  {
    name: "a language named like a built-in property is no language",
    golden: WHISPER_1,
    reply: { text: "Hello.", language: "constructor", duration: 1.5 },
    transcript: { language: null },
    receipts: [],
  },
  {
    name: "silence satisfies times and language",
    golden: WHISPER_1,
    reply: { text: "", duration: 1.5, segments: [], words: [] },
    wishes: { words: true, segments: true, language: { kind: "detect" } },
    transcript: { text: "", words: [], segments: [] },
    receipts: ["timestamps.word shown yes", "timestamps.segment shown yes", "language shown yes"],
  },
  {
    name: "translation is proven by the endpoint, keyterms by the prompt",
    golden: WHISPER_1,
    reply: { text: "Good day." },
    wishes: { task: "translate", keyterms: ["Patchbay"] },
    receipts: ["translation sent yes", "keyterms sent yes"],
  },
  {
    name: "diarized segments keep the raw speaker labels",
    golden: DIARIZE,
    reply: reply("diarized"),
    wishes: { diarization: true, segments: true },
    transcript: {
      providerSeconds: 27.4,
      words: [],
      segments: [piece("Thanks for calling.", 0, 4.7, { speaker: "agent" }), piece("Hi.", 4.7, 11.8, { speaker: "A" })],
    },
    receipts: ["diarization shown yes", "timestamps.segment shown yes"],
  },
  {
    name: "a diarized answer without speakers is not delivered",
    golden: DIARIZE,
    reply: { text: "Hi.", duration: 1, segments: [{ text: "Hi.", start: 0, end: 1 }] },
    wishes: { diarization: true },
    receipts: ["diarization shown no"],
  },
  {
    name: "gpt-4o reports tokens and no seconds: the figure is null",
    golden: GPT_4O,
    reply: reply("gpt-4o"),
    transcript: { text: "Imagine the wildest idea.", language: null, providerSeconds: null, segments: [], words: [] },
    receipts: [],
  },
  {
    name: "gpt-transcribe returns the language as a code, and billed seconds instead of a duration",
    golden: GPT_TRANSCRIBE,
    reply: reply("gpt-transcribe"),
    wishes: { language: { kind: "detect" }, keyterms: ["Patchbay"] },
    transcript: { language: "es", providerSeconds: 2 },
    receipts: ["language shown yes", "keyterms sent yes"],
  },
  {
    name: "gpt-transcribe unsure of the language has not detected it",
    golden: GPT_TRANSCRIBE,
    reply: { text: "Hm.", languages: [] },
    wishes: { language: { kind: "detect" } },
    transcript: { language: null },
    receipts: ["language shown no"],
  },
]);

test("translation.features: openai, word times of a translation are refused, because its answers have none", () => {
  const { speech, target } = targetOf(openai, WHISPER_1);
  const result = openai.plan(requestFor(speech, { task: "translate", words: true, segments: true }), target);
  assert.deepEqual(result, { ok: false, missing: ["timestamps.word"] });
});

test("providers.golden-requests: openai, segments of a translation come with verbose_json, without granularities, which that endpoint lacks", () => {
  const { speech, target } = targetOf(openai, WHISPER_1);
  const result = openai.plan(requestFor(speech, { task: "translate", segments: true }), target);
  assert.ok(result.ok && result.plan.kind === "multipart");
  assert.deepEqual(result.plan, {
    kind: "multipart",
    path: "/audio/translations",
    fields: [
      ["model", "whisper-1"],
      ["response_format", "verbose_json"],
    ],
  });
});

test("providers.preference-named: openai, a language asked of the translation endpoint, which accepts none, is named as dropped", () => {
  const { speech, target } = targetOf(openai, WHISPER_1);
  const result = openai.plan(requestFor(speech, { task: "translate", language: { kind: "asked", tag: "de" } }), target);
  assert.ok(result.ok);
  assert.deepEqual(result.dropped, ["language"]);
  assert.ok(result.plan.kind === "multipart" && !result.plan.fields.some(([name]) => name === "language"));
});

test("providers.preference-named: openai, unformatted text is named as dropped, because formatting cannot be switched off", () => {
  const { speech, target } = targetOf(openai, GPT_TRANSCRIBE);
  const result = openai.plan(requestFor(speech, { smartFormatting: false }), target);
  assert.deepEqual(result.ok && result.dropped, ["smart_formatting"]);
});

test("providers.keyterm-encoding: openai, prompt and terms share whisper-1's prompt, the terms last, so that they survive its cut", () => {
  const { speech, target } = targetOf(openai, WHISPER_1);
  const result = openai.plan(requestFor(speech, { prompt: "A call.", keyterms: ["Patchbay", "Zürich"] }), target);
  assert.ok(result.ok && result.plan.kind === "multipart");
  assert.deepEqual(
    result.plan.fields.filter(([name]) => name === "prompt"),
    [["prompt", "A call.\nPatchbay, Zürich"]],
  );
});

test("providers.golden-requests: openai, words and segments asked together are both asked for", () => {
  const { speech, target } = targetOf(openai, WHISPER_1);
  const result = openai.plan(requestFor(speech, { words: true, segments: true }), target);
  assert.ok(result.ok && result.plan.kind === "multipart");
  assert.deepEqual(
    result.plan.fields.filter(([name]) => name === "timestamp_granularities[]").map(([, value]) => value),
    ["word", "segment"],
  );
});

test("providers.model-limits: openai, the size limit leaves room for the fields, because 25 MiB is the cap of the whole body", () => {
  for (const model of Object.values(openai.models).filter(({ streamsOnly }) => streamsOnly !== true))
    assert.ok((model.limits.maxBytes ?? Infinity) <= 26_214_400 - 65_536);
});

test("providers.model-limits: openai, samples of known voices count towards the limit of a file", () => {
  const reference = `data:audio/wav;base64,${"A".repeat(400_000)}`;
  const settings = { known_speakers: [{ name: "Ada", reference }] };
  const limitOf = (name: string, given: object): number =>
    speechModel(openai, name, undefined, { ...given })?.limits.maxBytes ?? Infinity;
  const diarizer = "gpt-4o-transcribe-diarize";
  assert.equal(limitOf(diarizer, {}) - limitOf(diarizer, settings), "Ada".length + reference.length);
  assert.equal(limitOf("whisper-1", settings), limitOf("whisper-1", {}), "sent with no other model");
});
