// AssemblyAI against the contract suite, its replies, and the steps of a run (assemblyai.com/docs, /v2/upload, /v2/transcript).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { MAX_REPLY_BYTES } from "../../src/outbound/wire-call.ts";
import { assemblyai } from "../../src/providers/assemblyai/assemblyai.ts";
import { type FailureKind, ProviderError, type RemoteRun } from "../../src/providers/io.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { AUDIO_BYTES, audioFixture, requestFor } from "./suites/fixtures.ts";
import { ASSEMBLYAI_GOLDEN, ASSEMBLYAI_STREAMING_GOLDEN } from "./golden/assemblyai.ts";
import { beforeAssemblyAi, refusedByAssemblyAi, UPLOADED } from "./suites/refusals.ts";
import { piece, replyContract } from "./suites/reply-suite.ts";
import { targetOf } from "./suites/subject.ts";
import { CREDENTIAL, ioFor } from "./suites/wire-suite.ts";

const [UNIVERSAL_3, , UNIVERSAL_2] = ASSEMBLYAI_GOLDEN;
assert.ok(UNIVERSAL_3 && UNIVERSAL_2);
const reply = (name: string): URL => new URL(`assemblyai/${name}.json`, import.meta.url);
const TWO_SPEAKERS = JSON.parse(await readFile(reply("two-speakers"), "utf8")) as Record<string, unknown>;
const QUEUED = { id: "run-1", status: "queued", error: null };

speechContract({
  provider: assemblyai,
  golden: [...ASSEMBLYAI_GOLDEN, ...ASSEMBLYAI_STREAMING_GOLDEN],
  authorization: (credential) => credential,
  success: TWO_SPEAKERS,
  refusal: refusedByAssemblyAi,
  hasNoCodes: true,
  before: beforeAssemblyAi,
});

const MODEL = "model echoed yes";
const WITHOUT_SPEAKERS = {
  ...TWO_SPEAKERS,
  speaker_labels: false,
  utterances: null,
  words: [{ text: "Hello,", start: 100, end: 500, confidence: 0.99, speaker: null }],
};
const SILENCE = { ...TWO_SPEAKERS, text: "", words: [], utterances: [], confidence: 0 };

