// A live session is routed like any request: test keys, purposes in the start frame and in the upgrade's head, both policies; and a route
// of which no target can answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { generateKey } from "../../../src/auth/key-format.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY } from "../../harness/gateway.ts";
import { pauseIn, resumeIn } from "../../harness/pause.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { scrape } from "../../telemetry/scrape.ts";
import { call, envelopeIn, errorIn, FINISH, samples, speak, START } from "./setup.ts";

const TEST_KEY = generateKey("test");
const STRICT_KEY = "key-of-the-app-that-is-strict-01";
const SHORT = (): Buffer => samples().subarray(0, 32_000);

const NOWHERE = "http://127.0.0.1:9";
const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { "deepgram/nova-3": "3.6" },
    // Nothing listens there: what is answered has not come from it.
    connections: {
      nowhere: { kind: "deepgram", base_url: NOWHERE },
      samples: { kind: "assemblyai", base_url: NOWHERE },
    },
    routes: {
      usual: {
        targets: "dg/nova-3",
        purposes: {
          calls: { route: "calls", defaults: { diarization: true } },
          off: { route: "calls", is_enabled: false },
        },
      },
      calls: "dg/nova-2",
      tested: "nowhere/nova-3",
      "tested-samples": "samples/universal-streaming-english",
    },
    apps: {
      notes: { key: KEY },
      strict: { audio_purpose_policy: "strict", key: STRICT_KEY },
      tested: { purposes: { samples: "tested-samples" }, key: TEST_KEY },
    },
  });

const gateway = await startQuietGateway(file);

for (const [what, fields] of [
  ["the target's wire", {}],
  ["the wire of a target that takes samples alone", { purpose: "samples" }],
] as const) {
  test(`realtime.test-key: a test key is answered by the sandbox over ${what}, at no cost, and marked as simulated`, async () => {
    const caller = await call(gateway.origin, { key: TEST_KEY });
    await speak(caller, { ...START, ...fields }, SHORT());
    assert.deepEqual(await caller.closed, [1000, ""]);
    const envelope = envelopeIn(caller);
    assert.match(envelope.content, /^\[simulated, 0\.0 s to 1\.0 s\]$/u);
    assert.ok(envelope.warnings.some(({ code }) => code === "SIMULATED_PROVIDER"));
    assert.deepEqual([envelope.usage.audio_seconds, envelope.usage.billable_audio_seconds], [1, 0]);
    const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
    assert.ok(rows.length > 0);
    for (const row of rows)
      assert.deepEqual([row.state, row.billing_class, Number(row.charge_nano_usd)], ["settled", "simulated", 0]);
  });
}

for (const [what, fields, headers, model, applied] of [
  ["in the start frame", { purpose: "calls" }, {}, "nova-2", ["calls", "calls", "body"]],
  ["in the upgrade's head", {}, { "x-svc-purpose": "calls" }, "nova-2", ["calls", "calls", "header"]],
  [
    "in both, where the frame rules",
    { purpose: "off" },
    { "x-svc-purpose": "calls" },
    "nova-3",
    ["off", null, "fallback"],
  ],
  ["that is unknown, which falls back", { purpose: "unheard-of" }, {}, "nova-3", ["unheard-of", null, "fallback"]],
  ["not at all", {}, {}, "nova-3", [null, null, "none"]],
] as const) {
  test(`realtime.purpose: a purpose ${what} decides the route, and the envelope says so`, async () => {
    const caller = await call(gateway.origin, { headers });
    await speak(caller, { ...START, ...fields }, SHORT());
    assert.deepEqual(await caller.closed, [1000, ""]);
    const envelope = envelopeIn(caller);
    assert.deepEqual(
      [envelope.svc_requested_purpose, envelope.svc_applied_purpose, envelope.svc_purpose_source],
      applied,
    );
    assert.deepEqual(
      gateway.sandbox.calls.map((each) => each.model),
      [model],
    );
    // The purpose's default.
    assert.equal(envelope.segments[0]?.speaker ?? null, applied[1] === "calls" ? "S1" : null);
    const isNotApplied = applied[2] === "fallback";
    assert.equal(
      envelope.warnings.some(({ code }) => code === "PURPOSE_NOT_APPLIED"),
      isNotApplied,
    );
  });
}

