// POST /v1/transcription with `audio.url`, over HTTP.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { wav } from "../../audio/build-audio.ts";
import { type Answer, detailsOf, envelopeOf, get, postJson, speech } from "../../harness/client.ts";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import {
  PUBLIC,
  type RemoteGateway,
  serve,
  serveSpeech,
  startRemoteGateway,
  STREAM_KEY,
  URL_OF_SPEECH,
} from "./setup.ts";

let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway({ limits: { max_audio_url_bytes: 300_000 } });
});
after(() => remote.close());
afterEach(async () => {
  remote.answer(serveSpeech);
  remote.internet.name("media.example", [PUBLIC]);
  remote.requests.length = 0;
  assert.equal(remote.internet.canaryConnections(), 0);
  assert.deepEqual(await readdir(join(remote.gateway.dataDir, "spool")), [], "something is left in the spool");
});

const post = (url: string, call: Parameters<typeof postJson>[2] = {}, fields: object = {}): Promise<Answer> =>
  postJson(remote.gateway.origin, { audio: { url }, ...fields }, call);

/** Rows that a request may leave: attempts (money) and slots (keys). */
async function rows(): Promise<readonly [attempts: number, slots: number]> {
  const { db } = remote.gateway.database;
  const count = async (table: "attempts" | "idempotency_slots") =>
    (await db.selectFrom(table).select(db.fn.countAll<bigint>().as("n")).executeTakeFirstOrThrow()).n;
  return [Number(await count("attempts")), Number(await count("idempotency_slots"))];
}

async function refuses(url: string, status: number, code: string, reason: string | null): Promise<Answer> {
  const [attempts, slots] = await rows();
  const calls = remote.gateway.sandbox.callCount;
  const answer = await post(url, { headers: { "idempotency-key": `refused-${url.length}-${code}` } });
  assert.deepEqual(
    [answer.status, answer.code, detailsOf(answer)["reason"] ?? null],
    [status, code, reason],
    answer.text,
  );
  assert.equal(remote.gateway.sandbox.callCount, calls, "a provider was called");
  assert.deepEqual(await rows(), [attempts, slots], "something was billed, or a slot is left");
  return answer;
}

test("remote-audio.listed-host, remote-audio.sent-as-given: audio behind a listed host is fetched, measured and transcribed like an upload", async () => {
  const envelope = envelopeOf(await post(URL_OF_SPEECH));
  const uploaded = envelopeOf(
    await postJson(remote.gateway.origin, { audio: { base64: Buffer.from(speech()).toString("base64") } }),
  );
  assert.equal(envelope.content, uploaded.content);
  assert.deepEqual(envelope.usage, uploaded.usage);
  assert.deepEqual(remote.requests, ["/speech.wav?sig=canary-signature"]);
  assert.ok(!remote.gateway.logs.join("\n").includes("canary-signature"));
});

test("remote-audio.nothing-left: a stream of remote audio is fetched too, and nothing of it remains when it ends or is refused", async () => {
  const streamed = await post(URL_OF_SPEECH, { key: STREAM_KEY }, { stream: true });
  assert.equal(streamed.status, 200, streamed.text);
  assert.match(streamed.text, /event: transcript\.completed/u);
  const refused = await post(URL_OF_SPEECH, {}, { stream: true, redaction: ["pii"] });
  assert.equal(refused.code, "REQUIRED_FEATURE_UNSUPPORTED");
});

test("remote-audio.url-stays-here: SSRF-334: no provider receives the URL: what it gets is bytes", async () => {
  const before = remote.gateway.sandbox.calls.length;
  envelopeOf(await post(URL_OF_SPEECH));
  const calls = remote.gateway.sandbox.calls.slice(before);
  assert.equal(calls.length, 1);
  assert.ok(!JSON.stringify(calls).includes("media.example"));
});

test("remote-audio.content-decides: a declared type of the server that differs from the content is a warning, and the caller's own hint counts before it", async () => {
  remote.answer((_request, response) => serve(response, speech(), "video/mp4"));
  const codes = (answer: Answer) => envelopeOf(answer).warnings.map(({ code }) => code);
  assert.ok(codes(await post(URL_OF_SPEECH)).includes("MEDIA_TYPE_MISMATCH"));
  const hinted = await postJson(remote.gateway.origin, { audio: { url: URL_OF_SPEECH, media_type: "audio/wav" } });
  assert.ok(!codes(hinted).includes("MEDIA_TYPE_MISMATCH"));
});