replyContract(assemblyai, [
  {
    name: "milliseconds become seconds; speakers, words, segments, seconds, language and id come out as they were said",
    golden: UNIVERSAL_3,
    reply: reply("two-speakers"),
    wishes: { diarization: true, words: true, segments: true },
    transcript: {
      text: "Hello, caller. Good morning.",
      language: "en-US",
      languageConfidence: null,
      providerSeconds: 5,
      providerRequestId: "9ea68fd3-f953-42c1-9742-976c447fb463",
      words: [
        piece("Hello,", 0.1, 0.5, { confidence: 0.99, speaker: "A" }),
        piece("caller.", 0.5, 1.02, { confidence: 0.97, speaker: "A" }),
        piece("Good", 2.4, 2.7, { confidence: 0.98, speaker: "B" }),
        piece("morning.", 2.7, 3.3, { confidence: 0.96, speaker: "B" }),
      ],
      segments: [
        piece("Hello, caller.", 0.1, 1.02, { confidence: 0.98, speaker: "A" }),
        piece("Good morning.", 2.4, 3.3, { confidence: 0.97, speaker: "B" }),
      ],
    },
    receipts: ["diarization shown yes", "timestamps.word shown yes", "timestamps.segment shown yes", MODEL],
  },
  {
    name: "channels are counted from zero, and a channel's number is no speaker",
    golden: UNIVERSAL_3,
    reply: reply("two-channels"),
    wishes: { multichannel: true },
    audio: { channels: 2 },
    transcript: {
      segments: [
        piece("Left speaks.", 0.2, 1.1, { confidence: 0.9, channel: 0 }),
        piece("Right answers.", 1.5, 2.4, { confidence: 0.8, channel: 1 }),
      ],
    },
    receipts: ["multichannel shown yes", MODEL],
  },
  {
    name: "one channel in the answer to a two-channel file is multichannel not delivered",
    golden: UNIVERSAL_3,
    reply: reply("two-speakers"),
    wishes: { multichannel: true },
    audio: { channels: 2 },
    receipts: ["multichannel shown no", MODEL],
  },
  {
    name: "words alone are segment times too: the gateway makes segments of them",
    golden: UNIVERSAL_3,
    reply: WITHOUT_SPEAKERS,
    wishes: { segments: true },
    transcript: { segments: [] },
    receipts: ["timestamps.segment shown yes", MODEL],
  },
  {
    name: "missing speakers are diarization not delivered",
    golden: UNIVERSAL_3,
    reply: WITHOUT_SPEAKERS,
    wishes: { diarization: true },
    receipts: ["diarization shown no", MODEL],
  },
  {
    name: "missing words are word and segment times not delivered",
    golden: UNIVERSAL_3,
    reply: { ...WITHOUT_SPEAKERS, words: null },
    wishes: { words: true, segments: true },
    receipts: ["timestamps.word shown no", "timestamps.segment shown no", MODEL],
  },
  {
    name: "silence satisfies speakers and times",
    golden: UNIVERSAL_3,
    reply: SILENCE,
    wishes: { diarization: true, words: true, segments: true },
    transcript: { text: "", words: [], segments: [] },
    receipts: ["diarization shown yes", "timestamps.word shown yes", "timestamps.segment shown yes", MODEL],
  },
  {
    name: "a detected language comes with its confidence",
    golden: UNIVERSAL_2,
    reply: {
      ...TWO_SPEAKERS,
      speech_model_used: "universal-2",
      language_code: "pt_br",
      language_confidence: 0.93,
      language_detection: true,
    },
    wishes: { language: { kind: "detect" } },
    transcript: { language: "pt-BR", languageConfidence: 0.93 },
    receipts: ["language shown yes", MODEL],
  },
  {
    name: "detection without a language in the answer is not delivered",
    golden: UNIVERSAL_2,
    reply: { ...TWO_SPEAKERS, speech_model_used: "universal-2", language_code: null },
    wishes: { language: { kind: "detect" } },
    receipts: ["language shown no", MODEL],
  },
  {
    name: "redaction, terms and mask are believed when the transcript repeats them",
    golden: UNIVERSAL_3,
    reply: {
      ...TWO_SPEAKERS,
      redact_pii: true,
      redact_pii_policies: [
        "account_number",
        "banking_information",
        "credit_card_cvv",
        "credit_card_expiration",
        "credit_card_number",
      ],
      keyterms_prompt: ["Patchbay", "Zürich"],
      filter_profanity: true,
    },
    wishes: { redaction: ["pci"], keyterms: ["Patchbay"], profanityFilter: true },
    receipts: ["redaction.pci echoed yes", "keyterms echoed yes", "profanity_filter echoed yes", MODEL],
  },
  {
    name: "options that the transcript does not repeat are not delivered, whatever was sent",
    golden: UNIVERSAL_3,
    reply: { ...TWO_SPEAKERS, keyterms_prompt: ["Patchbay"] },
    wishes: { redaction: ["pii"], keyterms: ["Patchbay", "Zürich"], profanityFilter: true },
    receipts: ["redaction.pii echoed no", "keyterms echoed no", "profanity_filter echoed no", MODEL],
  },
  {
    name: "redaction with a policy missing is not the redaction that was asked for",
    golden: UNIVERSAL_3,
    reply: { ...TWO_SPEAKERS, redact_pii: true, redact_pii_policies: ["credit_card_number"] },
    wishes: { redaction: ["pci"] },
    receipts: ["redaction.pci echoed no", MODEL],
  },
  {
    name: "another model than the one asked shows, and so does none",
    golden: UNIVERSAL_3,
    reply: { ...TWO_SPEAKERS, speech_model_used: "universal-2" },
    receipts: ["model echoed no"],
  },
]);

test("providers.poll-again: assemblyai, a run that ended without a text was deleted: bad_reply, not silence", () => {
  assert.ok(UNIVERSAL_3);
  const { speech, target } = targetOf(assemblyai, UNIVERSAL_3);
  const raw = { body: { ...TWO_SPEAKERS, text: null, words: null, utterances: null }, headers: {} };
  assert.throws(
    () => assemblyai.normalise(raw, requestFor(speech, {}), target, audioFixture()),
    (error) => error instanceof ProviderError && error.kind === "bad_reply",
  );
});