for (const [what, key, fields, headers] of [
  ["of the app", STRICT_KEY, { purpose: "off" }, {}],
  ["of the start frame", KEY, { purpose: "off", purpose_policy: "strict" }, {}],
  ["of the upgrade's head", KEY, {}, { "x-svc-purpose": "off", "x-svc-purpose-policy": "strict" }],
] as const) {
  test(`realtime.purpose, routing.purpose-strict: under the strict policy ${what} an unusable purpose is one error and 1011; no provider is called`, async () => {
    const caller = await call(gateway.origin, { key, headers });
    caller.send({ ...START, ...fields });
    assert.deepEqual(await caller.closed, [1011, "audio_purpose_unavailable"]);
    assert.equal(errorIn(caller).code, "audio_purpose_unavailable");
    assert.equal(gateway.sandbox.callCount, 0);
    assert.deepEqual(await gateway.database.db.selectFrom("attempts").selectAll().execute(), []);
  });
}

test("realtime.socket-fallback: where every target refuses the socket, one error and 1011; each attempt is recorded, at no charge", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 503 } });
  const caller = await call(gateway.origin);
  await speak(caller, START, SHORT());
  assert.deepEqual(await caller.closed, [1011, "NO_HEALTHY_PROVIDER"]);
  assert.equal(errorIn(caller).details?.["reason"], "exhausted");
  const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
  assert.deepEqual(
    rows.map(({ state, outcome, charge_nano_usd: nano }) => [state, outcome, Number(nano)]),
    [["settled", "failed:server_error", 0]],
  );
});

test("requests.answered-model, metrics.substitutions: live audio that another generation of models heard is refused, recorded and counted", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "other_model", name: "nova-2" } });
  const caller = await call(gateway.origin);
  await speak(caller, START, SHORT());
  assert.deepEqual(await caller.closed, [1011, "FEATURE_NOT_DELIVERED"]);
  const [row] = await gateway.database.db.selectFrom("attempts").selectAll().execute();
  assert.equal(row?.outcome, "failed:feature_dropped");
  assert.match(JSON.stringify(row.receipts), /"model".*"answered":"general-nova-2 nova-2/u);
  const { value } = await scrape(gateway.adminOrigin);
  assert.equal(
    value(
      'svc_model_substitutions_total{provider="deepgram",model="nova-3",operation="transcription",outcome="withheld"}',
    ),
    1,
  );
});

for (const [what, audio] of [
  ["no audio at all", Buffer.alloc(0)],
  ["less than a tenth of a second", samples().subarray(0, 3_000)],
] as const) {
  test(`realtime.too-little-audio: a finish after ${what} is INVALID_AUDIO, as of a file, and costs nothing`, async () => {
    const caller = await call(gateway.origin);
    caller.send(START);
    if (audio.byteLength > 0) caller.send(audio);
    caller.send(FINISH);
    assert.deepEqual(await caller.closed, [1008, "INVALID_AUDIO"]);
    assert.equal(errorIn(caller).code, "INVALID_AUDIO");
    const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
    for (const { state, charge_nano_usd: nano } of rows) assert.deepEqual([state, Number(nano)], ["settled", 0]);
  });
}

test("realtime.paused-target: no socket is opened to a paused model: the session is refused as when all targets are unavailable", async () => {
  const until = await pauseIn(gateway, "dg", "nova-3");
  gateway.sandbox.clearCalls();
  try {
    const caller = await call(gateway.origin);
    await speak(caller, START, SHORT());
    await caller.closed;
    const { code, message, retryable } = errorIn(caller);
    assert.deepEqual([code, retryable], ["NO_HEALTHY_PROVIDER", true]);
    assert.match(message, new RegExp(`paused manually until ${until}`, "u"));
    assert.equal(gateway.sandbox.callCount, 0);
  } finally {
    await resumeIn(gateway);
  }
});
