// Fallback: what one provider's failure means for the caller, for the next provider, for the idempotency key and for the charge.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, beforeEach, test } from "node:test";
import type { Fault, Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { GatewayServices } from "../../../src/gateway/services.ts";
import { fixture } from "../../audio/build-audio.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { type Answer, detailsOf, envelopeOf, postForm, type TranscriptionCall } from "../../harness/client.ts";
import { byId, configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { HELD, releaseHeld } from "../../harness/held.ts";

/** One second exactly, so that charges are round: 3.60 USD an hour are 0.001 USD. */
const AUDIO = fixture("speech-44k-stereo.wav");
const CHARGE_OF_NOVA_3 = "1000000";
const CHARGE_OF_WHISPER = "2000000";

const DEFINITE: readonly (readonly [name: string, fault: Fault, kind: string])[] = [
  ["status-500", { kind: "status", status: 500 }, "server_error"],
  ["status-503", { kind: "status", status: 503 }, "server_error"],
  ["status-429", { kind: "status", status: 429 }, "rate_limited"],
  ["status-400", { kind: "status", status: 400 }, "rejected"],
  ["status-401", { kind: "status", status: 401 }, "unauthorized"],
  ["status-402", { kind: "status", status: 402 }, "payment"],
  ["status-404", { kind: "status", status: 404 }, "not_found"],
  ["redirect", { kind: "status", status: 302 }, "server_error"],
  ["garbage", { kind: "garbage" }, "bad_reply"],
  ["error-body", { kind: "error_body" }, "bad_reply"],
  ["no-words", { kind: "drop", feature: "timestamps.word" }, "feature_dropped"],
];
const UNKNOWN: readonly (readonly [name: string, fault: Fault])[] = [
  ["reset-before-body", { kind: "reset_before_body" }],
  ["reset-after-body", { kind: "reset_after_body" }],
  ["cut-reply", { kind: "cut_reply" }],
  ["status-408", { kind: "status", status: 408 }],
  ["status-499", { kind: "status", status: 499 }],
  ["status-502", { kind: "status", status: 502 }],
  ["status-504", { kind: "status", status: 504 }],
];

// Each case has connections of its own, and so circuits of its own: no case opens the circuit of a provider that the next one needs.
const CASES = [
  ...DEFINITE.map(([name]) => name),
  ...UNKNOWN.flatMap(([name]) => [`unknown-${name}`, `twice-${name}`]),
  "connect",
  "speakers",
  "all-500",
  "all-429",
  "all-400",
  "all-mixed",
  "all-400-but-one",
  "all-dropped",
  "twice-then-500",
  "removed",
  "definite-then-unknown",
  "timeout",
  "gone",
  "gone-keyed",
];

/** Port 1 is reserved and unused. A port that was free a moment ago may be taken by another test. */
const CLOSED = "http://127.0.0.1:1";

let gateway: TestGateway;
const moments = new EventEmitter();
/** A connection that is no longer in the directory. */
let removed: string | null = null;
before(async () => {
  gateway = await startGateway({ file: fileOf, wrapGateway: announceSettlements });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

for (const [name, fault, kind] of DEFINITE) {
  test(`routing.fallback-definite: ${name} from the first provider: the next serves, and only it is charged`, async () => {
    gateway.sandbox.addFault({ wire: "deepgram", fault });
    const answer = await ask(name);
    const envelope = envelopeOf(answer);
    assert(envelope.words.length > 0);
    assert.equal(envelope.usage.billable_audio_seconds, 1);
    assert.deepEqual(called(), ["nova-3", "whisper-1"]);
    assert.deepEqual(await attemptsOf(answer), [
      [1, "nova-3", `failed:${kind}`, "0", 0],
      [2, "whisper-1", "succeeded", CHARGE_OF_WHISPER, 1000],
    ]);
  });
}

test("routing.fallback-definite: a provider that refuses the connection: the next serves, and the first is no cost", async () => {
  const answer = await ask("connect");
  envelopeOf(answer);
  assert.deepEqual(called(), ["whisper-1"]);
  assert.deepEqual(await attemptsOf(answer), [
    [1, "nova-3", "failed:connect", "0", 0],
    [2, "whisper-1", "succeeded", CHARGE_OF_WHISPER, 1000],
  ]);
});

test("transcription.receipts: an answer without the speakers that were asked for is never delivered", async () => {
  gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "drop", feature: "diarization" } });
  const answer = await ask("speakers", { fields: { diarization: "true", timestamps: "word" } });
  const envelope = envelopeOf(answer);
  assert(envelope.words.length > 0 && envelope.words.every(({ speaker }) => speaker !== null));
  assert.deepEqual(called(), ["nova-3", "nova-2"], "whisper-1 is between them and cannot distinguish speakers");
  assert.deepEqual(await attemptsOf(answer), [
    [1, "nova-3", "failed:feature_dropped", "0", 0],
    [3, "nova-2", "succeeded", "0", 0],
  ]);
});

test("routing.exhausted, idempotency.release-definite: a connection that is removed while the target before it is called: 503 exhausted, and the key is free again", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 500 } });
  moments.once("settled", () => {
    removed = "oa-removed";
  });
  const headers = { "idempotency-key": "removed" };
  const answer = await ask("removed", { headers });
  assert.equal(answer.code, "NO_HEALTHY_PROVIDER");
  assert.deepEqual(detailsOf(answer)["attempts"], [
    { position: 1, reason: "server_error" },
    { position: 2, reason: "not_found" },
  ]);
  assert.deepEqual(await attemptsOf(answer), [[1, "nova-3", "failed:server_error", "0", 0]]);
  removed = null;
  gateway.sandbox.clearFaults();
  envelopeOf(await ask("removed", { headers }));
});