test("routing.dry-run, remote-audio.content-decides: dry_run fetches and measures, and calls, bills and keeps nothing", async () => {
  const [attempts, slots] = await rows();
  const calls = remote.gateway.sandbox.callCount;
  const answer = await post(URL_OF_SPEECH, {}, { dry_run: true });
  assert.equal(answer.status, 200);
  assert.ok((answer.json as { audio_seconds: number }).audio_seconds > 1);
  assert.deepEqual([remote.gateway.sandbox.callCount, ...(await rows())], [calls, attempts, slots]);
});

test("remote-audio.listed-host: SSRF-138: a host that only another workspace lists is refused, without a look-up", async () => {
  const lookups = remote.internet.lookups.length;
  const answer = await post(URL_OF_SPEECH, { key: OTHER_KEY });
  assert.deepEqual(
    [answer.status, answer.code, detailsOf(answer)],
    [400, "AUDIO_URL_REJECTED", { reason: "host_not_allowed" }],
  );
  assert.equal(remote.internet.lookups.length, lookups);
});

test("remote-audio.listed-host: SSRF-139: a host on the operator's list is fetched for every workspace", async () => {
  remote.internet.name("global.example", [PUBLIC]);
  for (const key of [KEY, OTHER_KEY]) envelopeOf(await post("https://global.example/speech.wav", { key }));
});

test("remote-audio.plain-url, remote-audio.port, remote-audio.https-only, errors.nothing-begun: each refusal names its rule, bills nothing and leaves no slot", async () => {
  await refuses("http://media.example/a.wav", 400, "AUDIO_URL_REJECTED", "scheme");
  await refuses("https://media.example:8443/a.wav", 400, "AUDIO_URL_REJECTED", "port");
  await refuses("https://media.example\\@127.0.0.1/", 400, "AUDIO_URL_REJECTED", "malformed");
  await refuses("", 400, "AUDIO_URL_REJECTED", "malformed");
  const unescaped = await refuses("https://media.example/Gespräch.wav", 400, "AUDIO_URL_REJECTED", "malformed");
  assert.match(unescaped.text, /percent-encoded/, "the message says what to do about a letter that is in no rule");
  await refuses("https://127.0.0.1/a.wav", 400, "AUDIO_URL_REJECTED", "address_not_public");
  await refuses("https://evil.example/a.wav", 400, "AUDIO_URL_REJECTED", "host_not_allowed");
  // SSRF-333: a provider's host, or the gateway's own, is on no list.
  await refuses("https://api.deepgram.com/v1/listen", 400, "AUDIO_URL_REJECTED", "host_not_allowed");
  remote.internet.name("media.example", ["169.254.169.254"]);
  await refuses(URL_OF_SPEECH, 400, "AUDIO_URL_REJECTED", "address_not_public");
  remote.internet.name("media.example", [PUBLIC]);
  assert.deepEqual(remote.requests, [], "something was fetched");
  remote.answer((_request, response) => response.writeHead(302, { location: "https://127.0.0.1/" }).end());
  await refuses(URL_OF_SPEECH, 400, "AUDIO_URL_REJECTED", "address_not_public");
  remote.answer((_request, response) => response.writeHead(302, { location: "/again" }).end());
  await refuses(URL_OF_SPEECH, 400, "AUDIO_URL_REJECTED", "too_many_redirects");
  remote.answer((_request, response) => serve(response, speech(), "application/octet-stream"));
  const untyped = await refuses(URL_OF_SPEECH, 400, "AUDIO_URL_REJECTED", "unsupported_content_type");
  assert.match(untyped.text, /octet-stream/, "the message says what to set");
  remote.answer((_request, response) => response.writeHead(200, { "content-type": "audio/wav" }).end(speech()));
  // Without a length Node sends chunks.
  await refuses(URL_OF_SPEECH, 400, "AUDIO_URL_REJECTED", "missing_content_length");
});

