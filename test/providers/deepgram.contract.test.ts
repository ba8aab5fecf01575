// Deepgram against the contract suite, and its replies (developers.deepgram.com, POST /v1/listen).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { deepgram } from "../../src/providers/deepgram/deepgram.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { requestFor } from "./suites/fixtures.ts";
import { DEEPGRAM_GOLDEN } from "./golden/deepgram.ts";
import { refusedByDeepgram } from "./suites/refusals.ts";
import { normalised, piece, replyContract } from "./suites/reply-suite.ts";
import { targetOf } from "./suites/subject.ts";

const [NOVA_3, , NOVA_3_MEDICAL, NOVA_2] = DEEPGRAM_GOLDEN;
const NOVA_2_MEETING = DEEPGRAM_GOLDEN.find(({ model }) => model === "nova-2-meeting");
assert.ok(NOVA_3 && NOVA_3_MEDICAL && NOVA_2 && NOVA_2_MEETING);
const reply = (name: string): URL => new URL(`deepgram/${name}.json`, import.meta.url);
const TWO_SPEAKERS = JSON.parse(await readFile(reply("two-speakers"), "utf8")) as {
  metadata: { duration: unknown; model_info: unknown };
  results: { channels: { alternatives: { words: { speaker?: number }[] }[] }[]; utterances: { speaker?: number }[] };
};

speechContract({
  provider: deepgram,
  golden: DEEPGRAM_GOLDEN,
  authorization: (credential) => `Token ${credential}`,
  success: TWO_SPEAKERS,
  refusal: refusedByDeepgram,
});

const WITHOUT_SPEAKERS = structuredClone(TWO_SPEAKERS);
for (const word of WITHOUT_SPEAKERS.results.channels[0]?.alternatives[0]?.words ?? []) delete word.speaker;
for (const utterance of WITHOUT_SPEAKERS.results.utterances) delete utterance.speaker;

const ECHOED = "model echoed yes";