test("routing.exhausted, idempotency.release-definite: all fail: 503 NO_HEALTHY_PROVIDER exhausted, and the idempotency key is free again", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 500 } });
  const headers = { "idempotency-key": "all-500" };
  const answer = await ask("all-500", { headers });
  assert.equal(answer.code, "NO_HEALTHY_PROVIDER");
  assert.deepEqual(detailsOf(answer), {
    reason: "exhausted",
    attempts: [
      { position: 1, reason: "server_error" },
      { position: 2, reason: "server_error" },
    ],
  });
  assert.deepEqual(await attemptsOf(answer), [
    [1, "nova-3", "failed:server_error", "0", 0],
    [2, "whisper-1", "failed:server_error", "0", 0],
  ]);
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
  const retried = await ask("all-500", { headers });
  envelopeOf(retried);
  assert.equal(retried.headers.get("x-svc-idempotent-replay"), null);
  assert.deepEqual(called(), ["nova-3"]);
});

test("routing.exhausted: all are rate limited: Retry-After is the longest wait that a provider asked for", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 429, retryAfterSeconds: 17 } });
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 429, retryAfterSeconds: 5 } });
  const answer = await ask("all-429");
  assert.equal(answer.code, "NO_HEALTHY_PROVIDER");
  assert.equal(answer.headers.get("retry-after"), "17");
});

test("routing.all-rejected: all refuse the input: 502 PROVIDER_REJECTED, not retryable", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 400 } });
  const answer = await ask("all-400");
  assert.equal(answer.code, "PROVIDER_REJECTED");
  assert.deepEqual(called(), ["nova-3", "whisper-1"]);
  assert.deepEqual(await attemptsOf(answer), [
    [1, "nova-3", "failed:rejected", "0", 0],
    [2, "whisper-1", "failed:rejected", "0", 0],
  ]);
});

test("routing.exhausted: one refuses the input, one is broken: 503 exhausted, for a retry may succeed", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 400 } });
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 500 } });
  const answer = await ask("all-mixed");
  assert.equal(answer.code, "NO_HEALTHY_PROVIDER");
});

test("routing.all-rejected: one refuses the input and one is unavailable: 503 exhausted, as that one was not asked", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", times: 5, fault: { kind: "status", status: 500 } });
  for (let turn = 0; turn < 5; turn += 1) envelopeOf(await ask("all-400-but-one"));
  gateway.sandbox.clearCalls();
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 400 } });
  const answer = await ask("all-400-but-one");
  assert.equal(answer.code, "NO_HEALTHY_PROVIDER");
  assert.deepEqual(detailsOf(answer), { reason: "exhausted", attempts: [{ position: 2, reason: "rejected" }] });
  assert.deepEqual(called(), ["whisper-1"]);
});

test("routing.feature-not-delivered: none succeeds and one failed its receipts: 502 FEATURE_NOT_DELIVERED without the transcript", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "drop", feature: "timestamps.word" } });
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 500 } });
  const answer = await ask("all-dropped");
  assert.equal(answer.code, "FEATURE_NOT_DELIVERED");
  assert.doesNotMatch(answer.text, /simulated transcript/);
  assert.deepEqual(
    (await attemptsOf(answer)).map(([, , outcome, charge]) => [outcome, charge]),
    [
      ["failed:feature_dropped", "0"],
      ["failed:server_error", "0"],
    ],
  );
});

