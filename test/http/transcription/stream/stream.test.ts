// POST /v1/transcription with `stream: true`: events from targets that stream, and from no others.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { errorBody } from "../../../../src/contract/error-body.ts";
import { routingDecision } from "../../../../src/contract/transcription/transcription-envelope.ts";
import { pcmWav, silence } from "../../../audio/pcm.ts";
import { detailsOf, postForm, type TranscriptionCall } from "../../../harness/client.ts";
import { configurationWith } from "../../../harness/configuration.ts";
import { KEY } from "../../../harness/gateway.ts";
import { startQuietGateway } from "../../../harness/quiet-gateway.ts";
import { until } from "../../../harness/until.ts";
import { attempts, completed, deltas, names, segments, streamForm } from "./streamed.ts";

const SILENT_KEY = "key-of-the-app-that-cannot-stream";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { "openai/gpt-4o-transcribe": "3.6" },
    routes: {
      speech: ["el/scribe_v2", "oa/gpt-4o-transcribe", "oa/gpt-4o-mini-transcribe", "oa/gpt-4o-transcribe-diarize"],
      whole: ["el/scribe_v2", "oa/whisper-1"],
    },
    apps: { notes: { key: KEY }, whole: { key: SILENT_KEY } },
  });

const gateway = await startQuietGateway(file);

const stream = (call: Parameters<typeof streamForm>[1] = {}) => streamForm(gateway.origin, call);

test("transcription.stream, transcription.stream-whole: the text comes in pieces that are the whole, then the envelope, from the first target that streams", async () => {
  const streamed = await stream();
  assert.deepEqual(names(streamed), ["transcript.delta", "transcript.completed"]);
  const envelope = completed(streamed);
  const texts = deltas(streamed);
  assert.ok(texts.length > 2);
  assert.equal(texts.join(""), envelope.content);
  assert.equal(envelope.usage.billable_audio_seconds, envelope.usage.audio_seconds);
  assert.deepEqual(
    gateway.sandbox.calls.map(({ model, outcome }) => [model, outcome]),
    [["gpt-4o-transcribe", 200]],
  );
});

test("transcription.stream-whole: speakers come segment by segment, named as in the envelope", async () => {
  const streamed = await stream({ fields: { diarization: "true" } });
  assert.deepEqual(names(streamed), ["transcript.segment", "transcript.completed"]);
  assert.deepEqual(segments(streamed), completed(streamed).segments);
  assert.deepEqual(
    segments(streamed).map(({ speaker }) => speaker),
    ["S1", "S2"],
  );
});

test("transcription.stream: mode realtime is the same stream", async () => {
  const streamed = await stream({ fields: { stream: "false", mode: "realtime" } });
  assert.deepEqual(names(streamed), ["transcript.delta", "transcript.completed"]);
});

test("transcription.stream: an Accept for events alone gets them, and an Accept for text does not turn a stream into one", async () => {
  for (const accept of ["text/event-stream", "text/event-stream, text/plain"]) {
    assert.equal(names(await stream({ headers: { accept } })).at(-1), "transcript.completed");
  }
});

test("transcription.stream-whole: silence is a stream of its end alone", async () => {
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "empty" } });
  const streamed = await stream({ file: pcmWav(silence(1)) });
  assert.deepEqual(names(streamed), ["transcript.completed"]);
  assert.equal(completed(streamed).content, "");
});

const ask = (call: TranscriptionCall = {}) =>
  postForm(gateway.origin, { ...call, fields: { stream: "true", ...call.fields } });

test("transcription.stream-required: a route without a target that streams refuses: 422, nothing called", async () => {
  const answer = await ask({ key: SILENT_KEY });
  assert.deepEqual([answer.status, answer.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(detailsOf(answer)["missing"], ["streaming"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("transcription.stream-required: word times, which no streaming target has, refuse a stream and are not dropped", async () => {
  assert.equal((await ask({ fields: { timestamps: "word" } })).code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.equal(gateway.sandbox.callCount, 0);
});

test("transcription.stream-required, routing.dry-run-decision: dry_run of a stream shows which targets stream, as JSON", async () => {
  const answer = await ask({ fields: { dry_run: "true" }, headers: { accept: "application/json" } });
  // As the stream itself would be asked for.
  const same = await ask({ fields: { dry_run: "true" }, headers: { accept: "text/event-stream" } });
  assert.deepEqual([same.status, same.json], [200, answer.json]);
  const { candidates } = routingDecision.parse(answer.json);
  assert.deepEqual(
    candidates.map(({ eligible }) => eligible),
    [false, true, true, true],
  );
});

test("transcription.stream-no-key: a stream ignores an idempotency key: the same one streams again, and a malformed one streams", async () => {
  const headers = { "Idempotency-Key": "stream-1" };
  await stream({ headers });
  await stream({ headers });
  await stream({ headers: { "Idempotency-Key": "none at all" } });
  assert.equal(gateway.sandbox.callCount, 3);
});

test("transcription.stream-fallback: until the first content a failure is answered by the next target", async () => {
  gateway.sandbox.addFault({ model: "gpt-4o-transcribe", fault: { kind: "status", status: 500 } });
  const streamed = await stream();
  assert.equal(names(streamed).at(-1), "transcript.completed");
  assert.deepEqual(await attempts(gateway), [
    ["gpt-4o-transcribe", "failed:server_error", 0],
    ["gpt-4o-mini-transcribe", "succeeded", 0],
  ]);
});

test("transcription.stream-fallback: when every target fails before its first content, the answer is an ordinary error", async () => {
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 503 } });
  const answer = await ask();
  assert.deepEqual([answer.status, answer.code], [503, "NO_HEALTHY_PROVIDER"]);
});

test("transcription.stream-broken: a stream cut after its first content ends with one error event; no other target, no charge", async () => {
  gateway.sandbox.addFault({ model: "gpt-4o-transcribe", fault: { kind: "cut_reply" } });
  const streamed = await stream();
  assert.deepEqual(names(streamed), ["transcript.delta", "error"]);
  assert.equal(errorBody.parse(streamed.events.at(-1)?.data).error.code, "PROVIDER_RESULT_UNKNOWN");
  assert.equal(gateway.sandbox.callCount, 1);
  assert.deepEqual(await attempts(gateway), [["gpt-4o-transcribe", "unknown", 0]]);
});

test("transcription.stream-hang-up: a caller who hangs up stops the provider, and the attempt is charged as run", async () => {
  gateway.sandbox.addFault({ model: "gpt-4o-transcribe", fault: { kind: "pace", ms: 200 } });
  const streamed = await stream({ hangsUp: true });
  assert.ok(!names(streamed).includes("transcript.completed"));
  await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  await until(async () => (await attempts(gateway))[0]?.[1] != null);
  const [[, outcome, billedMs] = []] = await attempts(gateway);
  assert.deepEqual([outcome, Number(billedMs) > 0], ["aborted", true]);
});

test("compatible.audio-stream: OpenAI's endpoint streams in OpenAI's events", async () => {
  const { text } = await stream({ path: "/v1/audio/transcriptions", fields: { model: "auto" } });
  const events = text
    .trim()
    .split("\n\n")
    .map((line) => JSON.parse(line.replace(/^data: /u, "")) as Record<string, unknown>);
  assert.deepEqual([...new Set(events.map(({ type }) => type))], ["transcript.text.delta", "transcript.text.done"]);
  const pieces = events.slice(0, -1).map(({ delta }) => delta);
  assert.equal(pieces.join(""), events.at(-1)?.["text"]);
});