function planned(wishes: Parameters<typeof requestFor>[1], golden = UNIVERSAL_3) {
  assert.ok(golden);
  const { speech, target } = targetOf(assemblyai, golden);
  const result = assemblyai.plan(requestFor(speech, wishes), target);
  assert.ok(result.ok && result.plan.kind === "json", JSON.stringify(result));
  return { body: result.plan.body, dropped: result.dropped };
}

test("providers.golden-requests: assemblyai, the speaker hint is an upper bound of the labels, because a wrong exact count spoils them", () => {
  assert.deepEqual(planned({ diarization: true, speakerCountHint: 3 }).body["speaker_options"], {
    max_speakers_expected: 3,
  });
});

test("providers.conditional-features, providers.preference-named: assemblyai, terms and prompt exclude each other: the terms are required, the prompt is named as dropped", () => {
  const { body, dropped } = planned({ keyterms: ["Patchbay"], prompt: "A call." });
  assert.deepEqual([body["keyterms_prompt"], body["prompt"], dropped], [["Patchbay"], undefined, ["prompt"]]);
});

test("providers.preference-named: assemblyai, a prompt beyond 1,500 words is named as dropped", () => {
  assert.deepEqual(planned({ prompt: "a ".repeat(1501) }).dropped, ["prompt"]);
  assert.deepEqual(planned({ prompt: "a ".repeat(1500) }).dropped, []);
});

test("providers.preference-named: assemblyai, formatting stays on where redaction needs it, and that is named", () => {
  const { body, dropped } = planned({ redaction: ["pii"], smartFormatting: false });
  assert.deepEqual([body["format_text"], dropped], [undefined, ["smart_formatting"]]);
  assert.equal(planned({ smartFormatting: false }).body["format_text"], false);
});

test("providers.keyterm-encoding: assemblyai, two redaction groups are one list of policies without duplicates", () => {
  const policies = planned({ redaction: ["pii", "pci", "phi"] }).body["redact_pii_policies"];
  assert.ok(Array.isArray(policies));
  assert.equal(new Set(policies).size, policies.length);
  assert.ok(policies.includes("person_name") && policies.includes("credit_card_cvv") && policies.includes("drug"));
});

for (const [tag, code] of [
  ["en-GB", "en_uk"],
  ["en-AU", "en_au"],
  ["en-US", "en_us"],
  ["en-IN", "en"],
  ["pt-BR", "pt"],
  ["jv-ID", "jw"],
] as const) {
  test(`providers.language-codes: assemblyai, ${tag} is its language ${code}`, () => {
    assert.equal(planned({ language: { kind: "asked", tag } }).body["language_code"], code);
  });
}

interface Seen {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Answers a run step by step; a step may be given another answer. */
function runServer(
  t: TestContext,
  seen: Seen[],
  answers: Partial<
    Record<"upload" | "submit" | "poll" | "remove", (response: ServerResponse, times: number) => unknown>
  > = {},
): Promise<URL> {
  const counts = new Map<string, number>();
  return httpServer(t, async (request, response) => {
    const body = await readAll(request);
    seen.push({ method: request.method, path: request.url, headers: request.headers, body });
    const step =
      request.method === "GET"
        ? "poll"
        : request.method === "DELETE"
          ? "remove"
          : request.url?.endsWith("/upload") === true
            ? "upload"
            : "submit";
    counts.set(step, (counts.get(step) ?? 0) + 1);
    const answer = answers[step];
    if (answer !== undefined && (await answer(response, counts.get(step) ?? 0)) !== undefined) return;
    if (!response.writableEnded && !response.destroyed) {
      response.end(
        JSON.stringify({ upload: UPLOADED, submit: QUEUED, poll: TWO_SPEAKERS, remove: TWO_SPEAKERS }[step]),
      );
    }
  });
}

const noPause = async (): Promise<void> => {};

async function transcribeAt(t: TestContext, url: URL, options: Parameters<typeof ioFor>[2] = {}) {
  assert.ok(UNIVERSAL_3);
  const { speech, target } = targetOf(assemblyai, UNIVERSAL_3);
  const result = assemblyai.plan(requestFor(speech, {}), target);
  assert.ok(result.ok);
  return assemblyai.transcribe(result.plan, audioFixture(), { ...ioFor(t, url, options), pause: noPause });
}

async function failureAt(t: TestContext, url: URL): Promise<ProviderError> {
  const error: unknown = await transcribeAt(t, url).then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderError, String(error));
  return error;
}

