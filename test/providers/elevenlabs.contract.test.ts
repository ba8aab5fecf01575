// ElevenLabs against the contract suite, its replies, and what it keeps (elevenlabs.io/docs, POST /v1/speech-to-text).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { type FailureKind, ProviderError, type RemoteRun } from "../../src/providers/io.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { audioFixture, requestFor } from "./suites/fixtures.ts";
import { ELEVENLABS_GOLDEN, ELEVENLABS_STREAMING_GOLDEN } from "./golden/elevenlabs.ts";
import { refusedByElevenLabs } from "./suites/refusals.ts";
import { piece, replyContract } from "./suites/reply-suite.ts";
import { targetOf } from "./suites/subject.ts";
import { CREDENTIAL, ioFor } from "./suites/wire-suite.ts";

const [SCRIBE_V2, SCRIBE_V1] = ELEVENLABS_GOLDEN;
assert.ok(SCRIBE_V2 && SCRIBE_V1);
const reply = (name: string): URL => new URL(`elevenlabs/${name}.json`, import.meta.url);
const TWO_SPEAKERS = JSON.parse(await readFile(reply("two-speakers"), "utf8")) as Record<string, unknown> & {
  words: { type: string; speaker_id: string | null }[];
};

speechContract({
  provider: elevenlabs,
  golden: [...ELEVENLABS_GOLDEN, ...ELEVENLABS_STREAMING_GOLDEN],
  credentialHeader: "xi-api-key",
  authorization: (credential) => credential,
  success: TWO_SPEAKERS,
  refusal: refusedByElevenLabs,
});

const WITHOUT_SPEAKERS = { ...TWO_SPEAKERS, words: TWO_SPEAKERS.words.map((each) => ({ ...each, speaker_id: null })) };

replyContract(elevenlabs, [
  {
    name: "words without the spaces and sounds between them; confidence from the log; speakers, language, seconds and id",
    golden: SCRIBE_V2,
    reply: reply("two-speakers"),
    wishes: { diarization: true, words: true, segments: true, language: { kind: "detect" } },
    transcript: {
      text: "Hello, caller. Good morning.",
      language: "en",
      languageConfidence: 0.98,
      providerSeconds: 5.36,
      providerRequestId: "hzbnqrsHQ8Sj2nLCvO1B",
      segments: [],
      words: [
        piece("Hello,", 0.1, 0.5, { confidence: 1, speaker: "speaker_0" }),
        piece("caller.", 0.5, 1.02, { confidence: 0.5, speaker: "speaker_0" }),
        piece("Good", 2.4, 2.7, { confidence: 1, speaker: "speaker_1" }),
        piece("morning.", 2.7, 3.3, { confidence: 1, speaker: "speaker_1" }),
      ],
    },
    receipts: [
      "diarization shown yes",
      "timestamps.word shown yes",
      "timestamps.segment shown yes",
      "language shown yes",
    ],
  },
  {
    name: "channels are in their order, whatever the order of the answer, texts one per line",
    golden: SCRIBE_V2,
    reply: reply("two-channels"),
    wishes: { multichannel: true },
    audio: { channels: 2 },
    transcript: {
      text: "Links spricht.\nRechts antwortet.",
      language: "de",
      languageConfidence: 0.97,
      providerSeconds: 3,
      words: [
        piece("Links", 0.2, 0.6, { confidence: 1, channel: 0 }),
        piece("spricht.", 0.6, 1.1, { confidence: 1, channel: 0 }),
        piece("Rechts", 1.5, 1.9, { confidence: 1, channel: 1 }),
        piece("antwortet.", 1.9, 2.4, { confidence: 1, channel: 1 }),
      ],
    },
    receipts: ["multichannel shown yes"],
  },
  {
    name: "the language is that of the channel on which somebody speaks",
    golden: SCRIBE_V2,
    reply: {
      transcripts: [
        { text: "", words: [], language_code: "eng", language_probability: 0.1, channel_index: 0 },
        { text: "Hallo.", words: [], language_code: "deu", language_probability: 0.9, channel_index: 1 },
      ],
    },
    wishes: { multichannel: true, language: { kind: "detect" } },
    audio: { channels: 2 },
    transcript: { language: "de", languageConfidence: 0.9 },
    receipts: ["multichannel shown yes", "language shown yes"],
  },
  {
    name: "the single shape in answer to a two-channel file is multichannel not delivered",
    golden: SCRIBE_V2,
    reply: reply("two-speakers"),
    wishes: { multichannel: true },
    audio: { channels: 2 },
    receipts: ["multichannel shown no"],
  },
  {
    name: "the single shape in answer to a mono file is its one channel",
    golden: SCRIBE_V2,
    reply: { text: "Hi.", words: [{ text: "Hi.", start: 0, end: 1, type: "word" }], language_code: "eng" },
    wishes: { multichannel: true },
    transcript: { words: [piece("Hi.", 0, 1, { channel: 0 })] },
    receipts: ["multichannel shown yes"],
  },
  {
    name: "speech without speakers is diarization not delivered",
    golden: SCRIBE_V2,
    reply: WITHOUT_SPEAKERS,
    wishes: { diarization: true },
    receipts: ["diarization shown no"],
  },
  {
    name: "speech without words is word and segment times not delivered",
    golden: SCRIBE_V1,
    reply: { ...TWO_SPEAKERS, words: null },
    wishes: { words: true, segments: true },
    receipts: ["timestamps.word shown no", "timestamps.segment shown no"],
  },
  {
    name: "silence satisfies speakers, times and language",
    golden: SCRIBE_V2,
    reply: { text: "", words: [], language_code: null },
    wishes: { diarization: true, words: true, segments: true, language: { kind: "detect" } },
    transcript: { text: "", words: [] },
    receipts: [
      "diarization shown yes",
      "timestamps.word shown yes",
      "timestamps.segment shown yes",
      "language shown yes",
    ],
  },
  {
    name: "detection without a language in the answer is not delivered",
    golden: SCRIBE_V2,
    reply: { ...TWO_SPEAKERS, language_code: null },
    wishes: { language: { kind: "detect" } },
    transcript: { language: null },
    receipts: ["language shown no"],
  },
  {
    name: "redaction, terms and mask are proven by their fields",
    golden: SCRIBE_V2,
    reply: reply("two-speakers"),
    wishes: { redaction: ["pii"], keyterms: ["Patchbay"], profanityFilter: true, words: true },
    receipts: ["redaction.pii sent yes", "keyterms sent yes", "profanity_filter sent yes", "timestamps.word shown yes"],
  },
  {
    name: "words that still hold what was redacted from the text are discarded, and word times are not delivered",
    golden: SCRIBE_V2,
    reply: { ...TWO_SPEAKERS, text: "Hello, {NAME}. Good morning." },
    wishes: { redaction: ["pii"], words: true },
    transcript: { text: "Hello, {NAME}. Good morning.", words: [] },
    receipts: ["redaction.pii sent yes", "timestamps.word shown no"],
  },
  {
    name: "a senseless figure is null and fails nothing",
    golden: SCRIBE_V2,
    reply: { ...TWO_SPEAKERS, audio_duration_secs: "NaN", language_probability: 7 },
    transcript: { providerSeconds: null, languageConfidence: null },
    receipts: [],
  },
]);

