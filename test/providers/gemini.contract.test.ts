// Gemini with audio against the contract suite, and its replies: transcripts, refusals under status 200, cut texts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { geminiAudio } from "../../src/providers/gemini/gemini-audio.ts";
import { ProviderError } from "../../src/providers/io.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { audioFixture, requestFor } from "./suites/fixtures.ts";
import { GEMINI_GOLDEN } from "./golden/gemini.ts";
import { refusedByGemini } from "./suites/refusals.ts";
import { normalised, piece, replyContract } from "./suites/reply-suite.ts";
import { targetOf } from "./suites/subject.ts";
import { ioFor } from "./suites/wire-suite.ts";

const [TRANSCRIBE, GENERAL] = GEMINI_GOLDEN;
assert.ok(TRANSCRIBE && GENERAL);
const reply = (name: string): URL => new URL(`gemini/${name}.json`, import.meta.url);
const TWO_SPEAKERS = JSON.parse(await readFile(reply("two-speakers"), "utf8")) as Record<string, unknown>;
const GENERATED = {
  ...(JSON.parse(await readFile(reply("generated"), "utf8")) as Record<string, unknown>),
  modelVersion: GENERAL.model,
};

const audioIn = (body: unknown) => (body as { input?: { data?: unknown }[] }).input?.[0]?.data;
const inlineIn = (body: unknown) =>
  (body as { contents?: { parts?: { inlineData?: { data?: unknown } }[] }[] }).contents?.[0]?.parts?.[0]?.inlineData
    ?.data;

const SHARED = {
  provider: geminiAudio,
  credentialHeader: "x-goog-api-key",
  authorization: (credential: string) => credential,
  refusal: refusedByGemini,
};
speechContract({ ...SHARED, golden: GEMINI_GOLDEN, success: TWO_SPEAKERS, audioIn });
// The other API of the two, with its own place for the audio and its own success body.
speechContract({
  ...SHARED,
  golden: [...GEMINI_GOLDEN.slice(1), TRANSCRIBE],
  success: GENERATED,
  audioIn: inlineIn,
});

const silent = { ...TWO_SPEAKERS, steps: [{ type: "model_output", content: [{ type: "text", text: "" }] }] };
const wordless = {
  ...TWO_SPEAKERS,
  steps: [{ type: "model_output", content: [{ type: "text", text: "Hello." }] }],
};

const annotated = (first: object, second: object) => ({
  ...TWO_SPEAKERS,
  steps: [
    {
      type: "model_output",
      content: [
        {
          type: "text",
          text: "Oh hi.",
          annotations: [
            { type: "word_info", text: "Oh", ...first },
            { type: "word_info", text: "hi.", ...second },
          ],
        },
      ],
    },
  ],
});

replyContract(geminiAudio, [
  {
    name: "words with times and speakers, a word without its text read by its bytes, thoughts and echoes omitted",
    golden: TRANSCRIBE,
    reply: TWO_SPEAKERS,
    wishes: { words: true, segments: true, diarization: true },
    transcript: {
      text: "Grüezi. Hello there.",
      language: null,
      languageConfidence: null,
      providerSeconds: null,
      providerRequestId: "v1_ChdXYW",
      words: [
        piece("Grüezi.", 0.5, 1.25, { speaker: "spk_1" }),
        piece("Hello", 2, 2.4, { speaker: "spk_2" }),
        piece("there.", 2.4, 2.9, { speaker: "spk_2" }),
      ],
      segments: [],
    },
    receipts: [
      "diarization shown yes",
      "timestamps.word shown yes",
      "timestamps.segment shown yes",
      "model echoed yes",
    ],
  },
  {
    name: "text without annotations delivers neither times nor speakers",
    golden: TRANSCRIBE,
    reply: wordless,
    wishes: { words: true, segments: true, diarization: true, keyterms: ["Patchbay"] },
    transcript: { text: "Hello.", words: [] },
    receipts: [
      "diarization shown no",
      "timestamps.word shown no",
      "timestamps.segment shown no",
      "keyterms sent yes",
      "model echoed yes",
    ],
  },
  {
    name: "speakers on words without times are diarization not delivered",
    golden: TRANSCRIBE,
    reply: {
      ...wordless,
      steps: [
        {
          type: "model_output",
          content: [{ type: "text", text: "Hi.", annotations: [{ type: "word_info", text: "Hi.", speaker: "spk_1" }] }],
        },
      ],
    },
    wishes: { diarization: true },
    transcript: { words: [] },
    receipts: ["diarization shown no", "model echoed yes"],
  },
  {
    name: "one word without a time among others is times not delivered, instead of a word less in the segments",
    golden: TRANSCRIBE,
    reply: annotated({ start_offset: "0.1s", end_offset: "0.4s" }, { speaker: "spk_1" }),
    wishes: { words: true, segments: true },
    transcript: { text: "Oh hi.", words: [] },
    receipts: ["timestamps.word shown no", "timestamps.segment shown no", "model echoed yes"],
  },
  {
    name: "a first word without a start begins with the audio",
    golden: TRANSCRIBE,
    reply: annotated({ end_offset: "0.4s" }, { start_offset: "0.5s", end_offset: "1s" }),
    wishes: { words: true },
    transcript: { words: [piece("Oh", 0, 0.4), piece("hi.", 0.5, 1)] },
    receipts: ["timestamps.word shown yes", "model echoed yes"],
  },
  {
    name: "silence satisfies times and speakers",
    golden: TRANSCRIBE,
    reply: silent,
    wishes: { words: true, diarization: true },
    transcript: { text: "", words: [] },
    receipts: ["diarization shown yes", "timestamps.word shown yes", "model echoed yes"],
  },
  {
    name: "a general model's text is what is in the field, thoughts omitted, nothing else claimed",
    golden: GENERAL,
    reply: GENERATED,
    wishes: { keyterms: ["Patchbay"], profanityFilter: true },
    transcript: {
      text: "Guten Tag. Wie geht's?",
      language: null,
      segments: [],
      words: [],
      providerSeconds: null,
      providerRequestId: "r-42",
    },
    receipts: ["keyterms sent yes", "profanity_filter sent yes", "model echoed yes"],
  },
  {
    name: "a translation is proven by its instruction",
    golden: GENERAL,
    reply: GENERATED,
    wishes: { task: "translate", toLanguage: "de-CH" },
    receipts: ["translation sent yes", "model echoed yes"],
  },
]);