test("providers.request-content, providers.run-before-poll: assemblyai, upload, submission and polls, each with the bare key; the run is handed out before its first poll", async (t) => {
  const seen: Seen[] = [];
  const handedOut: RemoteRun[] = [];
  const url = await runServer(t, seen, {
    poll: (response, times) =>
      times < 3 ? response.end(JSON.stringify({ ...QUEUED, status: "processing" })) : undefined,
  });
  const raw = await transcribeAt(t, new URL("prefix/", url), {
    onRemoteRun: async (run) => {
      assert.equal(seen.length, 2);
      handedOut.push(run);
    },
  });
  assert.deepEqual(raw.body, TWO_SPEAKERS);
  assert.deepEqual(handedOut, [{ id: "run-1", details: { path: "/v2/transcript" } }]);
  assert.deepEqual(
    seen.map(({ method, path }) => `${method} ${path}`),
    [
      "POST /prefix/v2/upload",
      "POST /prefix/v2/transcript",
      ...Array.from({ length: 3 }, () => "GET /prefix/v2/transcript/run-1"),
    ],
  );
  assert.ok(seen.every(({ headers }) => headers.authorization === CREDENTIAL));
  const [upload, submission] = seen;
  assert.deepEqual(upload?.body, AUDIO_BYTES);
  assert.equal(upload?.headers["content-type"], "application/octet-stream");
  assert.equal(upload?.headers["content-length"], String(AUDIO_BYTES.byteLength));
  assert.deepEqual(JSON.parse(String(submission?.body)), {
    audio_url: UPLOADED.upload_url,
    speech_models: ["assemblyai-stt-3-7"],
    language_code: "en_us",
  });
});

test("providers.settings: assemblyai, temperature and the removal of tags reach every model but universal-2, which does not accept them", () => {
  const settings = { temperature: 0.2, remove_audio_tags: "all" };
  assert.equal(assemblyai.settings.safeParse(settings).success, true);
  assert.equal(assemblyai.settings.safeParse({ remove_audio_tags: "none" }).success, false);
  for (const golden of ASSEMBLYAI_GOLDEN) {
    const { speech, target } = targetOf(assemblyai, { ...golden, settings });
    const result = assemblyai.plan(requestFor(speech, {}), target);
    assert.ok(result.ok && result.plan.kind === "json");
    const { temperature, remove_audio_tags: tags } = result.plan.body;
    const expected = golden.model === "universal-2" ? [undefined, undefined] : [0.2, "all"];
    assert.deepEqual([temperature, tags], expected, golden.model);
  }
});

test("providers.no-credential: assemblyai, a server without a credential gets no authorization header", async (t) => {
  const seen: Seen[] = [];
  await transcribeAt(t, await runServer(t, seen), { credential: null });
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    [undefined, undefined, undefined],
  );
});

test("providers.dispatch: assemblyai, only the submission counts as dispatched, an upload does not", async (t) => {
  const seen: Seen[] = [];
  const dispatched: number[] = [];
  await transcribeAt(t, await runServer(t, seen), { onDispatch: () => dispatched.push(seen.length) });
  assert.deepEqual(dispatched, [1], "once, after the upload was answered");
});

const status =
  (code: number, body: unknown = { error: "Dear Jane Doe" }) =>
  (response: ServerResponse): unknown =>
    response.writeHead(code).end(JSON.stringify(body));
const reset = (response: ServerResponse): unknown => response.socket?.resetAndDestroy();