for (const [code, tag] of [
  ["eng", "en"],
  ["cmn", "zh"],
  ["nob", "nb"],
  ["msa", "ms"],
  ["yue", "yue"],
  ["umb", "umb"],
  ["pt", "pt"],
  ["not a code", null],
  ["", null],
] as const) {
  test(`providers.language-codes: elevenlabs, its language ${JSON.stringify(code)} is ${tag} in BCP-47`, () => {
    const { speech, target } = targetOf(elevenlabs, SCRIBE_V2);
    const raw = { body: { ...TWO_SPEAKERS, language_code: code }, headers: {} };
    assert.equal(elevenlabs.normalise(raw, requestFor(speech, {}), target, audioFixture()).language, tag);
  });
}

function fieldsOf(wishes: Parameters<typeof requestFor>[1], settings: Record<string, unknown> = {}) {
  assert.ok(SCRIBE_V2);
  const { speech, target } = targetOf(elevenlabs, SCRIBE_V2);
  const result = elevenlabs.plan(requestFor(speech, wishes), { ...target, settings });
  assert.ok(result.ok && result.plan.kind === "multipart", JSON.stringify(result));
  return { path: result.plan.path, fields: result.plan.fields, dropped: result.dropped };
}

test("providers.golden-requests: elevenlabs, the speaker hint is the maximum, and is sent with labels only", () => {
  const has = (wishes: Parameters<typeof requestFor>[1]) =>
    fieldsOf(wishes).fields.find(([name]) => name === "num_speakers")?.[1];
  assert.equal(has({ diarization: true, speakerCountHint: 3 }), "3");
  assert.equal(has({ speakerCountHint: 3 }), undefined);
});