for (const [name, fault] of UNKNOWN) {
  test(`routing.no-fallback-unknown, idempotency.burn-unknown: ${name} leaves the outcome unknown: one call, no charge, and the key is burned`, async () => {
    gateway.sandbox.addFault({ wire: "deepgram", fault });
    const headers = { "idempotency-key": `unknown-${name}` };
    const keyed = await ask(`unknown-${name}`, { headers });
    assert.equal(keyed.code, "PROVIDER_RESULT_UNKNOWN");
    assert.equal(gateway.sandbox.callCount, 1);
    assert.deepEqual(await attemptsOf(keyed), [[1, "nova-3", "unknown", "0", 0]]);
    const again = await ask(`unknown-${name}`, { headers });
    assert.equal(again.code, "IDEMPOTENT_RESULT_UNAVAILABLE");
    assert.equal(gateway.sandbox.callCount, 1, "a burned key runs nothing");
    const unkeyed = await ask(`unknown-${name}`);
    assert.equal(unkeyed.code, "PROVIDER_RESULT_UNKNOWN");
    assert.deepEqual(await attemptsOf(unkeyed), [[1, "nova-3", "unknown", "0", 0]]);
    assert.equal(gateway.sandbox.callCount, 2);
  });

  test(`routing.no-fallback-unknown, idempotency.later-answer: after ${name} a route that may pay twice tries the next, and its answer is kept`, async () => {
    gateway.sandbox.addFault({ wire: "deepgram", fault });
    const headers = { "idempotency-key": `twice-${name}` };
    const answer = await ask(`twice-${name}`, { headers });
    envelopeOf(answer);
    assert.equal(gateway.sandbox.callCount, 2);
    assert.equal(gateway.sandbox.calls[1]?.model, "whisper-1");
    assert.deepEqual(await attemptsOf(answer), [
      [1, "nova-3", "unknown", "0", 0],
      [2, "whisper-1", "succeeded", CHARGE_OF_WHISPER, 1000],
    ]);
    const replay = await ask(`twice-${name}`, { headers });
    assert.equal(replay.headers.get("x-svc-idempotent-replay"), "true");
    assert.equal(replay.text, answer.text);
    assert.equal(gateway.sandbox.callCount, 2);
  });
}

test("idempotency.later-answer: unknown, then a definite failure: the outcome is still unknown and the key burned", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "cut_reply" } });
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 500 } });
  const headers = { "idempotency-key": "twice-then-500" };
  const answer = await ask("twice-then-500", { headers });
  assert.match(answer.text, /nothing was charged and the calls after it failed\./u);
  assert.equal(answer.code, "PROVIDER_RESULT_UNKNOWN");
  assert.deepEqual(called(), ["nova-3", "whisper-1"]);
  assert.equal((await ask("twice-then-500", { headers })).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
});

test("routing.no-fallback-unknown: a definite failure, then an unknown one: unknown, and the third provider is not called", async () => {
  gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "status", status: 500 } });
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "reset_after_body" } });
  const answer = await ask("definite-then-unknown");
  assert.equal(answer.code, "PROVIDER_RESULT_UNKNOWN");
  assert.deepEqual(called(), ["nova-3", "whisper-1"]);
  assert.deepEqual(
    (await attemptsOf(answer)).map(([, , outcome]) => outcome),
    ["failed:server_error", "unknown"],
  );
});

test("routing.deadline, idempotency.burn-unknown: a provider that never answers: 504 PROVIDER_TIMEOUT at its deadline, no other call, key burned", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "stall" } });
  const headers = { "idempotency-key": "timeout" };
  const answer = await ask("timeout", { headers });
  assert.equal(answer.code, "PROVIDER_TIMEOUT");
  assert.match(answer.text, /For long recordings use POST \/v1\/transcription\/jobs\./u);
  assert.deepEqual(called(), ["nova-3"]);
  assert.deepEqual(await attemptsOf(answer), [[1, "nova-3", "unknown", "0", 0]]);
  await gateway.sandbox.waitForCall((call) => call.aborted);
  assert.equal((await ask("timeout", { headers })).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
  assert.equal(gateway.sandbox.callCount, 1);
});

