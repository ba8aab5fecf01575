// GET /v1/requests/{id}: what a request leaves on record, on whatever endpoint and however it ended.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { fixture } from "../../audio/build-audio.ts";
import { HELLO, postChat, streamChat } from "../../harness/chat-client.ts";
import { json } from "../../harness/chat-upstream.ts";
import { requestRecord } from "../../../src/contract/requests.ts";
import { get, postForm, postJson } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { ended, submit } from "../jobs/jobs.ts";
import { recordOf, SEEING_KEY, startRecordGateway } from "./records.ts";

/** One second exactly. */
const AUDIO = fixture("speech-44k-stereo.wav");
let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
afterEach(() => gateway.sandbox.clearFaults());
after(() => gateway.close());

test("requests.readable: right behind the answer the record and the calls of a transcription, a chat and a stream are readable", async () => {
  const ask = [
    () => postForm(gateway.origin, { file: AUDIO }),
    () => postChat(gateway.origin, { messages: HELLO }),
    () => streamChat(gateway.origin, { messages: HELLO }),
    () => postChat(gateway.origin, { messages: HELLO, response_format: { type: "no such" } }),
  ];
  for (const each of ask) {
    const { status, headers } = await each();
    const found = await get(gateway.origin, `/v1/requests/${headers.get("x-request-id")}`, SEEING_KEY);
    assert.equal(found.status, 200, found.text);
    const record = requestRecord.parse(found.json);
    assert.equal(record.status, status);
    assert.deepEqual(
      record.attempts.map(({ outcome }) => outcome),
      status === 200 ? ["succeeded"] : [],
    );
  }
});

test("requests.contents: a transcription leaves what was asked, every target, its call, its cost and its receipts", async () => {
  const answer = await postForm(gateway.origin, {
    file: AUDIO,
    fields: { timestamps: "word", purpose: "meetings", prompt: "say-nothing-of-this" },
    headers: { "idempotency-key": "first-of-all" },
  });
  assert.equal(answer.status, 200, answer.text);
  const record = await recordOf(gateway, answer);
  const [attempt] = record.attempts;
  assert.deepEqual([record.endpoint, record.status, record.code], ["POST /v1/transcription", 200, null]);
  assert.deepEqual(record.asked, {
    capability: "audio_input",
    features: ["timestamps.word"],
    preferences: ["prompt"],
    profile: null,
    stream: false,
    dry_run: false,
  });
  assert.deepEqual(record.purpose, {
    requested: "meetings",
    applied: "meetings",
    source: "body",
    policy: "fallback",
    reason: null,
  });
  assert.deepEqual(record.decision, { outcome: "routed", reason: null });
  assert.equal(record.route, "speech");
  assert.deepEqual(
    record.candidates.map(({ position, model, missing, health, outcome }) => [
      position,
      model,
      missing,
      health,
      outcome,
    ]),
    [
      [1, "nova-3", [], "healthy", "served"],
      [2, "whisper-1", [], "healthy", "not_reached"],
      [3, "gpt-4o-transcribe", ["timestamps.word"], "healthy", "left"],
      [4, "one", ["audio_input"], null, "left"],
    ],
  );
  assert.deepEqual(
    [attempt?.position, attempt?.outcome, attempt?.billing_class, attempt?.charge_usd, attempt?.audio_seconds],
    [1, "succeeded", "metered", "0.001", 1],
  );
  assert(attempt?.receipts.some(({ feature, delivered }) => feature === "timestamps.word" && delivered));
  assert.deepEqual(record.idempotency, { key: "first", replayed: false });
  assert.deepEqual(record.usage, {
    audio_seconds: 1,
    billable_audio_seconds: 1,
    input_tokens: 0,
    output_tokens: 0,
    charge_usd: "0.001",
  });
  assert.match(record.summary, /^Served by target 1 \(deepgram nova-3\)\. Target 3 .* lacks timestamps\.word/u);

  const replayed = await postForm(gateway.origin, {
    file: AUDIO,
    fields: { timestamps: "word", purpose: "meetings", prompt: "say-nothing-of-this" },
    headers: { "idempotency-key": "first-of-all" },
  });
  assert.equal(replayed.headers.get("x-svc-idempotent-replay"), "true");
  const replay = await recordOf(gateway, replayed);
  assert.deepEqual(replay.idempotency, { key: "replayed", replayed: true });
  assert.deepEqual(replay.decision, { outcome: "none", reason: "replayed" });
  assert.deepEqual([replay.candidates, replay.attempts, replay.usage.charge_usd], [[], [], "0.00"]);
});

