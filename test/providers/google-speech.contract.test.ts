// Google Speech-to-Text against the contract suite, its replies, its tokens, and the steps of a batch.
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { readGoogleReply } from "../../src/providers/google-speech/google-speech-reply.ts";
import { googleLocale } from "../../src/providers/google-speech/google-speech-models.ts";
import { googleSpeech } from "../../src/providers/google-speech/google-speech.ts";
import { type FailureKind, ProviderError, type RemoteRun } from "../../src/providers/io.ts";
import { createMemory } from "../../src/providers/memory.ts";
import type { SpeechAudio, SpeechPlan } from "../../src/providers/provider.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { speechContract } from "./suites/contract-suite.ts";
import { AUDIO_BYTES, audioFixture, requestFor } from "./suites/fixtures.ts";
import { GOOGLE_SPEECH_GOLDEN } from "./golden/google-speech.ts";
import { refusedByGoogleSpeech } from "./suites/refusals.ts";
import { piece, replyContract } from "./suites/reply-suite.ts";
import { targetOf } from "./suites/subject.ts";
import { ioFor } from "./suites/wire-suite.ts";

const [CHIRP_3, CHIRP_2, LONG, IN_BUCKET] = GOOGLE_SPEECH_GOLDEN;
assert.ok(CHIRP_3 && CHIRP_2 && LONG && IN_BUCKET);
const reply = (name: string): URL => new URL(`google-speech/${name}.json`, import.meta.url);

speechContract({
  provider: googleSpeech,
  golden: GOOGLE_SPEECH_GOLDEN,
  authorization: (credential) => `Bearer ${credential}`,
  success: { results: [{ alternatives: [{ transcript: "Hello." }], resultEndOffset: "1s" }], metadata: {} },
  refusal: refusedByGoogleSpeech,
  audioIn: (body) => (body as { content?: unknown }).content,
});

const ENGLISH = { kind: "asked", tag: "en-US" } as const;