replyContract(deepgram, [
  {
    name: "speakers, words, segments, seconds and request id come out as they were said",
    golden: NOVA_3,
    reply: reply("two-speakers"),
    headers: { "dg-request-id": "from-header" },
    wishes: { diarization: true, words: true, segments: true },
    transcript: {
      text: "Hello, caller. Good morning.",
      language: null,
      languageConfidence: null,
      providerSeconds: 5.36,
      providerRequestId: "from-header",
      words: [
        piece("Hello,", 0.1, 0.5, { confidence: 0.99, speaker: "0" }),
        piece("caller.", 0.5, 1.02, { confidence: 0.97, speaker: "0" }),
        piece("Good", 2.4, 2.7, { confidence: 0.98, speaker: "1" }),
        piece("morning.", 2.7, 3.3, { confidence: 0.96, speaker: "1" }),
      ],
      segments: [
        piece("Hello, caller.", 0.1, 1.02, { confidence: 0.98, speaker: "0" }),
        piece("Good morning.", 2.4, 3.3, { confidence: 0.97, speaker: "1" }),
      ],
    },
    receipts: ["diarization shown yes", "timestamps.word shown yes", "timestamps.segment shown yes", ECHOED],
  },
  {
    name: "without the header, the request id is the body's",
    golden: NOVA_3,
    reply: reply("two-speakers"),
    transcript: { providerRequestId: "2479c8c8-8185-40ac-9ac6-f0874419f793" },
    receipts: [ECHOED],
  },
  {
    name: "each channel keeps its number, and the texts are one per line",
    golden: NOVA_3,
    reply: reply("two-channels"),
    wishes: { multichannel: true },
    audio: { channels: 2 },
    transcript: {
      text: "Left speaks.\nRight answers.",
      words: [
        piece("Left", 0.2, 0.6, { confidence: 0.9, channel: 0 }),
        piece("speaks.", 0.6, 1.1, { confidence: 0.9, channel: 0 }),
        piece("Right", 1.5, 1.9, { confidence: 0.8, channel: 1 }),
        piece("answers.", 1.9, 2.4, { confidence: 0.8, channel: 1 }),
      ],
      segments: [
        piece("Left speaks.", 0.2, 1.1, { confidence: 0.9, channel: 0 }),
        piece("Right answers.", 1.5, 2.4, { confidence: 0.8, channel: 1 }),
      ],
    },
    receipts: ["multichannel shown yes", ECHOED],
  },
  {
    name: "one channel in the answer to a two-channel file is multichannel not delivered",
    golden: NOVA_3,
    reply: reply("two-speakers"),
    wishes: { multichannel: true },
    audio: { channels: 2 },
    receipts: ["multichannel shown no", ECHOED],
  },
  {
    name: "silence does not excuse missing channels",
    golden: NOVA_3,
    reply: reply("silence"),
    wishes: { multichannel: true },
    audio: { channels: 2 },
    receipts: ["multichannel shown no", ECHOED],
  },
  {
    name: "silence satisfies speakers, times and language",
    golden: NOVA_3,
    reply: reply("silence"),
    wishes: { diarization: true, words: true, segments: true, language: { kind: "detect" } },
    transcript: { text: "", words: [], segments: [] },
    receipts: [
      "diarization shown yes",
      "timestamps.word shown yes",
      "timestamps.segment shown yes",
      "language shown yes",
      ECHOED,
    ],
  },
  {
    name: "speech without a speaker is diarization not delivered",
    golden: NOVA_3,
    reply: WITHOUT_SPEAKERS,
    wishes: { diarization: true },
    receipts: ["diarization shown no", ECHOED],
  },
  {
    name: "speech without utterances is segment times not delivered",
    golden: NOVA_3,
    reply: reply("detected-spanish"),
    wishes: { segments: true, words: true },
    receipts: ["timestamps.segment shown no", "timestamps.word shown yes", ECHOED],
  },
  {
    name: "a detected language comes with its confidence",
    golden: NOVA_3,
    reply: reply("detected-spanish"),
    wishes: { language: { kind: "detect" } },
    transcript: { language: "es", languageConfidence: 0.98 },
    receipts: ["language shown yes", ECHOED],
  },
  {
    name: "detection without a language in the answer is not delivered",
    golden: NOVA_3,
    reply: reply("two-speakers"),
    wishes: { language: { kind: "detect" } },
    receipts: ["language shown no", ECHOED],
  },
  {
    name: "the language is that of the channel on which somebody speaks",
    golden: NOVA_3,
    reply: withChannels(
      { alternatives: [{ transcript: "" }] },
      { alternatives: [{ transcript: "" }], detected_language: "en", language_confidence: 0.1 },
      { alternatives: [{ transcript: "Buenos días." }], detected_language: "es", language_confidence: 0.9 },
    ),
    wishes: { multichannel: true, language: { kind: "detect" } },
    audio: { channels: 3 },
    transcript: { language: "es", languageConfidence: 0.9 },
    receipts: ["multichannel shown yes", "language shown yes", ECHOED],
  },
  {
    name: "detection that switched to an older generation is another model than the one asked",
    golden: NOVA_3,
    reply: withModel({ name: "2-general-nova", arch: "nova-2" }),
    wishes: { language: { kind: "detect" } },
    receipts: ["language shown no", "model echoed no"],
  },
  {
    name: "an answer that names no model does not echo it",
    golden: NOVA_3,
    reply: { ...TWO_SPEAKERS, metadata: { ...TWO_SPEAKERS.metadata, model_info: undefined } },
    receipts: ["model echoed no"],
  },
  {
    name: "a medical model of the same generation is the one asked",
    golden: NOVA_3_MEDICAL,
    reply: withModel({ name: "medical-nova-3", arch: "nova-3" }),
    receipts: [ECHOED],
  },
  {
    name: "redaction, keyterms and the profanity filter are proven by their parameters",
    golden: NOVA_3,
    reply: reply("two-speakers"),
    wishes: { redaction: ["pii", "numbers"], keyterms: ["Patchbay"], profanityFilter: true },
    receipts: [
      "redaction.pii sent yes",
      "redaction.numbers sent yes",
      "keyterms sent yes",
      "profanity_filter sent yes",
      ECHOED,
    ],
  },
  {
    name: "a senseless figure is null and fails nothing",
    golden: NOVA_3,
    reply: { ...TWO_SPEAKERS, metadata: { ...TWO_SPEAKERS.metadata, duration: -1 } },
    transcript: { providerSeconds: null },
    receipts: [ECHOED],
  },
]);

function withChannels(...channels: readonly object[]): object {
  return { ...TWO_SPEAKERS, results: { channels } };
}

function withModel(info: object): object {
  return { ...TWO_SPEAKERS, metadata: { ...TWO_SPEAKERS.metadata, model_info: { m: info } } };
}

