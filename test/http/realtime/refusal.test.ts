// What a live transcription refuses, before the upgrade and after it, and how it ends when something breaks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startGateway } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { until } from "../../harness/until.ts";
import {
  call,
  CHAT_KEY,
  COUNTED_KEY,
  errorIn,
  FILES_KEY,
  FINISH,
  frames,
  NARROW_KEY,
  POOR_KEY,
  realtimeFile,
  refused,
  samples,
  settledAttempts,
  speak,
  START,
  UNFUNDED_KEY,
  UNFUNDED_PRICED_KEY,
} from "./setup.ts";

const gateway = await startQuietGateway(realtimeFile);

const attempts = () => gateway.database.db.selectFrom("attempts").selectAll().orderBy("id").execute();

test("realtime.refused-before-upgrade, realtime.key-in-header: no key, a wrong one and one in the URL are 401 before the upgrade, in the one body", async () => {
  for (const options of [
    { key: null },
    { key: "no-key-that-anybody-ever-had-0001" },
    { key: null, query: "?token=test-key-of-the-notes-app-01" },
    { key: null, protocols: ["patchbay.v1", "patchbay.token.nonsense"] },
  ]) {
    const answer = await refused(gateway.origin, options);
    assert.deepEqual([answer.status, answer.code], [401, "UNAUTHENTICATED"]);
    assert.equal(answer.headers["www-authenticate"], "Bearer");
    assert.match(String(answer.headers["x-request-id"]), /^req_/u);
  }
});

test("realtime.refused-before-upgrade: a key without the scope is 403 before the upgrade", async () => {
  const answer = await refused(gateway.origin, { key: CHAT_KEY });
  assert.deepEqual([answer.status, answer.code], [403, "FORBIDDEN"]);
});

test("realtime.not-an-upgrade: a request that is no upgrade is 400 with the reason", async () => {
  const response = await fetch(`${gateway.origin}/v1/transcription/realtime`, {
    headers: { authorization: `Bearer ${FILES_KEY}` },
  });
  const body = (await response.json()) as { error: { code: string } };
  assert.deepEqual([response.status, body.error.code], [400, "INVALID_REQUEST"]);
});

test("realtime.concurrency: as many sessions at once as the quota has, and a place again when one is over", async () => {
  const first = await call(gateway.origin, { key: NARROW_KEY });
  // As the 101 said it, with its own place taken.
  assert.equal(first.headers["ratelimit"], '"concurrent";r=0');
  const answer = await refused(gateway.origin, { key: NARROW_KEY });
  assert.deepEqual([answer.status, answer.code], [429, "CONCURRENCY_LIMITED"]);
  await speak(first);
  await first.closed;
  await until(async () => {
    const next = await call(gateway.origin, { key: NARROW_KEY }).catch(() => null);
    next?.socket.terminate();
    return next !== null;
  });
});

for (const [name, send, code] of [
  ["audio before the start", [Buffer.alloc(320)], "INVALID_REQUEST"],
  ["a start that is no JSON", ["{"], "INVALID_REQUEST"],
  ["an unknown field", [{ ...START, color: "blue" }], "INVALID_REQUEST"],
  ["a mode that no socket has", [{ ...START, mode: "batch" }], "INVALID_REQUEST"],
  ["a model", [{ ...START, model: "nova-3" }], "ROUTE_CONTROL_FIELD_REJECTED"],
  ["another rate", [{ ...START, sample_rate: 8_000 }], "INVALID_REQUEST"],
  ["another encoding", [{ ...START, encoding: "mp3" }], "INVALID_REQUEST"],
  ["a second start", [START, START], "INVALID_REQUEST"],
  ["audio after the finish", [START, FINISH, Buffer.alloc(320)], "INVALID_REQUEST"],
  ["a frame that is too long", [START, Buffer.alloc(65_537)], "INVALID_REQUEST"],
  ["a whole recording in one frame", [START, Buffer.alloc(3_000_000)], "INVALID_REQUEST"],
  ["a recording that is none", [{ ...START, encoding: "webm_opus" }, Buffer.alloc(320, 7)], "INVALID_AUDIO"],
] as const) {
  test(`realtime.invalid-frame, realtime.encodings: ${name} is one typed error and 1008`, async () => {
    const caller = await call(gateway.origin);
    for (const frame of send) {
      if (typeof frame === "string") caller.socket.send(frame);
      else caller.send(frame);
    }
    assert.deepEqual(await caller.closed, [1008, code]);
    assert.equal(errorIn(caller).code, code);
    assert.ok(
      (await attempts()).every(({ state, charge_nano_usd: charge }) => state === "settled" && Number(charge) === 0),
    );
  });
}