replyContract(googleSpeech, [
  {
    name: "words with times, an omitted start of zero, speakers, one segment a turn",
    golden: CHIRP_3,
    reply: reply("two-speakers"),
    wishes: { diarization: true, segments: true, language: ENGLISH },
    transcript: {
      text: "Guten Tag. Hello there. Goodbye.",
      language: "de-DE",
      languageConfidence: null,
      providerSeconds: 6,
      providerRequestId: "6f1e",
      words: [
        piece("Guten", 0, 0.4, { speaker: "1", confidence: 0.9 }),
        piece("Tag.", 0.4, 0.9, { speaker: "1" }),
        piece("Hello", 1.2, 1.5, { speaker: "2" }),
        piece("there.", 1.5, 2, { speaker: "2" }),
        piece("Goodbye.", 3, 3.4, { speaker: "1" }),
      ],
    },
    receipts: ["diarization shown yes", "timestamps.segment shown yes"],
  },
  {
    name: "segments without words begin where the one before them ended, on their own channel",
    golden: LONG,
    reply: reply("two-channels"),
    wishes: { multichannel: true, segments: true },
    audio: { channels: 2 },
    transcript: {
      text: "Left one. Left two.\nRight one.",
      language: "en-US",
      providerSeconds: 3,
      providerRequestId: null,
      segments: [
        piece("Left one.", 0, 1, { channel: 0 }),
        piece("Right one.", 0, 1.4, { channel: 1 }),
        piece("Left two.", 1, 2.5, { channel: 0 }),
      ],
    },
    receipts: ["multichannel shown yes", "timestamps.segment shown yes"],
  },
  {
    name: "one channel heard of two is not both",
    golden: LONG,
    reply: { results: [{ alternatives: [{ transcript: "Left." }], resultEndOffset: "1s" }], metadata: {} },
    wishes: { multichannel: true },
    audio: { channels: 2 },
    receipts: ["multichannel shown no"],
  },
  {
    name: "a silent channel is present too, in its empty result",
    golden: LONG,
    reply: {
      results: [
        { alternatives: [{ transcript: "Left." }], channelTag: 1, resultEndOffset: "1s" },
        { channelTag: 2, resultEndOffset: "1s" },
      ],
      metadata: {},
    },
    wishes: { multichannel: true },
    audio: { channels: 2 },
    transcript: { text: "Left.", segments: [piece("Left.", 0, 1, { channel: 0 })] },
    receipts: ["multichannel shown yes"],
  },
  {
    name: "speakers of words without times are within their result, and nothing closer is claimed",
    golden: CHIRP_3,
    reply: {
      results: [
        {
          alternatives: [
            {
              transcript: "Hi. Yes.",
              words: [
                { word: "Hi.", speakerLabel: "1" },
                { word: "Yes.", speakerLabel: "2" },
              ],
            },
          ],
          resultEndOffset: "2s",
        },
      ],
      metadata: {},
    },
    wishes: { diarization: true, language: ENGLISH },
    transcript: {
      words: [],
      segments: [piece("Hi.", 0, 2, { speaker: "1" }), piece("Yes.", 0, 2, { speaker: "2" })],
    },
    receipts: ["diarization shown yes"],
  },
  {
    name: "words without speakers or times deliver neither",
    golden: LONG,
    reply: { results: [{ alternatives: [{ transcript: "Hi.", words: [{ word: "Hi." }] }] }], metadata: {} },
    wishes: { words: true, keyterms: ["Patchbay"], profanityFilter: true },
    transcript: { words: [] },
    receipts: ["timestamps.word shown no", "keyterms sent yes", "profanity_filter sent yes"],
  },
  {
    name: "silence has no results and satisfies times, speakers and language",
    golden: CHIRP_3,
    reply: { metadata: { requestId: "r", totalBilledDuration: "6s" } },
    wishes: { diarization: true, segments: true, language: { kind: "detect" } },
    transcript: { text: "", words: [], segments: [], language: null },
    receipts: ["diarization shown yes", "timestamps.segment shown yes", "language shown yes"],
  },
  {
    name: "the language asked to be found must be said",
    golden: CHIRP_3,
    reply: { results: [{ alternatives: [{ transcript: "Hi." }], resultEndOffset: "1s" }], metadata: {} },
    wishes: { language: { kind: "detect" } },
    receipts: ["language shown no"],
  },
  {
    name: "a translation is proven by its parameter",
    golden: CHIRP_2,
    reply: { results: [{ alternatives: [{ transcript: "Good day." }], languageCode: "de-DE" }], metadata: {} },
    wishes: { task: "translate", toLanguage: "en" },
    transcript: { text: "Good day.", language: "de-DE" },
    receipts: ["translation sent yes"],
  },
]);

for (const [tag, locale] of [
  ["en", "en-US"],
  ["en-GB", "en-GB"],
  ["pt", "pt-BR"],
  ["zh", "cmn-Hans-CN"],
  ["zh-TW", "cmn-Hant-TW"],
  ["zh-Hant", "cmn-Hant-TW"],
  ["he", "iw-IL"],
  ["no", "no-NO"],
  ["nb-NO", "no-NO"],
  ["eo", "eo"],
] as const) {
  test(`providers.language-codes: google-speech, the language ${tag} is asked for as ${locale}`, () =>
    assert.equal(googleLocale(tag), locale));
}

for (const [locale, tag] of [
  ["en-us", "en-US"],
  ["cmn-hans-cn", "zh-Hans-CN"],
  ["iw-il", "he-IL"],
  ["", null],
] as const) {
  test(`providers.language-codes: google-speech, its ${JSON.stringify(locale)} is returned as ${tag}, as callers ask for it`, () => {
    const results = [{ alternatives: [{ transcript: "Hi." }], languageCode: locale }];
    assert.equal(readGoogleReply({ results }, false).language, tag);
  });
}

test("providers.bounded-work: google-speech, a reply of very many results is read like any other", () => {
  const results = Array.from({ length: 200_000 }, (_, index) => ({ channelTag: index === 7 ? 2 : 1 }));
  assert.equal(readGoogleReply({ results }, true).channels, 2);
});

test("transcription.smart-formatting-off: google-speech, unformatted text is asked for without punctuation", () => {
  const { speech, target } = targetOf(googleSpeech, LONG);
  const result = googleSpeech.plan(requestFor(speech, { smartFormatting: false }), target);
  assert.ok(result.ok && result.plan.kind === "json");
  assert.ok(!JSON.stringify(result.plan.body).includes("enableAutomaticPunctuation"));
});

