// Live audio to a provider that accepts bare samples alone, no faster than they are spoken.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { fixture } from "../../audio/build-audio.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { call, envelopeIn, errorIn, FINISH, frames, samples, settledAttempts, speak, START } from "./setup.ts";

const ALONE_KEY = "key-of-the-app-with-samples-alone";
const MODEL = "universal-streaming-english";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { [`assemblyai/${MODEL}`]: "3.6" },
    routes: { pair: [`aa/${MODEL}`, "dg/nova-3"], alone: `aa/${MODEL}` },
    apps: { notes: { key: KEY }, alone: { key: ALONE_KEY } },
  });

const gateway = await startQuietGateway(file);

/** 1.3 s: what may be ahead of its time, and a little. */
const SHORT = (): Buffer => samples().subarray(0, 41_600);
const calls = () => gateway.sandbox.calls.map(({ model, outcome }) => [model, outcome]);

test("realtime.slices, realtime.encodings: frames of 20 ms become a transcript, metered to the millisecond", async () => {
  const caller = await call(gateway.origin, { key: ALONE_KEY });
  caller.send({ ...START, diarization: true, timestamps: "word" });
  for await (const frame of frames(SHORT(), 640)) caller.send(frame);
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const envelope = envelopeIn(caller);
  assert.equal(envelope.duration_seconds, 1.3);
  assert.equal(envelope.usage.billable_audio_seconds, 1.3);
  assert.match(envelope.content, /^\[simulated, 0\.0 s to 1\.3 s\]$/u);
  assert.deepEqual([envelope.segments[0]?.speaker, envelope.words.length > 3], ["S1", true]);
  const [sent] = gateway.sandbox.calls;
  // The last 40 ms are said with the silence that makes a frame of them.
  assert.equal(sent?.file?.sizeBytes, SHORT().byteLength + 320);
  assert.equal(sent?.query.find(([name]) => name === "sample_rate")?.[1], "16000");
  const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
  assert.deepEqual(
    [rows.every(({ state }) => state === "settled"), rows.reduce((sum, row) => sum + Number(row.charge_nano_usd), 0)],
    [true, 1_300_000],
  );
});

test("realtime.browser-audio: what a browser records is sent to a target that accepts it as it is, or refused", async () => {
  const recording = Buffer.from(fixture("speech-live.webm"));
  const caller = await call(gateway.origin);
  await speak(caller, { type: "start", encoding: "webm_opus" }, recording);
  assert.deepEqual(await caller.closed, [1000, ""]);
  assert.deepEqual(calls(), [["nova-3", 101]]);
  const alone = await call(gateway.origin, { key: ALONE_KEY });
  alone.send({ type: "start", encoding: "webm_opus" });
  assert.deepEqual(await alone.closed, [1008, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(errorIn(alone).details?.["missing"], ["live_audio"]);
});

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

for (const fault of ["cut_stream", "error_event", "no_finish"] as const) {
  test(`realtime.provider-failure: ${fault} at the provider is one error event and 1011; no other target, and usage recorded`, async () => {
    gateway.sandbox.addFault({
      model: MODEL,
      fault: { kind: fault, ...(fault === "no_finish" ? {} : { afterContent: 0 }) },
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

test("realtime.caller-disconnect: a caller who hangs up stops the provider, and is charged for what was sent", async () => {
  const caller = await call(gateway.origin);
  caller.send(START);
  for await (const frame of frames(samples().subarray(0, 32_000 * 2))) caller.send(frame);
  await caller.event("transcript.delta");
  caller.socket.terminate();
  await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  const rows = await settledAttempts(gateway);
  assert.equal(
    rows.reduce((sum, row) => sum + Number(row.charge_nano_usd), 0),
    2_000_000,
  );
});
