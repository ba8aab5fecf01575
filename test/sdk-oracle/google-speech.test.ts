// The official Google Speech client, over its REST fallback, against the sandbox.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type protos, v2 } from "@google-cloud/speech";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { wav } from "../sandbox/wav.ts";

const TEXT = "[simulated transcript, 2.5 s, mono]";
const RECOGNIZER = "projects/acme-1/locations/us/recognizers/_";
let sandbox: Sandbox;

before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

/** An auth client that has its token already, and knows that the sandbox's Google lies behind a prefix. */
function client(token = "ya29.oracle"): v2.SpeechClient {
  const { hostname, port } = new URL(sandbox.googleSpeechUrl);
  const authClient = {
    fetch: (url: string, init: RequestInit) => {
      const { pathname, search } = new URL(url);
      const headers = withToken(init.headers, token);
      return fetch(`${sandbox.googleSpeechUrl}${pathname}${search}`, { ...init, headers });
    },
    getRequestHeaders: async () => withToken({}, token),
    universeDomain: "googleapis.com",
  };
  return new v2.SpeechClient({
    fallback: true,
    protocol: "http",
    apiEndpoint: hostname,
    port: Number(port),
    projectId: "acme-1",
    authClient: authClient as never,
  });
}

function withToken(given: RequestInit["headers"], token: string): Headers {
  const headers = new Headers(given);
  headers.set("authorization", `Bearer ${token}`);
  return headers;
}

type Config = protos.google.cloud.speech.v2.IRecognitionConfig;

const config = (more: Config = {}): Config => ({
  autoDecodingConfig: {},
  model: "long",
  languageCodes: ["en-US"],
  ...more,
});

async function recognized(asked: Config, seconds = 2.5, channels = 1) {
  const [answer] = await client().recognize({ recognizer: RECOGNIZER, config: asked, content: wav(seconds, channels) });
  return answer;
}

test("providers.sandbox-protocols: google-speech, recognize: results with text, confidence, end, language; metadata with what was billed", async () => {
  const answer = await recognized(config());
  const texts = answer.results?.map((result) => result.alternatives?.[0]?.transcript ?? "") ?? [];
  assert.equal(texts.join(""), TEXT);
  assert.equal(answer.results?.[0]?.languageCode, "en-US");
  assert.equal(Number(answer.metadata?.totalBilledDuration?.seconds), 3);
  assert.ok(Number(answer.results?.at(-1)?.resultEndOffset?.seconds) >= 2);
  assert.equal(sandbox.calls[0]?.headers["authorization"], "Bearer …acle");
});

test("providers.sandbox-protocols: google-speech, recognize: word offsets, and speakers of chirp_3 on every word", async () => {
  const timed = await recognized(config({ features: { enableWordTimeOffsets: true } }));
  const words = timed.results?.flatMap((result) => result.alternatives?.[0]?.words ?? []) ?? [];
  assert.equal(words.map(({ word }) => word).join(" "), TEXT);
  assert.deepEqual([Number(words.at(-1)?.endOffset?.seconds), words.at(-1)?.endOffset?.nanos], [2, 500_000_000]);
  const diarized = await recognized(config({ model: "chirp_3", features: { diarizationConfig: {} } }));
  const speakers = diarized.results?.flatMap((result) => result.alternatives?.[0]?.words ?? []) ?? [];
  assert.deepEqual([...new Set(speakers.map(({ speakerLabel }) => speakerLabel))], ["1", "2"]);
});

test("providers.sandbox-protocols: google-speech, recognize: separate channels when asked, the tags counting from 1", async () => {
  const mode = { multiChannelMode: "SEPARATE_RECOGNITION_PER_CHANNEL" } as const;
  const apart = await recognized(config({ features: mode }), 2.5, 2);
  assert.deepEqual([...new Set(apart.results?.map(({ channelTag }) => channelTag))], [1, 2]);
});

test("providers.sandbox-protocols: google-speech, recognize: phrases, a filter, a translation are accepted where the model has them", async () => {
  await recognized(
    config({
      model: "chirp_2",
      features: { profanityFilter: true },
      adaptation: { phraseSets: [{ inlinePhraseSet: { phrases: [{ value: "Patchbay", boost: 10 }] } }] },
      translationConfig: { targetLanguage: "en-US" },
    }),
  );
});

for (const [what, asked] of [
  ["diarization on long", config({ features: { diarizationConfig: {} } })],
  ["word times of chirp_3 in one request", config({ model: "chirp_3", features: { enableWordTimeOffsets: true } })],
  ["a translation by long", config({ translationConfig: { targetLanguage: "en-US" } })],
  ["a bare language", config({ languageCodes: ["en"] })],
  ["a model that is none", config({ model: "chirp_9" })],
] as const) {
  test(`providers.sandbox-protocols: google-speech, ${what} is INVALID_ARGUMENT`, async () => {
    await assert.rejects(recognized(asked), (error: Error & { code?: number }) => error.code === 3);
  });
}

test("providers.sandbox-protocols: google-speech, more than a minute is refused in one request", async () => {
  await assert.rejects(recognized(config(), 61), (error: Error & { code?: number }) => error.code === 3);
});

test("providers.sandbox-protocols: google-speech, a refused token is UNAUTHENTICATED, and a fault's status reaches the client", async () => {
  const asked = client("invalid").recognize({ recognizer: RECOGNIZER, config: config(), content: wav(1) });
  await assert.rejects(asked, (error: Error & { code?: number }) => error.code === 16);
  sandbox.addFault({ wire: "google-speech", fault: { kind: "status", status: 403 } });
  await assert.rejects(recognized(config()), (error: Error & { code?: number }) => error.code === 7);
});

test("providers.sandbox-protocols: google-speech, batchRecognize: an operation that ends in the transcript of the object, as the client unpacks it", async () => {
  const uploaded = await fetch(
    `${sandbox.googleSpeechUrl}/upload/storage/v1/b/acme-audio/o?uploadType=media&name=one.wav`,
    { method: "POST", body: wav(2.5), headers: { authorization: "Bearer t", "content-type": "audio/wav" } },
  );
  assert.equal(uploaded.status, 200);
  sandbox.addFault({ wire: "google-speech", times: 1, fault: { kind: "unfinished", polls: 1 } });
  const speech = client();
  const [operation] = await speech.batchRecognize({
    recognizer: RECOGNIZER,
    config: config({ model: "chirp_3", features: { enableWordTimeOffsets: true } }),
    files: [{ uri: "gs://acme-audio/one.wav" }],
    recognitionOutputConfig: { inlineResponseConfig: {} },
  });
  const [first] = await speech.operationsClient.getOperation({ name: operation.name ?? "" } as never);
  assert.equal(first.done, false);
  const [second] = await speech.operationsClient.getOperation({ name: operation.name ?? "" } as never);
  assert.equal(second.done, true);
  assert.equal(second.response?.type_url, "type.googleapis.com/google.cloud.speech.v2.BatchRecognizeResponse");
});