test("providers.settings: google-speech, settings name a place, a project and a bucket, and nothing else", () => {
  const { settings } = googleSpeech;
  assert.equal(settings.safeParse({ location: "europe-west4", project: "acme-1", bucket: "acme.audio" }).success, true);
  for (const wrong of [{ location: "us/../x" }, { project: "a/b" }, { bucket: "gs://x" }, { region: "us" }]) {
    assert.equal(settings.safeParse(wrong).success, false, JSON.stringify(wrong));
  }
});

// Tokens.

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const ACCOUNT = {
  type: "service_account",
  project_id: "acme-of-the-key",
  private_key_id: "kid-1",
  private_key: privateKey,
  client_email: "speech@acme-of-the-key.iam.gserviceaccount.com",
  // Never followed: the author of a credential must not choose where the gateway connects to.
  token_uri: "http://127.0.0.1:1/token",
};
const CREDENTIAL = JSON.stringify(ACCOUNT);
const SUCCESS = { results: [], metadata: { requestId: "r" } };

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}
type Answer = (asked: Asked, response: ServerResponse) => void;

const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

async function google(t: TestContext, answer: Answer): Promise<{ url: URL; asked: Asked[] }> {
  const asked: Asked[] = [];
  const url = await httpServer(t, async (request: IncomingMessage, response: ServerResponse) => {
    const { authorization } = request.headers;
    const one = { method: request.method ?? "", path: request.url ?? "", authorization, body: await readAll(request) };
    asked.push(one);
    answer(one, response);
  });
  return { url, asked };
}

const grant: Answer = ({ path }, response) =>
  json(response, path === "/token" ? { access_token: "token-1", expires_in: 3599, token_type: "Bearer" } : SUCCESS);

function planOf(golden = CHIRP_3, wishes: Parameters<typeof requestFor>[1] = {}): SpeechPlan {
  assert.ok(golden);
  const { speech, target } = targetOf(googleSpeech, golden);
  const { project: _project, ...settings } = golden.settings ?? {};
  const result = googleSpeech.plan(requestFor(speech, wishes), { ...target, settings });
  assert.ok(result.ok);
  return result.plan;
}

