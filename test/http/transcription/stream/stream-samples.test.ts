// `stream: true` from a model that accepts bare samples alone and listens no faster than speech: a recording is decoded here first, and
// one that cannot be decoded is not sent.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Sandbox } from "../../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { fixture } from "../../../audio/build-audio.ts";
import { pcmWav, syllables } from "../../../audio/pcm.ts";
import { detailsOf, postForm } from "../../../harness/client.ts";
import { configurationWith } from "../../../harness/configuration.ts";
import { KEY } from "../../../harness/gateway.ts";
import { startQuietGateway } from "../../../harness/quiet-gateway.ts";
import { until } from "../../../harness/until.ts";
import { attempts, completed, deltas, segments, streamForm } from "./streamed.ts";

const PAIR_KEY = "test-key-of-the-pair-app-000001";
const MODEL = "universal-streaming-english";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { [`assemblyai/${MODEL}`]: "0.36" },
    routes: { samples: `aa/${MODEL}`, pair: [`aa/${MODEL}`, "dg/nova-3"] },
    apps: { notes: { key: KEY }, pair: { key: PAIR_KEY } },
  });

const gateway = await startQuietGateway(file);

/** Two channels at 8 kHz. */
const SECONDS = 1.2;
const sound = syllables(SECONDS, 8_000);
const stereo = (mono: Int16Array): Uint8Array =>
  pcmWav(
    Int16Array.from({ length: mono.length * 2 }, (_, index) => mono[index >> 1] ?? 0),
    8_000,
    2,
  );

/** Of the app whose one target takes samples, and sounds for `SECONDS`, unless said otherwise. */
const stream = (call: Parameters<typeof streamForm>[1] = {}) =>
  streamForm(gateway.origin, { file: stereo(sound), ...call });

test("transcription.stream-socket: a recording of two channels is decoded to one, and goes over the socket at its own rate", async () => {
  const streamed = await stream();
  const envelope = completed(streamed);
  assert.equal(deltas(streamed).join(""), envelope.content);
  assert.match(envelope.content, /^\[simulated, 0\.0 s to 1\.2 s\]$/u);
  assert.equal(envelope.duration_seconds, SECONDS);
  const [call] = gateway.sandbox.calls;
  assert.deepEqual(
    [call?.model, call?.outcome, call?.aborted, call?.file?.sizeBytes],
    [MODEL, 101, false, sound.byteLength],
  );
  assert.deepEqual(call?.query.find(([name]) => name === "sample_rate")?.[1], "8000");
  assert.deepEqual(await attempts(gateway), [[MODEL, "succeeded", 1_200]]);
});

test("transcription.stream-whole: speakers and word times come, segment by segment as in the envelope", async () => {
  const streamed = await stream({ fields: { diarization: "true", timestamps: "both", keyterms: "Patchbay" } });
  const envelope = completed(streamed);
  assert.deepEqual(segments(streamed), envelope.segments);
  assert.equal(envelope.segments[0]?.speaker, "S1");
  assert.ok(envelope.words.length > 3);
  assert.ok(
    gateway.sandbox.calls[0]?.query.some(([name, value]) => name === "keyterms_prompt" && value === '["Patchbay"]'),
  );
});

test("routing.decoder, transcription.stream-required: what cannot be decoded here is not eligible, and neither is what is not streamed", async () => {
  const compressed = await postForm(gateway.origin, { file: fixture("speech.m4a"), fields: { stream: "true" } });
  assert.deepEqual([compressed.status, compressed.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(detailsOf(compressed)["missing"], ["decoder"]);
  const whole = await postForm(gateway.origin);
  assert.deepEqual([whole.status, detailsOf(whole)["missing"]], [422, ["batch"]]);
  const redacted = await postForm(gateway.origin, { fields: { stream: "true", redaction: "pii" } });
  assert.deepEqual(detailsOf(redacted)["missing"], ["redaction.pii"]);
  assert.equal(gateway.sandbox.callCount, 0);
  const other = await postForm(gateway.origin, { key: PAIR_KEY });
  assert.equal(other.status, 200);
  assert.deepEqual(
    gateway.sandbox.calls.map(({ model }) => model),
    ["nova-3"],
  );
});

for (const [name, fault, outcome] of [
  ["a refused upgrade", { kind: "status", status: 503 }, "failed:server_error"],
  ["too many sessions", { kind: "status", status: 429 }, "failed:rate_limited"],
  ["an error instead of a beginning", { kind: "error_body" }, "failed:server_error"],
  ["nonsense instead of a beginning", { kind: "garbage" }, "failed:bad_reply"],
] as const) {
  test(`transcription.stream-socket: ${name} cost nothing, and the next target answers`, async () => {
    gateway.sandbox.addFault({ model: MODEL, fault });
    assert.equal((await stream({ key: PAIR_KEY })).events.at(-1)?.event, "transcript.completed");
    assert.deepEqual(await attempts(gateway), [
      [MODEL, outcome, 0],
      ["nova-3", "succeeded", 0],
    ]);
  });
}

test("transcription.stream-receipts: speakers that are dropped show when the stream is whole, which then is not completed", async () => {
  gateway.sandbox.addFault({ model: MODEL, fault: { kind: "drop", feature: "diarization" } });
  const { events } = await stream({ fields: { diarization: "true" } });
  assert.deepEqual(
    [events.at(-1)?.event, JSON.stringify(events.at(-1)?.data).includes("FEATURE_NOT_DELIVERED")],
    ["error", true],
  );
});

test("transcription.stream-hang-up: a caller who hangs up stops the socket, is charged as run, and nothing decoded remains", async () => {
  gateway.sandbox.addFault({ model: MODEL, fault: { kind: "stall_stream", afterContent: 1 } });
  await stream({ file: stereo(syllables(2 * SECONDS, 8_000)), hangsUp: true });
  await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  await until(async () => (await attempts(gateway))[0]?.[1] != null);
  assert.deepEqual(await attempts(gateway), [[MODEL, "aborted", 2_400]]);
  const left = await readdir(join(gateway.dataDir, "spool")).catch(() => []);
  assert.deepEqual(left, []);
});

test("transcription.no-echo: no credential and nothing of a transcript is in the log", () => {
  const log = gateway.logs.join("\n");
  assert.ok(!log.includes("aa-secret") && !log.includes("simulated, 0.0"));
});