test("transcription.hang-up: a caller without a key hangs up: the provider's call is stopped, charged as run, and no other is called", async (t) => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "stall" } });
  const settled = once(moments, "settled");
  const caller = new AbortController();
  const lost = assert.rejects(ask("gone", { signal: caller.signal }), { name: "AbortError" });
  await gateway.sandbox.waitForCall((call) => call.outcome === "stalled");
  const hungUpAt = performance.now();
  caller.abort();
  await lost;
  await gateway.sandbox.waitForCall((call) => call.aborted);
  t.diagnostic(`stopped ${Math.round(performance.now() - hungUpAt)} ms after the caller hung up`);
  await settled;
  assert.deepEqual(await attemptsOn("gone"), [[1, "nova-3", "aborted", CHARGE_OF_NOVA_3, 1000]]);
  assert.deepEqual(called(), ["nova-3"]);
});

test("transcription.hang-up, idempotency.disconnect: a caller with a key hangs up: the work continues, and the retry is its replay", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: HELD });
  const settled = once(moments, "settled");
  const headers = { "idempotency-key": "gone-keyed" };
  const caller = new AbortController();
  const lost = assert.rejects(ask("gone-keyed", { headers, signal: caller.signal }), { name: "AbortError" });
  await gateway.sandbox.waitForCall((call) => call.file !== null);
  caller.abort();
  await lost;
  await releaseHeld(gateway.sandbox);
  await settled;
  assert.deepEqual(
    gateway.sandbox.calls.map(({ outcome, aborted }) => [outcome, aborted]),
    [[200, false]],
  );
  assert.deepEqual(await attemptsOn("gone-keyed"), [[1, "nova-3", "succeeded", CHARGE_OF_NOVA_3, 1000]]);
  const retry = await ask("gone-keyed", { headers });
  envelopeOf(retry);
  assert.equal(retry.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal(gateway.sandbox.callCount, 1);
});

function ask(name: string, call: TranscriptionCall = {}): Promise<Answer> {
  const fields = { timestamps: "word", ...call.fields, purpose: name };
  return postForm(gateway.origin, { file: AUDIO, ...call, fields });
}

/** Models in the order in which the sandbox was called. */
function called(): readonly string[] {
  return gateway.sandbox.calls.map((call) => call.model);
}

type AttemptFacts = readonly [
  position: number,
  model: string,
  outcome: string | null,
  nanoUsd: string,
  billableMs: number,
];

async function attemptsOf(answer: Answer): Promise<readonly AttemptFacts[]> {
  return (await attemptRows(gateway, answer)).map(toFacts);
}

/** For requests without a received answer: found by the connection that only this case uses. */
async function attemptsOn(name: string): Promise<readonly AttemptFacts[]> {
  const rows = await gateway.database.db
    .selectFrom("attempts")
    .selectAll()
    .where("connection", "=", `dg-${name}`)
    .orderBy("position")
    .execute();
  return rows.map(toFacts);
}

function toFacts(row: Awaited<ReturnType<typeof attemptRows>>[number]): AttemptFacts {
  assert.equal(row.state, "settled");
  return [row.position, row.model, row.outcome, String(row.charge_nano_usd), Number(row.billable_audio_ms)];
}

function announceSettlements(services: GatewayServices): GatewayServices {
  const { ledger } = services;
  const settle: typeof ledger.settle = async (settlement) => {
    const settled = await ledger.settle(settlement);
    moments.emit("settled");
    return settled;
  };
  const directory: typeof services.directory = () => {
    const now = services.directory();
    return { ...now, account: (key) => (key.endsWith(`/${removed}`) ? undefined : now.account(key)) };
  };
  return { ...services, directory, ledger: { ...ledger, settle } };
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const isLonger = (name: string) => ["speakers", "definite-then-unknown"].includes(name);
  return configurationWith(sandbox, {
    prices: { "deepgram/nova-3": "3.60", "openai/whisper-1": "7.20" },
    connections: {
      ...Object.fromEntries(
        CASES.flatMap(
          (name) =>
            [
              [`dg-${name}`, "deepgram"],
              [`oa-${name}`, "openai"],
            ] as const,
        ),
      ),
      "dg-connect": { kind: "deepgram", base_url: CLOSED },
      "dg-timeout": { kind: "deepgram", timeout_seconds: 3 },
    },
    routes: byId(CASES, (name) => ({
      may_pay_twice: name.startsWith("twice-"),
      targets: [`dg-${name}/nova-3`, `oa-${name}/whisper-1`, ...(isLonger(name) ? [`dg-${name}/nova-2`] : [])],
    })),
    apps: {
      notes: {
        route: "connect",
        audio_purpose_policy: "strict",
        purposes: byId(CASES, (name) => name),
        scopes: ["transcribe"],
        key: KEY,
      },
    },
  });
}
