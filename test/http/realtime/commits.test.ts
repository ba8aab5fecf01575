// Live audio to a provider whose audio is text and is committed by the gateway, and whose session only the gateway ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { scrape } from "../../telemetry/scrape.ts";
import { call, envelopeIn, errorIn, FINISH, frames, samples, settledAttempts, speak, START } from "./setup.ts";

const ALONE_KEY = "key-of-the-app-with-commits-alone";
const EXACT_KEY = "key-of-the-app-with-the-exact-model";
const MODEL = "scribe_v2_realtime";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { [`elevenlabs/${MODEL}`]: "3.6" },
    routes: {
      pair: [`el/${MODEL}`, "dg/nova-3"],
      alone: `el/${MODEL}`,
      exact: { targets: `el/${MODEL}`, require_exact_model: true },
    },
    apps: { notes: { key: KEY }, alone: { key: ALONE_KEY }, exact: { key: EXACT_KEY } },
  });

const gateway = await startQuietGateway(file);

/** 1.3 s: what may be ahead of its time, and a little. */
const SHORT = (): Buffer => samples().subarray(0, 41_600);
const calls = () => gateway.sandbox.calls.map(({ model, outcome }) => [model, outcome]);

test("realtime.slices, providers.live-commits: frames of 20 ms become a transcript with word times, metered to the millisecond", async () => {
  const caller = await call(gateway.origin, { key: ALONE_KEY });
  caller.send({ ...START, timestamps: "both", language: "de" });
  for await (const frame of frames(SHORT(), 640)) caller.send(frame);
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const envelope = envelopeIn(caller);
  assert.equal(envelope.duration_seconds, 1.3);
  assert.equal(envelope.usage.billable_audio_seconds, 1.3);
  assert.match(envelope.content, /^\[simulated, 0\.0 s to 1\.3 s\]$/u);
  assert.deepEqual([envelope.segments.length, envelope.words.length > 3], [1, true]);
  const sent = await gateway.sandbox.waitForCall(({ file }) => file !== null);
  // The last 40 ms are said with the silence that makes a frame of them.
  assert.deepEqual([sent.file?.sizeBytes, sent.aborted], [SHORT().byteLength + 320, false]);
  const query = new Map(sent.query);
  assert.deepEqual([query.get("audio_format"), query.get("language_code")], ["pcm_16000", "de"]);
  const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
  assert.deepEqual(
    [rows.every(({ state }) => state === "settled"), rows.reduce((sum, row) => sum + Number(row.charge_nano_usd), 0)],
    [true, 1_300_000],
  );
});

for (const [feature, wish] of [
  ["diarization", { diarization: true }],
  ["redaction.pii", { redaction: ["pii"] }],
] as const) {
  test(`providers.declared-features: ${feature}, which the live model lacks, is refused instead of dropped`, async () => {
    const caller = await call(gateway.origin, { key: ALONE_KEY });
    caller.send({ ...START, ...wish });
    assert.deepEqual(await caller.closed, [1008, "REQUIRED_FEATURE_UNSUPPORTED"]);
    assert.deepEqual(errorIn(caller).details?.["missing"], [feature]);
    assert.equal(gateway.sandbox.callCount, 0);
  });
}

test("realtime.socket-fallback: a refused socket is answered by the next target, for nothing was said yet", async () => {
  gateway.sandbox.addFault({ model: MODEL, fault: { kind: "status", status: 503 } });
  const caller = await call(gateway.origin);
  await speak(caller, START, SHORT());
  assert.deepEqual(await caller.closed, [1000, ""]);
  assert.deepEqual(calls(), [
    [MODEL, 503],
    ["nova-3", 101],
  ]);
});

for (const fault of ["cut_stream", "error_event", "no_finish", "reset_after_body"] as const) {
  test(`realtime.provider-failure: ${fault} at the provider is one error event and 1011; no other target, and usage recorded`, async () => {
    const isInStream = fault === "cut_stream" || fault === "error_event";
    gateway.sandbox.addFault({
      model: MODEL,
      fault: { kind: fault, ...(isInStream ? { afterContent: 0 } : {}) },
    });
    const caller = await call(gateway.origin);
    await speak(caller, START, SHORT());
    assert.deepEqual(await caller.closed, [1011, "PROVIDER_RESULT_UNKNOWN"]);
    assert.equal(gateway.sandbox.callCount, 1);
    const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
    assert.ok(
      rows.length > 0 && rows.every(({ state, charge_nano_usd: nano }) => state === "settled" && Number(nano) === 0),
    );
  });
}

test("realtime.caller-disconnect: a caller who hangs up stops the provider", async () => {
  const caller = await call(gateway.origin);
  caller.send(START);
  for await (const frame of frames(SHORT())) caller.send(frame);
  await gateway.sandbox.waitForCall(({ outcome }) => outcome === 101);
  caller.socket.terminate();
  await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  assert.ok((await settledAttempts(gateway)).length > 0);
});

test("requests.answered-model: another model under the asked name is recorded with the session", async () => {
  gateway.sandbox.addFault({ model: MODEL, fault: { kind: "other_model", name: "scribe_v3_live" } });
  const caller = await call(gateway.origin, { key: ALONE_KEY });
  await speak(caller, START, SHORT());
  assert.deepEqual(await caller.closed, [1000, ""]);
  const [row] = await gateway.database.db.selectFrom("attempts").selectAll().execute();
  assert.equal(row?.outcome, "succeeded");
  assert.match(JSON.stringify(row.receipts), /"model","answered":"scribe_v3_live","delivered":false/u);
});

test("routing.exact-model, metrics.substitutions: where the exact model is required, a session of another one ends with an error instead of a transcript", async () => {
  const caller = await call(gateway.origin, { key: EXACT_KEY });
  await speak(caller, START, SHORT());
  assert.deepEqual(await caller.closed, [1000, ""], "the asked model");
  gateway.sandbox.addFault({ model: MODEL, fault: { kind: "other_model", name: "scribe_v3_live" } });
  const swapped = await call(gateway.origin, { key: EXACT_KEY });
  await speak(swapped, START, SHORT());
  const [code] = await swapped.closed;
  assert.notEqual(code, 1000);
  assert.equal(errorIn(swapped).code, "FEATURE_NOT_DELIVERED");
  assert.ok(!swapped.events.some(({ event }) => event === "transcript.completed"));
  const { value } = await scrape(gateway.adminOrigin);
  const labels = `provider="elevenlabs",model="${MODEL}",operation="transcription",outcome="withheld"`;
  assert.equal(value(`svc_model_substitutions_total{${labels}}`), 1);
});