test("realtime.invalid-frame: a text frame that is no text is one typed error and 1008", async () => {
  const caller = await call(gateway.origin);
  caller.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
  assert.deepEqual(await caller.closed, [1008, "INVALID_REQUEST"]);
  assert.equal(errorIn(caller).code, "INVALID_REQUEST");
});

test("realtime.caller-close: a caller's own close is answered, whatever its code", async () => {
  for (const code of [1000, 1009, 3_000]) {
    const caller = await call(gateway.origin);
    caller.socket.close(code);
    assert.deepEqual(await caller.closed, [code, ""]);
  }
});

test("realtime.frame-rate: a flood of frames is one typed error and 1008", async () => {
  const caller = await call(gateway.origin);
  caller.send(START);
  for (let sent = 0; sent < 600; sent += 1) caller.send(Buffer.alloc(2));
  assert.deepEqual(await caller.closed, [1008, "RATE_LIMITED"]);
});

test("realtime.audio-quota: the quota of audio seconds counts what was spoken, not the slices reserved for it", async () => {
  const utterance = samples().subarray(0, 16_000);
  for (let spoken = 0; spoken < 2; spoken += 1) {
    const caller = await call(gateway.origin, { key: COUNTED_KEY });
    await speak(caller, START, utterance);
    assert.deepEqual(await caller.closed, [1000, ""]);
  }
  const last = await call(gateway.origin, { key: COUNTED_KEY });
  await speak(last);
  assert.deepEqual(await last.closed, [1008, "RATE_LIMITED"]);
});