const candidate = (more: object) => ({ ...GENERATED, candidates: [{ content: { parts: [{ text: "{}" }] }, ...more }] });

for (const [what, golden, body, kind, reason] of [
  [
    "a prompt that is blocked",
    GENERAL,
    { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } },
    "rejected",
    "prompt_blocked",
  ],
  ["an answer stopped for safety", GENERAL, candidate({ finishReason: "SAFETY" }), "rejected", "SAFETY"],
  ["an answer stopped for recitation", GENERAL, candidate({ finishReason: "RECITATION" }), "rejected", "RECITATION"],
  ["a text cut by its length", GENERAL, candidate({ finishReason: "MAX_TOKENS" }), "bad_reply", "not_finished"],
  ["an answer without a reason to end", GENERAL, candidate({}), "bad_reply", "not_finished"],
  ["an answer outside the schema", GENERAL, candidate({ finishReason: "STOP" }), "bad_reply", "not_in_schema"],
  ["no candidate at all", GENERAL, { candidates: [] }, "bad_reply", "missing_fields"],
  [
    "an interaction that is incomplete",
    TRANSCRIBE,
    { ...TWO_SPEAKERS, status: "incomplete" },
    "bad_reply",
    "not_completed",
  ],
  ["an interaction that failed", TRANSCRIBE, { ...TWO_SPEAKERS, status: "failed" }, "bad_reply", "not_completed"],
] as const) {
  test(`providers.failure-kinds: gemini, ${what} under status 200: ${kind}`, async () => {
    await assert.rejects(
      normalised(geminiAudio, { name: what, golden, reply: body, receipts: [] }),
      (error) => error instanceof ProviderError && error.kind === kind && error.reason === reason,
    );
  });
}

test("providers.language-codes: gemini translates into the language that is asked by name and tag", () => {
  const { speech, target } = targetOf(geminiAudio, GENERAL);
  const result = geminiAudio.plan(requestFor(speech, { task: "translate", toLanguage: "fr-CA" }), target);
  assert.ok(result.ok && result.plan.kind === "json");
  assert.match(JSON.stringify(result.plan.body), /into Canadian French \(fr-CA\)/u);
});

test("providers.declared-features: gemini declares nothing that a general model could only claim", () => {
  for (const [name, { features }] of Object.entries(geminiAudio.models)) {
    if (name.includes("-transcribe")) continue;
    const own = Object.entries(features).filter(([, { byGateway }]) => byGateway !== true);
    assert.deepEqual(own.map(([feature]) => feature).toSorted(), ["keyterms", "profanity_filter", "translation"], name);
  }
});

test("providers.failure-kinds, providers.retry-after: gemini answers 400 to a bad key, which is unauthorized; a delay that it asks for is kept", async (t) => {
  const answers = [
    [400, { code: 400, status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] }, "unauthorized", null],
    [429, { code: 429, status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "37s" }] }, "rate_limited", 37],
  ] as const;
  for (const [status, error, kind, seconds] of answers) {
    const url = await httpServer(t, async (request, response) => {
      await readAll(request);
      response.writeHead(status).end(JSON.stringify({ error: { ...error, message: "m" } }));
    });
    const { speech, target } = targetOf(geminiAudio, TRANSCRIBE);
    const result = geminiAudio.plan(requestFor(speech, {}), target);
    assert.ok(result.ok);
    await assert.rejects(
      geminiAudio.transcribe(result.plan, audioFixture(), ioFor(t, url)),
      (thrown) => thrown instanceof ProviderError && thrown.kind === kind && thrown.retryAfterSeconds === seconds,
    );
  }
});