test("providers.account-tokens: google-speech, a service account signs for a token, and its project is in the path", async (t) => {
  const { url, asked } = await google(t, grant);
  const nowMs = () => Date.parse("2026-03-01T12:00:00.900Z");
  await googleSpeech.transcribe(planOf(), audioFixture(), ioFor(t, url, { credential: CREDENTIAL, nowMs }));
  assert.deepEqual(
    asked.map(({ method, path, authorization }) => [method, path, authorization]),
    [
      ["POST", "/token", undefined],
      ["POST", "/v2/projects/acme-of-the-key/locations/us/recognizers/_:recognize", "Bearer token-1"],
    ],
  );
  const form = new URLSearchParams(asked[0]?.body.toString());
  assert.equal(form.get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
  const said = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
  assert.deepEqual(JSON.parse(Buffer.from(header, "base64url").toString()), { alg: "RS256", typ: "JWT", kid: "kid-1" });
  assert.deepEqual(
    [said["iss"], said["scope"], said["aud"], said["iat"], Number(said["exp"]) - Number(said["iat"])],
    [
      ACCOUNT.client_email,
      "https://www.googleapis.com/auth/cloud-platform",
      "https://oauth2.googleapis.com/token",
      Date.parse("2026-03-01T12:00:00Z") / 1000,
      3600,
    ],
  );
  const isSigned = verify(
    "RSA-SHA256",
    Buffer.from(`${header}.${claims}`),
    createPublicKey(publicKey),
    Buffer.from(signature, "base64url"),
  );
  assert.ok(isSigned);
});

test("providers.account-tokens: google-speech, one token serves an account's calls until shortly before it expires, and no other account's", async (t) => {
  let nowMs = 0;
  const memory = createMemory(() => nowMs);
  const { url, asked } = await google(t, grant);
  const other = JSON.stringify({ ...ACCOUNT, client_email: "other@acme-of-the-key.iam.gserviceaccount.com" });
  const call = (credential: string) =>
    googleSpeech.transcribe(planOf(), audioFixture(), ioFor(t, url, { credential, memory }));
  const tokens = () => asked.filter(({ path }) => path === "/token").length;
  await Promise.all([call(CREDENTIAL), call(CREDENTIAL), call(CREDENTIAL)]);
  assert.equal(tokens(), 1, "asked at once, one exchange");
  nowMs = 3_298_000;
  await call(CREDENTIAL);
  assert.equal(tokens(), 1, "still fresh");
  await call(other);
  assert.equal(tokens(), 2, "another account has its own");
  nowMs = 3_300_000;
  await call(CREDENTIAL);
  assert.equal(tokens(), 3, "five minutes before its end it is given up");
});

test("providers.account-tokens: google-speech, a refused token is replaced at the next call", async (t) => {
  const memory = createMemory();
  let refused = true;
  const { url, asked } = await google(t, (one, response) => {
    if (one.path === "/token" || !refused) return grant(one, response);
    json(response, { error: { code: 401, message: "m", status: "UNAUTHENTICATED" } }, 401);
  });
  const call = () =>
    googleSpeech.transcribe(planOf(), audioFixture(), ioFor(t, url, { credential: CREDENTIAL, memory }));
  await assert.rejects(call(), (error) => error instanceof ProviderError && error.kind === "unauthorized");
  refused = false;
  await call();
  assert.equal(asked.filter(({ path }) => path === "/token").length, 2);
});

for (const [what, answer, kind] of [
  ["an account that was deleted", (response) => json(response, { error: "invalid_grant" }, 400), "unauthorized"],
  ["too many exchanges", (response) => json(response, { error: "slow_down" }, 429), "rate_limited"],
  ["a token endpoint that fails", (response) => json(response, {}, 503), "server_error"],
  ["a token endpoint behind a broken gateway", (response) => json(response, {}, 502), "server_error"],
  ["an answer that is no token", (response) => json(response, { access_token: 7 }), "server_error"],
  ["a connection cut during the exchange", (response) => response.destroy(), "connect"],
] as const satisfies readonly (readonly [string, (response: ServerResponse) => unknown, FailureKind])[]) {
  test(`providers.failure-kinds, providers.failure-message: google-speech, ${what}: ${kind}, nothing dispatched, no key in the error`, async (t) => {
    let dispatched = 0;
    const { url, asked } = await google(t, (_one, response) => void answer(response));
    const io = ioFor(t, url, { credential: CREDENTIAL, onDispatch: () => (dispatched += 1) });
    await assert.rejects(googleSpeech.transcribe(planOf(), audioFixture(), io), (error) => {
      assert.ok(error instanceof ProviderError);
      assert.equal(error.kind, kind);
      const printed = inspect(error, { depth: Infinity, showHidden: true });
      assert.ok(!printed.includes("PRIVATE KEY") && !printed.includes(ACCOUNT.client_email));
      return true;
    });
    assert.deepEqual([asked.map(({ path }) => path), dispatched], [["/token"], 0]);
  });
}

for (const [what, credential] of [
  ["a key that cannot sign", JSON.stringify({ ...ACCOUNT, private_key: "-----BEGIN PRIVATE KEY-----\nAAAA\n" })],
  ["JSON that is no service account", '{"type":"authorized_user"}'],
  ["broken JSON", '{"private_key": '],
] as const) {
  test(`providers.failure-kinds: google-speech, ${what}: unauthorized, and no request is sent`, async (t) => {
    const { url, asked } = await google(t, grant);
    await assert.rejects(
      googleSpeech.transcribe(planOf(), audioFixture(), ioFor(t, url, { credential })),
      (error) => error instanceof ProviderError && error.kind === "unauthorized" && !inspect(error).includes("AAAA"),
    );
    assert.equal(asked.length, 0);
  });
}

// Batches.

const OPERATION = "projects/acme-of-the-key/locations/us/operations/op-1";
const LONG_AUDIO: Partial<SpeechAudio> = { durationSeconds: 61 };

const done = (result: object) => ({
  name: OPERATION,
  done: true,
  response: { "@type": "t", results: { "gs://acme-audio/x": result } },
});
const TRANSCRIBED = done({
  inlineResult: { transcript: { results: [{ alternatives: [{ transcript: "Hello." }], resultEndOffset: "61s" }] } },
  metadata: { totalBilledDuration: "61s" },
});

/** Google with a bucket; `steps` answer in the place of what it would say. */
function batching(steps: { readonly [step: string]: Answer } = {}): Answer {
  return (asked, response) => {
    const step = stepOf(asked);
    const own = steps[step];
    if (own !== undefined) return own(asked, response);
    if (step === "token") return grant(asked, response);
    if (step === "submit") return json(response, { name: OPERATION });
    if (step === "poll") return json(response, TRANSCRIBED);
    json(response, {}, step === "remove_object" ? 204 : 200);
  };
}

function stepOf({ method, path }: Pick<Asked, "method" | "path">): string {
  if (path === "/token") return "token";
  if (path.startsWith("/upload/")) return "upload";
  if (path.startsWith("/storage/")) return "remove_object";
  if (path.endsWith(":batchRecognize")) return "submit";
  if (path.endsWith(":cancel")) return "cancel";
  return method === "DELETE" ? "remove_operation" : "poll";
}

test("providers.configured-model, providers.run-before-poll: google-speech, audio too long for a request goes through the bucket; the run is handed out before its first poll", async (t) => {
  const { url, asked } = await google(t, batching());
  const runs: [RemoteRun, string[]][] = [];
  let dispatched = 0;
  const io = ioFor(t, url, {
    credential: CREDENTIAL,
    onDispatch: () => (dispatched += 1),
    onRemoteRun: async (run) => void runs.push([run, asked.map(stepOf)]),
  });
  const raw = await googleSpeech.transcribe(planOf(IN_BUCKET), audioFixture(LONG_AUDIO), io);
  assert.deepEqual(raw.body, {
    results: [{ alternatives: [{ transcript: "Hello." }], resultEndOffset: "61s" }],
    metadata: { requestId: "op-1", totalBilledDuration: "61s" },
  });
  assert.deepEqual(asked.map(stepOf), ["token", "upload", "submit", "poll"]);
  const [, upload, submission] = asked;
  const name = new URL(upload?.path ?? "", "http://x").searchParams.get("name");
  assert.deepEqual(upload?.body, AUDIO_BYTES);
  assert.deepEqual((JSON.parse(submission?.body.toString() ?? "") as { files: unknown }).files, [
    { uri: `gs://acme-audio/${name}` },
  ]);
  assert.equal(dispatched, 1, "the submission is what is paid for");
  const run = { id: "op-1", details: { operation: OPERATION, bucket: "acme-audio", object: name } };
  assert.deepEqual(runs, [[run, ["token", "upload", "submit"]]]);
});

test("providers.configured-model: google-speech, audio that fits a request is not stored in the bucket", async (t) => {
  const { url, asked } = await google(t, (one, response) => grant(one, response));
  await googleSpeech.transcribe(planOf(IN_BUCKET), audioFixture(), ioFor(t, url, { credential: CREDENTIAL }));
  assert.deepEqual(
    asked.map(({ path }) => path.split(":").at(-1)),
    ["/token", "recognize"],
  );
  assert.deepEqual(Object.keys(JSON.parse(asked[1]?.body.toString() ?? "") as object), ["config", "content"]);
});

for (const [what, steps, kind, uncollected] of [
  ["an upload refused", { upload: (_a, r) => json(r, {}, 403) }, "unauthorized", []],
  ["an upload cut", { upload: (_a, r) => r.destroy() }, "connect", []],
  ["an upload at a broken gateway", { upload: (_a, r) => json(r, {}, 502) }, "server_error", []],
  ["a submission refused", { submit: (_a, r) => json(r, {}, 400) }, "rejected", ["remove_object"]],
  ["a submission cut", { submit: (_a, r) => r.destroy() }, "unknown", ["remove_object"]],
  ["a file that is no audio", { poll: (_a, r) => json(r, done({ error: { code: 3, message: "m" } })) }, "rejected", []],
  [
    "an operation that failed",
    { poll: (_a, r) => json(r, { name: OPERATION, done: true, error: { code: 13 } }) },
    "server_error",
    [],
  ],
  [
    "an operation without its right",
    { poll: (_a, r) => json(r, { name: OPERATION, done: true, error: { code: 7 } }) },
    "unauthorized",
    [],
  ],
  [
    "an operation done without a result",
    { poll: (_a, r) => json(r, { name: OPERATION, done: true }) },
    "server_error",
    [],
  ],
] as const satisfies readonly (readonly [string, Record<string, Answer>, FailureKind, readonly string[]])[]) {
  test(`providers.failure-kinds: google-speech, ${what}: ${kind}`, async (t) => {
    const { url, asked } = await google(t, batching(steps));
    const io = ioFor(t, url, { credential: CREDENTIAL });
    await assert.rejects(
      googleSpeech.transcribe(planOf(IN_BUCKET), audioFixture(LONG_AUDIO), io),
      (error) => error instanceof ProviderError && error.kind === kind,
    );
    assert.deepEqual(
      asked.map(stepOf).filter((step) => step.startsWith("remove")),
      uncollected,
    );
  });
}

for (const [what, steps, reason] of [
  [
    "an operation that failed",
    { poll: (_a, r) => json(r, { done: true, error: { code: 3, message: "Bad audio." }, name: OPERATION }) },
    [200, "3", "Bad audio."],
  ],
  [
    "a token that was refused",
    { token: (_a, r) => json(r, { error: "invalid_grant", error_description: "Invalid JWT signature." }, 400) },
    [400, "invalid_grant", "Invalid JWT signature."],
  ],
] as const satisfies readonly (readonly [string, Record<string, Answer>, readonly [number, string, string]])[]) {
  test(`providers.failure-message: google-speech, ${what} has the provider's reason`, async (t) => {
    const { url } = await google(t, batching(steps));
    const io = ioFor(t, url, { credential: CREDENTIAL });
    await assert.rejects(googleSpeech.transcribe(planOf(IN_BUCKET), audioFixture(LONG_AUDIO), io), (error) => {
      assert.ok(error instanceof ProviderError && error.provider !== null);
      assert.deepEqual([error.provider.status, error.provider.code, error.provider.message], reason);
      return true;
    });
  });
}

test("providers.poll-again: google-speech, a poll for which there was no token is repeated, because the run continues", async (t) => {
  let exchanges = 0;
  const { url, asked } = await google(
    t,
    batching({
      // Each is over as soon as it is given, so that every call asks for one; the third is the first poll's.
      token: (_a, r) => json(r, { access_token: "t", expires_in: 1 }, ++exchanges === 3 ? 503 : 200),
    }),
  );
  const raw = await googleSpeech.transcribe(
    planOf(IN_BUCKET),
    audioFixture(LONG_AUDIO),
    ioFor(t, url, { credential: CREDENTIAL }),
  );
  assert.ok(raw.body);
  assert.deepEqual(asked.map(stepOf), ["token", "upload", "token", "submit", "token", "token", "poll"]);
});

test("providers.deletion: google-speech, a deletion stops the operation, then removes the audio and the transcript; already gone is deleted", async (t) => {
  const remote = googleSpeech.remote;
  assert.ok(remote);
  const run = { id: "op-1", details: { operation: OPERATION, bucket: "acme-audio", object: "patchbay-1" } };
  for (const status of [200, 404]) {
    const { url, asked } = await google(
      t,
      batching({ remove_object: (_a, r) => json(r, {}, status), cancel: (_a, r) => json(r, {}, status) }),
    );
    await remote.remove(run, ioFor(t, url, { credential: CREDENTIAL }));
    assert.deepEqual(asked.map(({ method, path }) => `${method} ${path}`).slice(1), [
      `POST /v2/${OPERATION}:cancel`,
      "DELETE /storage/v1/b/acme-audio/o/patchbay-1",
      `DELETE /v2/${OPERATION}`,
    ]);
  }
  const { url } = await google(t, batching({ remove_object: (_a, r) => json(r, {}, 503) }));
  await assert.rejects(remote.remove(run, ioFor(t, url, { credential: CREDENTIAL })), ProviderError);
});