test("realtime.live-targets: a route whose targets accept files alone refuses: no provider is called", async () => {
  const caller = await call(gateway.origin, { key: FILES_KEY });
  caller.send(START);
  assert.deepEqual(await caller.closed, [1008, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(errorIn(caller).details?.["missing"], ["live_audio"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("realtime.max-duration: audio beyond max_audio_duration_seconds ends the session, and what was sent is charged", async () => {
  await using opened = new AsyncDisposableStack();
  const short = await startGateway({
    file: (sandbox) => ({ ...realtimeFile(sandbox), limits: { max_audio_duration_seconds: 2 } }),
  });
  opened.defer(() => short.close());
  const caller = await call(short.origin);
  await speak(caller);
  assert.deepEqual(await caller.closed, [1008, "AUDIO_TOO_LONG"]);
  assert.deepEqual(errorIn(caller).details, { max_audio_duration_seconds: 2 });
});

test("realtime.budget-end: where the budget ends the audio ends: what was sent is charged, and no more than there was", async () => {
  const caller = await call(gateway.origin, { key: POOR_KEY });
  caller.send(START);
  for await (const frame of frames(samples().subarray(0, 96_000))) caller.send(frame);
  await caller.event("transcript.delta");
  for await (const frame of frames(samples().subarray(96_000))) caller.send(frame);
  assert.deepEqual(await caller.closed, [1008, "BUDGET_EXCEEDED"]);
  assert.equal(errorIn(caller).code, "BUDGET_EXCEEDED");
  const rows = await attempts();
  assert.ok(rows.every(({ state }) => state === "settled"));
  const charged = rows.reduce((sum, { charge_nano_usd: charge }) => sum + Number(charge), 0);
  assert.ok(charged > 4_800_000 && charged <= 6_000_000, String(charged));
  const heard = await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  assert.equal(heard.model, "nova-3");
});

test("realtime.affordable-target: a live session whose first target the budget cannot pay goes to the next affordable one", async () => {
  const caller = await call(gateway.origin, { key: UNFUNDED_KEY });
  await speak(caller);
  assert.deepEqual(await caller.closed, [1000, ""]);
  assert.deepEqual(
    gateway.sandbox.calls.map(({ model }) => model),
    ["nova-2"],
  );
  const refusedCaller = await call(gateway.origin, { key: UNFUNDED_PRICED_KEY });
  await speak(refusedCaller);
  assert.deepEqual(await refusedCaller.closed, [1008, "BUDGET_EXCEEDED"]);
  assert.equal(gateway.sandbox.callCount, 1);
});

test("realtime.caller-disconnect: a caller who hangs up stops the provider, and is charged for what was sent", async () => {
  const caller = await call(gateway.origin);
  caller.send(START);
  for await (const frame of frames(samples().subarray(0, 96_000))) caller.send(frame);
  await caller.event("transcript.delta");
  caller.socket.terminate();
  await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  const rows = await settledAttempts(gateway);
  assert.equal(
    rows.reduce((sum, { charge_nano_usd: charge }) => sum + Number(charge), 0),
    3_000_000,
  );
});

for (const fault of ["cut_stream", "error_event", "no_finish"] as const) {
  test(`realtime.provider-failure, realtime.no-fallback-after-audio: ${fault} at the provider is one error event and 1011; no other target, and usage recorded`, async () => {
    gateway.sandbox.addFault({ model: "nova-3", fault: { kind: fault } });
    const caller = await call(gateway.origin);
    await speak(caller);
    assert.deepEqual(await caller.closed, [1011, "PROVIDER_RESULT_UNKNOWN"]);
    const { code, message } = errorIn(caller);
    assert.equal(code, "PROVIDER_RESULT_UNKNOWN");
    assert.match(message, /the audio before them is/u);
    assert.equal(gateway.sandbox.callCount, 1);
    const rows = await attempts();
    assert.ok(rows.every(({ state }) => state === "settled"));
    // The slice in which it broke is not charged to the workspace.
    assert.ok(rows.some(({ outcome, charge_nano_usd: charge }) => outcome === "unknown" && Number(charge) === 0));
  });
}

test("realtime.feature-not-delivered: a feature that is missing in the complete transcript ends the session with an error event instead of transcript.completed", async () => {
  gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "drop", feature: "diarization" } });
  const caller = await call(gateway.origin);
  await speak(caller, { ...START, diarization: true });
  assert.deepEqual(await caller.closed, [1011, "FEATURE_NOT_DELIVERED"]);
});

test("realtime.log-privacy: nothing of a transcript, a credential or a token is in the log", () => {
  const log = gateway.logs.join("\n");
  assert.ok(log.includes('"status":101'));
  assert.ok(
    !log.includes("live transcription failed"),
    "no end that a caller or a provider causes is an internal error",
  );
  for (const secret of ["simulated, 0.0", "dg-secret", "patchbay.token", POOR_KEY]) assert.ok(!log.includes(secret));
});

test("realtime.shutdown: a process that shuts down says so and closes with 1011; the slice in progress is not charged", async () => {
  const other = await startGateway({ file: realtimeFile, existing: gateway });
  const caller = await call(other.origin);
  caller.send(START);
  for await (const frame of frames(samples().subarray(0, 96_000))) caller.send(frame);
  await caller.event("transcript.delta");
  await Promise.all([other.close(), caller.closed]);
  assert.deepEqual(await caller.closed, [1011, "SHUTTING_DOWN"]);
  const ends = (await settledAttempts(gateway)).map((row) => [row.outcome, Number(row.charge_nano_usd)]);
  assert.deepEqual([...new Set(ends.map(String))], ["unknown,0"]);
});