test("remote-audio.status-200, remote-audio.content-encoding: each failed fetch names its reason, and whether a retry is worth it", async () => {
  const failing = async (status: number, retryable: boolean) => {
    remote.answer((_request, response) => response.writeHead(status).end());
    const answer = await refuses(URL_OF_SPEECH, 422, "AUDIO_FETCH_FAILED", "http_status");
    assert.equal(detailsOf(answer)["status"], status);
    assert.equal(answer.headers.get("x-should-retry"), String(retryable));
  };
  await failing(404, false);
  await failing(503, true);
  remote.answer((_request, response) =>
    response
      .writeHead(200, { "content-type": "audio/wav", "content-encoding": "gzip", "content-length": 4 })
      .end("RIFF"),
  );
  await refuses(URL_OF_SPEECH, 422, "AUDIO_FETCH_FAILED", "content_encoding");
  remote.answer((_request, response) => {
    response.writeHead(200, { "content-type": "audio/wav", "content-length": 9 });
    response.write("RIFF", () => response.destroy());
  });
  await refuses(URL_OF_SPEECH, 422, "AUDIO_FETCH_FAILED", "truncated");
  remote.answer((request) => request.socket.destroy());
  const gone = await refuses(URL_OF_SPEECH, 422, "AUDIO_FETCH_FAILED", "connect");
  assert.equal(gone.headers.get("x-should-retry"), "true");
});

test("remote-audio.content-decides: SSRF-406: what is no audio by its content is refused like an upload, whatever type the server declares", async () => {
  remote.answer((_request, response) => serve(response, Buffer.from("<!doctype html><title>canary-inside</title>")));
  const answer = await refuses(URL_OF_SPEECH, 415, "UNSUPPORTED_MEDIA_TYPE", null);
  assert.ok(!answer.text.includes("canary-inside"));
  remote.answer((_request, response) => serve(response, new Uint8Array(0)));
  await refuses(URL_OF_SPEECH, 422, "INVALID_AUDIO", null);
});

test("remote-audio.size: max_audio_url_bytes as /v1/melimits reports it is served, one byte more is 413", async () => {
  const report = await get(remote.gateway.origin, "/v1/melimits");
  const limit = (report.json as { max_audio_url_bytes: number }).max_audio_url_bytes;
  assert.equal(limit, 300_000);
  const ofSize = (sizeBytes: number) => {
    const bytes = new Uint8Array(sizeBytes);
    bytes.set(wav(30).subarray(0, sizeBytes));
    return bytes;
  };
  remote.answer((_request, response) => serve(response, ofSize(limit)));
  envelopeOf(await post(URL_OF_SPEECH));
  remote.answer((_request, response) => serve(response, ofSize(limit + 1)));
  const answer = await refuses(URL_OF_SPEECH, 413, "AUDIO_TOO_LARGE", null);
  assert.deepEqual(detailsOf(answer), { max_audio_url_bytes: limit, received_bytes: limit + 1 });
});

test("remote-audio.whole-url-is-payload, idempotency.url-text: under one key the same URL replays without a fetch, a URL that was signed again is another payload", async () => {
  const headers = { "idempotency-key": "remote-1" };
  const first = await post(URL_OF_SPEECH, { headers });
  envelopeOf(first);
  const calls = remote.gateway.sandbox.callCount;
  const again = await post(URL_OF_SPEECH, { headers });
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
  const signed = await post(`${URL_OF_SPEECH}2`, { headers });
  assert.deepEqual([signed.status, signed.code], [409, "IDEMPOTENCY_KEY_REUSED"]);
  assert.deepEqual([remote.requests.length, remote.gateway.sandbox.callCount], [1, calls]);
});

test("remote-audio.key-while-fetching: a key whose fetch failed is free again, and its retry runs", async () => {
  const headers = { "idempotency-key": "remote-2" };
  remote.answer((_request, response) => response.writeHead(503).end());
  assert.equal((await post(URL_OF_SPEECH, { headers })).code, "AUDIO_FETCH_FAILED");
  remote.answer(serveSpeech);
  const retried = await post(URL_OF_SPEECH, { headers });
  envelopeOf(retried);
  assert.equal(retried.headers.get("x-svc-idempotent-replay"), null);
});

test("remote-audio.key-while-fetching: while the first request still fetches, its key is in progress", async () => {
  const headers = { "idempotency-key": "remote-3" };
  const asked = Promise.withResolvers<() => void>();
  remote.answer((request, response) => asked.resolve(() => serveSpeech(request, response)));
  const first = post(URL_OF_SPEECH, { headers });
  const answerNow = await asked.promise;
  assert.equal((await post(URL_OF_SPEECH, { headers })).code, "IDEMPOTENCY_REPLAY_IN_PROGRESS");
  answerNow();
  envelopeOf(await first);
});
