// `stream: true` from providers that transcribe over a socket, fed from the spool.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { configurationWith } from "../../../harness/configuration.ts";
import { errorBody } from "../../../../src/contract/error-body.ts";
import { detailsOf, postForm, speech } from "../../../harness/client.ts";
import { KEY } from "../../../harness/gateway.ts";
import { startQuietGateway } from "../../../harness/quiet-gateway.ts";
import { until } from "../../../harness/until.ts";
import { attempts, completed, deltas, names, segments, streamForm } from "./streamed.ts";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { "deepgram/nova-3": "0.36" },
    connections: { dg: { kind: "deepgram", api_key: "dg-secret-abcd" } },
    routes: { speech: ["dg/nova-3", "dg/nova-2"] },
    apps: { notes: { key: KEY } },
  });

const gateway = await startQuietGateway(file);

const stream = (call: Parameters<typeof streamForm>[1] = {}) => streamForm(gateway.origin, call);
const outcomes = async () =>
  (await attempts(gateway)).map(([model, outcome, billedMs]) => [model, outcome, billedMs > 0]);

test("transcription.stream-socket, transcription.stream-whole: a file goes through Deepgram's socket, and its results come as text that is the whole", async () => {
  const streamed = await stream();
  const envelope = completed(streamed);
  const texts = deltas(streamed);
  assert.ok(texts.length > 2);
  assert.equal(texts.join(""), envelope.content);
  assert.match(envelope.content, /^\[simulated, 0\.0 s to 2\.0 s\] /u);
  assert.deepEqual(await outcomes(), [["nova-3", "succeeded", true]]);
  const [call] = gateway.sandbox.calls;
  assert.deepEqual(
    [call?.outcome, call?.aborted, call?.file?.sizeBytes, call?.headers["authorization"]],
    [101, false, speech().byteLength, "Token …abcd"],
  );
});

test("transcription.stream-whole: speakers and word times come over the socket too, segment by segment as in the envelope", async () => {
  const streamed = await stream({ fields: { diarization: "true", timestamps: "both" } });
  const envelope = completed(streamed);
  assert.deepEqual(segments(streamed), envelope.segments);
  assert.deepEqual([...new Set(envelope.segments.map(({ speaker }) => speaker))], ["S1", "S2"]);
  assert.ok(envelope.words.length > 10);
  assert.ok(gateway.sandbox.calls[0]?.query.some(([name, value]) => name === "diarize_model" && value === "v1"));
});

test("transcription.stream-whole: silence is a stream of its end alone", async () => {
  gateway.sandbox.addFault({ fault: { kind: "empty" } });
  assert.deepEqual(names(await stream()), ["transcript.completed"]);
});

for (const [name, fault, outcome] of [
  ["a refused upgrade", { kind: "status", status: 503 }, "failed:server_error"],
  ["an upgrade refused as a gateway does it", { kind: "status", status: 502 }, "failed:server_error"],
  ["too many streams", { kind: "status", status: 429 }, "failed:rate_limited"],
  ["a bad key", { kind: "status", status: 401 }, "failed:unauthorized"],
  ["a connection cut before the upgrade", { kind: "reset_before_body" }, "failed:connect"],
] as const) {
  test(`transcription.stream-socket: ${name} cost nothing, and the next target answers`, async () => {
    gateway.sandbox.addFault({ model: "nova-3", fault });
    assert.equal((await stream()).events.at(-1)?.event, "transcript.completed");
    assert.deepEqual(await outcomes(), [
      ["nova-3", outcome, false],
      ["nova-2", "succeeded", false],
    ]);
  });
}

for (const [name, fault] of [
  ["a socket that breaks", { kind: "reset_after_body" }],
  ["a goodbye without an end", { kind: "error_body" }],
] as const) {
  test(`transcription.stream-socket: ${name} after the audio was sent is unknown: no other target, no charge`, async () => {
    gateway.sandbox.addFault({ model: "nova-3", fault: { ...fault } });
    if (fault.kind === "error_body") gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "empty" } });
    const answer = await postForm(gateway.origin, { fields: { stream: "true" } });
    const streamedError = /event: error\ndata: (.+)/u.exec(answer.text)?.[1];
    const code = streamedError === undefined ? answer.code : errorBody.parse(JSON.parse(streamedError)).error.code;
    assert.equal(code, "PROVIDER_RESULT_UNKNOWN", answer.text);
    assert.deepEqual(await outcomes(), [["nova-3", "unknown", false]]);
  });
}

for (const fault of ["cut_stream", "error_event", "no_finish"] as const) {
  test(`transcription.stream-broken: ${fault} after the first text is one error event and the end; no other target, no charge`, async () => {
    gateway.sandbox.addFault({ model: "nova-3", fault: { kind: fault } });
    const { events } = await stream();
    assert.equal(events.filter(({ event }) => event === "error").length, 1);
    assert.equal(errorBody.parse(events.at(-1)?.data).error.code, "PROVIDER_RESULT_UNKNOWN");
    assert.ok(events.some(({ event }) => event === "transcript.delta"));
    assert.deepEqual(await outcomes(), [["nova-3", "unknown", false]]);
  });
}

test("transcription.stream-receipts: a dropped feature shows when the stream is whole, which then is not completed", async () => {
  gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "drop", feature: "diarization" } });
  const { events } = await stream({ fields: { diarization: "true" } });
  assert.equal(errorBody.parse(events.at(-1)?.data).error.code, "FEATURE_NOT_DELIVERED");
});

test("transcription.stream-required, providers.declared-features: redaction that the socket does not document is refused and not sent", async () => {
  const answer = await postForm(gateway.origin, { fields: { stream: "true", redaction: "pii" } });
  assert.deepEqual([answer.status, answer.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(detailsOf(answer)["missing"], ["redaction.pii"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("transcription.stream-hang-up: a caller who hangs up stops the socket, and the attempt is charged as run", async () => {
  gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "stall_stream", afterContent: 1 } });
  await stream({ hangsUp: true });
  await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  await until(async () => (await outcomes())[0]?.[1] != null);
  assert.deepEqual(await outcomes(), [["nova-3", "aborted", true]]);
});

test("transcription.no-echo: nothing of a transcript or of a credential is in the log", () => {
  const log = gateway.logs.join("\n");
  assert.ok(!log.includes("simulated, 0.0"));
  assert.ok(!log.includes("dg-secret"));
});