const STEPS: readonly (readonly [
  what: string,
  answers: Parameters<typeof runServer>[2],
  kind: FailureKind,
  requests: number,
])[] = [
  ["an upload answered by 502", { upload: status(502) }, "server_error", 1],
  ["an upload answered by 408", { upload: status(408) }, "server_error", 1],
  ["an upload that is reset", { upload: reset }, "connect", 1],
  ["an upload answered without a URL", { upload: status(200, {}) }, "bad_reply", 1],
  ["an upload refused for its key", { upload: status(401) }, "unauthorized", 1],
  ["an upload that is too large", { upload: status(413) }, "rejected", 1],
  ["a submission answered by 502", { submit: status(502) }, "unknown", 2],
  ["a submission that is reset", { submit: reset }, "unknown", 2],
  ["a submission without an id", { submit: status(200, { status: "queued" }) }, "bad_reply", 2],
  ["a submission with an id that is no id", { submit: status(200, { id: "../other" }) }, "bad_reply", 2],
  [
    "a submission on an empty account, which is a 400",
    { submit: status(400, { error: "Your current account balance is negative. Please top up to continue." }) },
    "payment",
    2,
  ],
  [
    "a run that fails for its audio",
    { poll: status(200, { ...QUEUED, status: "error", error: "Audio duration is too short." }) },
    "rejected",
    3,
  ],
  [
    "a run that fails for the provider's reasons",
    { poll: status(200, { ...QUEUED, status: "error", error: "Server error, developers have been alerted." }) },
    "server_error",
    3,
  ],
  ["polls that are never answered well", { poll: status(500) }, "unknown", 14],
  ["polls about a run that is not there", { poll: status(400, { error: "transcript id not found" }) }, "unknown", 14],
  ["polls that are broken JSON", { poll: (response) => response.end('{"status":') }, "unknown", 14],
  [
    "a transcript longer than any reply may be, which it will be however often it is asked for",
    { poll: (response) => response.end(Buffer.alloc(MAX_REPLY_BYTES + 1, " ")) },
    "bad_reply",
    3,
  ],
  ["polls of an unknown state", { poll: status(200, { ...QUEUED, status: "paused" }) }, "unknown", 14],
];
for (const [what, answers, kind, requests] of STEPS) {
  test(`providers.failure-kinds: assemblyai, ${what}: ${kind}`, async (t) => {
    const seen: Seen[] = [];
    const error = await failureAt(t, await runServer(t, seen, answers));
    assert.deepEqual([error.kind, seen.length], [kind, requests]);
    assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /Jane Doe|key-Kx93/u);
  });
}

test("providers.poll-again: assemblyai, a poll that fails is repeated, because the run continues", async (t) => {
  const seen: Seen[] = [];
  const url = await runServer(t, seen, {
    poll: (response, times) => (times === 1 ? reset(response) : times === 2 ? status(503)(response) : undefined),
  });
  assert.deepEqual((await transcribeAt(t, url)).body, TWO_SPEAKERS);
  assert.equal(seen.length, 5);
});

test("providers.run-before-poll: assemblyai, a run that could not be stored is deleted at once and not polled", async (t) => {
  const seen: Seen[] = [];
  const url = await runServer(t, seen);
  await assert.rejects(
    transcribeAt(t, url, { onRemoteRun: () => Promise.reject(new Error("the database is gone")) }),
    /the database is gone/,
  );
  assert.deepEqual(
    seen.map(({ method }) => method),
    ["POST", "POST", "DELETE"],
  );
});

for (const [what, answer] of [
  ["200", status(200, TWO_SPEAKERS)],
  ["200 with the transcript of a run that failed", status(200, { ...QUEUED, status: "error", error: "Too short." })],
  ["204", (response) => response.writeHead(204).end()],
  ["404", status(404)],
  ["400 of an unknown id", status(400, { error: "Transcript lookup error, transcript id not found" })],
] as readonly (readonly [string, (response: ServerResponse) => unknown])[]) {
  test(`providers.deletion: assemblyai, an answer of ${what} counts as deleted`, async (t) => {
    const seen: Seen[] = [];
    const url = await runServer(t, seen, { remove: answer });
    await assemblyai.remote?.remove({ id: "run/1", details: { path: "/v2/transcript" } }, ioFor(t, url));
    assert.deepEqual([seen[0]?.method, seen[0]?.path], ["DELETE", "/v2/transcript/run%2F1"]);
  });
}

for (const [what, answer] of [
  ...[400, 401, 403, 429, 500, 503].map((code) => [String(code), status(code)] as const),
  ["200 with an error and no transcript", status(200)],
  ["200 with a page", (response) => response.writeHead(200).end("<!doctype html><title>Sign in</title>")],
] as readonly (readonly [string, (response: ServerResponse) => unknown])[]) {
  test(`providers.deletion: assemblyai, an answer of ${what} does not count as deleted`, async (t) => {
    const url = await runServer(t, [], { remove: answer });
    const removed = assemblyai.remote?.remove({ id: "run-1", details: {} }, ioFor(t, url));
    await assert.rejects(async () => removed, ProviderError);
  });
}
