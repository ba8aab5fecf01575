// Live audio to a provider whose session is configured by a message, and which gets samples of another rate as text.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { call, envelopeIn, errorIn, FINISH, frames, samples, speak, START } from "./setup.ts";

const ALONE_KEY = "key-of-the-app-with-configured-alone";
const MODEL = "gpt-live-transcribe";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { [`openai/${MODEL}`]: "3.6" },
    routes: { pair: [`oa/${MODEL}`, "dg/nova-3"], alone: `oa/${MODEL}` },
    apps: { notes: { key: KEY }, alone: { key: ALONE_KEY } },
  });

const gateway = await startQuietGateway(file);

const SHORT = (): Buffer => samples().subarray(0, 41_600);
const calls = () => gateway.sandbox.calls.map(({ model, outcome }) => [model, outcome]);

test("realtime.sample-format, realtime.slices: samples of 16 kHz are heard as 24 kHz, and metered as they came", async () => {
  const caller = await call(gateway.origin, { key: ALONE_KEY });
  caller.send({ ...START, keyterms: ["Patchbay"], language: "en" });
  for await (const frame of frames(SHORT(), 640)) caller.send(frame);
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const envelope = envelopeIn(caller);
  assert.deepEqual([envelope.duration_seconds, envelope.usage.billable_audio_seconds], [1.3, 1.3]);
  assert.match(envelope.content, /^\[simulated, 0\.0 s to 1\.3 s\]$/u);
  assert.deepEqual([envelope.segments, envelope.words], [[], []]);
  const [sent] = gateway.sandbox.calls;
  assert.equal(sent?.file?.sizeBytes, SHORT().byteLength * 1.5);
  assert.deepEqual([sent?.model, sent?.query], [MODEL, [["intent", "transcription"]]]);
  assert.match(String(sent?.fields.find(([name]) => name === "audio")?.[1]), /"keywords":\["Patchbay"\]/u);
  const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
  assert.equal(
    rows.reduce((sum, row) => sum + Number(row.charge_nano_usd), 0),
    1_300_000,
  );
});

test("realtime.completed, realtime.events: the text arrives while it is spoken, and adds up to the content", async () => {
  const caller = await call(gateway.origin, { key: ALONE_KEY });
  caller.send(START);
  const sound = samples();
  for await (const frame of frames(sound.subarray(0, 32_000 * 3))) caller.send(frame);
  await caller.event("transcript.delta");
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const deltas = caller.events.filter(({ event }) => event === "transcript.delta");
  assert.equal(deltas.length, 2);
  assert.equal(deltas.map(({ data }) => data["text"] ?? data["delta"]).join(""), envelopeIn(caller).content);
});

test("realtime.live-targets: word times, speakers and browser recordings are lacks of this target", async () => {
  for (const [fields, missing] of [
    [{ timestamps: "word" }, ["timestamps.word"]],
    [{ diarization: true }, ["diarization"]],
    [{ encoding: "webm_opus" }, ["live_audio"]],
  ] as const) {
    const caller = await call(gateway.origin, { key: ALONE_KEY });
    const { sample_rate: _, ...rest } = START;
    caller.send("encoding" in fields ? { ...rest, ...fields } : { ...START, ...fields });
    assert.deepEqual(await caller.closed, [1008, "REQUIRED_FEATURE_UNSUPPORTED"]);
    assert.deepEqual(errorIn(caller).details?.["missing"], missing);
  }
  assert.equal(gateway.sandbox.callCount, 0);
});

for (const [what, rule] of [
  ["a refused socket", { wire: "openai", fault: { kind: "status", status: 503 } }],
  ["a refused configuration", { model: MODEL, fault: { kind: "status", status: 503 } }],
] as const) {
  test(`realtime.socket-fallback: ${what} is answered by the next target, for no audio was sent yet`, async () => {
    gateway.sandbox.addFault(rule);
    const caller = await call(gateway.origin);
    await speak(caller, START, SHORT());
    assert.deepEqual(await caller.closed, [1000, ""]);
    const [[, outcome] = [], second] = calls();
    assert.deepEqual([outcome, second], ["wire" in rule ? 503 : 101, ["nova-3", 101]]);
    assert.equal(gateway.sandbox.calls[0]?.file, null);
  });
}

for (const fault of ["cut_stream", "error_event", "no_finish"] as const) {
  test(`realtime.provider-failure: ${fault} in a configured session is one error event and 1011; no other target`, async () => {
    gateway.sandbox.addFault({
      model: MODEL,
      fault: { kind: fault, ...(fault === "no_finish" ? {} : { afterContent: 0 }) },
    });
    const caller = await call(gateway.origin);
    await speak(caller, START, SHORT());
    assert.deepEqual(await caller.closed, [1011, "PROVIDER_RESULT_UNKNOWN"]);
    assert.equal(gateway.sandbox.callCount, 1);
  });
}