test("providers.receipts: deepgram, a sent receipt fails when the parameter could not be part of the request", async () => {
  // The language in force is not English, so no request with `redact=pii` can have gone out.
  const transcript = await normalised(deepgram, {
    name: "",
    golden: NOVA_3,
    reply: TWO_SPEAKERS,
    wishes: { redaction: ["pii"], language: { kind: "asked", tag: "de" } },
    receipts: [],
  });
  assert.deepEqual(transcript.receipts[0], { feature: "redaction.pii", grade: "sent", delivered: false });
});

test("providers.keyterm-encoding: deepgram, several groups and terms repeat their parameter and are never joined", () => {
  const { speech, target } = targetOf(deepgram, NOVA_3);
  const result = deepgram.plan(requestFor(speech, { redaction: ["pii", "pci"], keyterms: ["a b", "c,d"] }), target);
  assert.ok(result.ok && result.plan.kind === "raw");
  assert.deepEqual(
    result.plan.query.filter(([name]) => name === "redact" || name === "keyterm"),
    [
      ["redact", "pii"],
      ["redact", "pci"],
      ["keyterm", "a b"],
      ["keyterm", "c,d"],
    ],
  );
});

for (const term of ["two words", "boost:9"]) {
  test(`providers.keyterm-encoding: deepgram, nova-2 refuses the key term ${JSON.stringify(term)}, which its keywords cannot hold`, () => {
    const { speech, target } = targetOf(deepgram, NOVA_2);
    const result = deepgram.plan(requestFor(speech, { keyterms: [term] }), target);
    assert.deepEqual(result, { ok: false, missing: ["keyterms_limit"] });
  });
}

for (const [golden, tag, code] of [
  [NOVA_3, "de-CH", "de-CH"],
  [NOVA_3, "de-AT", "de"],
  [NOVA_3, "es-MX", "es"],
  [NOVA_3, "ar-EG", "ar-EG"],
  [NOVA_3, "zh-Hant-TW", "zh-Hant"],
  [NOVA_3, "zh-SG", "zh"],
  [NOVA_3, "zh-HK", "zh-HK"],
  [NOVA_3, "zh-Hant-HK", "zh-HK"],
  [NOVA_3, "zh-MO", "zh-HK"],
  [NOVA_3, "zh-Hans-HK", "zh-Hans"],
  [NOVA_3, "nb-NO", "no"],
  [NOVA_2, "pt-PT", "pt-PT"],
  [NOVA_2_MEETING, "en-US", "en-US"],
  [NOVA_2_MEETING, "en-GB", "en"],
  [{ ...NOVA_3, model: "of-our-own", declared: targetOf(deepgram, NOVA_3).speech }, "de-AT", "de-AT"],
] as const) {
  test(`providers.language-codes: deepgram, ${golden.model} is asked for ${tag} by a code that it has: ${code}`, () => {
    const { speech, target } = targetOf(deepgram, golden);
    const result = deepgram.plan(requestFor(speech, { language: { kind: "asked", tag } }), target);
    assert.ok(result.ok && result.plan.kind === "raw");
    assert.deepEqual(
      result.plan.query.filter(([name]) => name === "language"),
      [["language", code]],
    );
  });
}

test("providers.training-declined: deepgram, training on the audio is declined unless the settings allow it", () => {
  const { speech, target } = targetOf(deepgram, NOVA_3);
  const allowed = deepgram.plan(requestFor(speech, {}), { ...target, settings: { mip_opt_out: false } });
  assert.ok(allowed.ok && allowed.plan.kind === "raw");
  assert.ok(!allowed.plan.query.some(([name]) => name === "mip_opt_out"));
});

test("transcription.smart-formatting-off: deepgram, unformatted text has no punctuation either", () => {
  const { speech, target } = targetOf(deepgram, NOVA_3);
  const result = deepgram.plan(requestFor(speech, { smartFormatting: false }), target);
  assert.ok(result.ok && result.plan.kind === "raw");
  assert.ok(!result.plan.query.some(([name]) => name === "punctuate" || name === "smart_format"));
});

test("providers.settings: deepgram, a target may keep one version of the diarizer", () => {
  const { speech, target } = targetOf(deepgram, NOVA_3);
  const settings = { diarize_model: "v1" };
  assert.ok(
    deepgram.settings.safeParse(settings).success && !deepgram.settings.safeParse({ diarize_model: "v3" }).success,
  );
  const result = deepgram.plan(requestFor(speech, { diarization: true }), { ...target, settings });
  assert.ok(result.ok && result.plan.kind === "raw");
  assert.ok(result.plan.query.some(([name, value]) => name === "diarize_model" && value === "v1"));
});