test("requests.fallback: after a fallback both calls are listed, and only the second is charged", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 500 } });
  const record = await recordOf(gateway, await postForm(gateway.origin, { file: AUDIO }));
  assert.deepEqual(
    record.attempts.map(({ position, outcome, charge_usd: charge }) => [position, outcome, charge]),
    [
      [1, "failed:server_error", "0.00"],
      [2, "succeeded", "0.002"],
    ],
  );
  assert.deepEqual(
    record.candidates.map(({ outcome }) => outcome),
    ["failed", "served", "not_reached", "left"],
  );
  assert.match(record.summary, /^Served by target 2 .*Target 1 \(deepgram nova-3\) failed \(server error\)\./u);
});

test("requests.fallback: an unknown outcome is recorded as unknown, with the error its caller got", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "cut_reply" } });
  const record = await recordOf(gateway, await postForm(gateway.origin, { file: AUDIO }));
  assert.deepEqual([record.status, record.code], [502, "PROVIDER_RESULT_UNKNOWN"]);
  assert.deepEqual(
    record.attempts.map(({ outcome }) => outcome),
    ["unknown"],
  );
  assert.equal(record.usage.charge_usd, "0.00");
});

test("requests.decision: a dry run leaves its decision and no call", async () => {
  const record = await recordOf(gateway, await postForm(gateway.origin, { file: AUDIO, fields: { dry_run: "true" } }));
  assert.equal(record.asked?.dry_run, true);
  assert.deepEqual([record.decision.outcome, record.attempts], ["routed", []]);
  assert.equal(record.candidates.length, 4);
});

test("requests.chat: chat, plain, streamed and OpenAI-compatible, leaves its tokens and its charge", async () => {
  const plain = await recordOf(gateway, await postChat(gateway.origin, { messages: HELLO }));
  assert.deepEqual([plain.endpoint, plain.asked?.capability, plain.route], ["POST /v1/chat", "chat", "chat"]);
  assert(plain.usage.output_tokens > 0 && plain.usage.charge_usd !== "0.00");
  const streamed = await streamChat(gateway.origin, { messages: HELLO });
  const stream = await recordOf(gateway, streamed.headers.get("x-request-id") ?? "");
  assert.deepEqual([stream.status, stream.code, stream.asked?.stream], [200, null, true]);
  assert.deepEqual(
    stream.attempts.map(({ outcome }) => outcome),
    ["succeeded"],
  );
  const compatible = await postJson(
    gateway.origin,
    { model: "auto", messages: HELLO },
    { path: "/v1/chat/completions" },
  );
  assert.equal((await recordOf(gateway, compatible)).endpoint, "POST /v1/chat/completions");
});

test("requests.fallback, requests.chat: a chat that falls back leaves both calls", async () => {
  gateway.first.behave((call) => json(call, 500, { error: { message: "no" } }));
  const record = await recordOf(gateway, await postChat(gateway.origin, { messages: HELLO }));
  assert.deepEqual(
    record.attempts.map(({ position, outcome }) => [position, outcome]),
    [
      [1, "failed:server_error"],
      [2, "succeeded"],
    ],
  );
});

test("requests.job: a job's record has its job, what its worker decided and the calls it made", async () => {
  const submitted = await submit(gateway.origin, { file: AUDIO });
  await ended(gateway.origin, submitted.job_id);
  const { rows } = {
    rows: await gateway.database.db
      .selectFrom("jobs")
      .select("request_id")
      .where("id", "=", submitted.job_id)
      .execute(),
  };
  const record = await recordOf(gateway, rows[0]?.request_id ?? "");
  assert.equal(record.status, 202);
  assert.deepEqual([record.job?.id, record.job?.status], [submitted.job_id, "succeeded"]);
  assert.deepEqual(
    record.job?.candidates.map(({ outcome }) => outcome),
    ["served", "not_reached", "not_reached", "left"],
  );
  assert.deepEqual(
    record.attempts.map(({ outcome, charge_usd: charge }) => [outcome, charge]),
    [["succeeded", "0.001"]],
  );
});

test("requests.names: without routing:read no provider, model, connection or route is named", async () => {
  const answer = await postForm(gateway.origin, { file: AUDIO });
  const [blind, seeing] = [await recordOf(gateway, answer, KEY), await recordOf(gateway, answer)];
  // With its dash, since the 16 random characters of an id may well hold "gpt", and never a dash.
  assert.doesNotMatch(JSON.stringify(blind), /deepgram|openai|nova|whisper|gpt-|"dg"|"oa"|speech/u);
  assert.match(JSON.stringify(seeing), /"dg".*nova-3/u);
  assert.deepEqual(
    blind.candidates.map(({ position, outcome }) => [position, outcome]),
    seeing.candidates.map(({ position, outcome }) => [position, outcome]),
  );
});