test("providers.keyterm-encoding: elevenlabs, redaction groups repeat their fields, detected and redacted alike, and are never joined", () => {
  assert.deepEqual(
    fieldsOf({ redaction: ["pii", "pci"] }).fields.filter(([name]) => name.startsWith("entity_")),
    [
      ["entity_detection", "pii"],
      ["entity_detection", "pci"],
      ["entity_redaction", "pii"],
      ["entity_redaction", "pci"],
      ["entity_redaction_mode", "entity_type"],
    ],
  );
});

test("providers.conditional-features: elevenlabs refuses speakers and channels together, as the provider would", () => {
  assert.ok(SCRIBE_V2);
  const { speech, target } = targetOf(elevenlabs, SCRIBE_V2);
  const result = elevenlabs.plan(requestFor(speech, { diarization: true, multichannel: true }), target);
  assert.deepEqual(result, { ok: false, missing: ["diarization"] });
});

test("providers.preference-named: elevenlabs, unformatted text is named as dropped, because formatting cannot be switched off", () => {
  assert.deepEqual(fieldsOf({ smartFormatting: false }).dropped, ["smart_formatting"]);
});

test("providers.settings: elevenlabs, its settings are sent", () => {
  const { path, fields } = fieldsOf({}, { no_verbatim: true, zero_retention: true });
  assert.equal(path, "/v1/speech-to-text?enable_logging=false");
  assert.ok(fields.some(([name, value]) => name === "no_verbatim" && value === "true"));
});

const REFUSALS: readonly (readonly [
  what: string,
  status: number,
  body: unknown,
  kind: FailureKind,
  reason: string | null,
])[] = [
  [
    "credit that is used up, under 401",
    401,
    { detail: { status: "quota_exceeded", message: "x" } },
    "payment",
    "quota_exceeded",
  ],
  [
    "a wrong key, under 401",
    401,
    { detail: { status: "invalid_api_key", message: "x" } },
    "unauthorized",
    "invalid_api_key",
  ],
  [
    "the newer shape",
    400,
    { detail: { type: "validation_error", code: "invalid_parameters", message: "x", status: "invalid_keyword" } },
    "rejected",
    "invalid_keyword",
  ],
  [
    "a list of faults",
    422,
    { detail: [{ loc: ["body", "x"], msg: "Jane Doe", type: "value_error" }] },
    "rejected",
    null,
  ],
  ["a detail in prose", 500, { detail: "Jane Doe" }, "server_error", null],
  ["busy", 429, { detail: { status: "system_busy", message: "x" } }, "rate_limited", "system_busy"],
];
for (const [what, status, body, kind, reason] of REFUSALS) {
  test(`providers.failure-kinds: elevenlabs, ${what}: ${kind}`, async (t) => {
    const url = await httpServer(t, async (request, response) => {
      await readAll(request);
      response.writeHead(status).end(JSON.stringify(body));
    });
    const error: unknown = await elevenlabs
      .transcribe({ kind: "multipart", path: "/v1/speech-to-text", fields: [] }, audioFixture(), ioFor(t, url))
      .catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ProviderError);
    assert.deepEqual([error.kind, error.reason], [kind, reason]);
  });
}

test("providers.deletion: elevenlabs reports what it keeps as soon as the answer names it, and nothing with zero retention", async (t) => {
  const url = await httpServer(t, async (request, response) => {
    await readAll(request);
    response.end(JSON.stringify(TWO_SPEAKERS));
  });
  const kept: RemoteRun[] = [];
  const io = ioFor(t, url, { onRemoteRun: async (run) => void kept.push(run) });
  for (const path of ["/v1/speech-to-text", "/v1/speech-to-text?enable_logging=false"]) {
    await elevenlabs.transcribe({ kind: "multipart", path, fields: [] }, audioFixture(), io);
  }
  assert.deepEqual(kept, [{ id: "hzbnqrsHQ8Sj2nLCvO1B", details: { path: "/v1/speech-to-text" } }]);
});

for (const [status, isDeleted] of [
  [200, true],
  [204, true],
  [404, true],
  [401, false],
  [422, false],
  [500, false],
] as const) {
  test(`providers.deletion: elevenlabs, a deletion answered by ${status} is ${isDeleted ? "done" : "not done"}`, async (t) => {
    const seen: unknown[] = [];
    const url = await httpServer(t, (request, response) => {
      seen.push([request.method, request.url, request.headers["xi-api-key"]]);
      response.writeHead(status).end();
    });
    const removed = Promise.resolve(
      elevenlabs.remove?.({ id: "t-1", details: { path: "/v1/speech-to-text" } }, ioFor(t, url)),
    );
    if (isDeleted) await removed;
    else await assert.rejects(removed, ProviderError);
    assert.deepEqual(seen, [["DELETE", "/v1/speech-to-text/transcripts/t-1", CREDENTIAL]]);
  });
}
