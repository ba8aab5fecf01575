// A provider that is submitted to and polled, step by step: an upload that breaks has cost nothing and the next target serves; from the
// submission on the outcome may be unknown, and is paid for once.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Fault, FaultRule, Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { fixture } from "../../audio/build-audio.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { type Answer, envelopeOf, postForm, type TranscriptionCall } from "../../harness/client.ts";
import { byId, configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";

/** One second exactly: 3.60 USD an hour are 0.001 USD. */
const AUDIO = fixture("speech-44k-stereo.wav");
const CHARGE = "1000000";

type Step = NonNullable<FaultRule["step"]>;
const DEFINITE: readonly (readonly [name: string, step: Step, fault: Fault, kind: string])[] = [
  ["upload-reset", "upload", { kind: "reset_before_body" }, "connect"],
  ["upload-cut", "upload", { kind: "cut_reply" }, "connect"],
  ["upload-502", "upload", { kind: "status", status: 502 }, "server_error"],
  ["upload-429", "upload", { kind: "status", status: 429 }, "rate_limited"],
  ["submit-400", "submit", { kind: "status", status: 400 }, "payment"],
  ["submit-500", "submit", { kind: "status", status: 500 }, "server_error"],
  ["submit-garbage", "submit", { kind: "garbage" }, "bad_reply"],
  [
    "run-failed",
    "submit",
    { kind: "run_error", message: "Server error, developers have been alerted." },
    "server_error",
  ],
  ["run-no-audio", "submit", { kind: "run_error", message: "File does not appear to contain audio." }, "rejected"],
];
const UNKNOWN: readonly (readonly [name: string, fault: Fault])[] = [
  ["submit-reset", { kind: "reset_after_body" }],
  ["submit-cut", { kind: "cut_reply" }],
  ["submit-504", { kind: "status", status: 504 }],
];
const CASES = [...DEFINITE.map(([name]) => name), ...UNKNOWN.map(([name]) => name), "polls", "slow", "gone"];

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

for (const [name, step, fault, kind] of DEFINITE) {
  test(`transcription.remote-steps: ${name} is definite: the next target serves, and only it is charged`, async () => {
    gateway.sandbox.addFault({ wire: "assemblyai", step, fault });
    const answer = await ask(name);
    envelopeOf(answer);
    assert.deepEqual(await attemptsOf(answer), [
      ["universal-3-5-pro", `failed:${kind}`, "0"],
      ["nova-3", "succeeded", "0"],
    ]);
  });
}

for (const [name, fault] of UNKNOWN) {
  test(`transcription.remote-steps: ${name} leaves the outcome unknown: no other is called, nothing charged, the key burned`, async () => {
    gateway.sandbox.addFault({ wire: "assemblyai", fault });
    const headers = { "idempotency-key": name };
    const answer = await ask(name, { headers });
    assert.equal(answer.code, "PROVIDER_RESULT_UNKNOWN");
    assert.deepEqual(await attemptsOf(answer), [["universal-3-5-pro", "unknown", "0"]]);
    assert.equal((await ask(name, { headers })).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
    assert.equal(submissions(), 1);
  });
}

test("transcription.remote-steps: failed polls are repeated, and one submission serves", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 1 } });
  gateway.sandbox.addFault({ wire: "assemblyai", step: "poll", times: 1, fault: { kind: "status", status: 503 } });
  gateway.sandbox.addFault({ wire: "assemblyai", step: "poll", times: 1, fault: { kind: "reset_before_body" } });
  const answer = await ask("polls");
  assert.equal(envelopeOf(answer).usage.billable_audio_seconds, 1);
  assert.deepEqual(await attemptsOf(answer), [["universal-3-5-pro", "succeeded", CHARGE]]);
  assert.equal(submissions(), 1);
});

test("transcription.remote-steps, routing.deadline: a run that is not finished by the deadline: 504 PROVIDER_TIMEOUT, no other call, not charged", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 1000 } });
  const answer = await ask("slow");
  assert.equal(answer.code, "PROVIDER_TIMEOUT");
  assert.deepEqual(await attemptsOf(answer), [["universal-3-5-pro", "unknown", "0"]]);
});

for (const [step, charge] of [
  ["upload", "0"],
  ["poll", CHARGE],
] as const) {
  test(`transcription.hang-up: a caller without a key hangs up during the ${step}: ${charge === "0" ? "nothing was begun and nothing is charged" : "charged as run"}`, async () => {
    gateway.sandbox.addFault({ wire: "assemblyai", step, fault: { kind: "stall" } });
    const caller = new AbortController();
    const lost = assert.rejects(ask("gone", { signal: caller.signal }), { name: "AbortError" });
    await gateway.sandbox.waitForCall((call) => call.outcome === "stalled");
    caller.abort();
    await lost;
    const settled = () =>
      gateway.database.db
        .selectFrom("attempts")
        .select(["outcome", "charge_nano_usd"])
        .where("connection", "=", "aa-gone")
        .where("state", "=", "settled")
        .orderBy("id", "desc")
        .execute();
    const expected = step === "upload" ? 1 : 2;
    await until(async () => (await settled()).length >= expected);
    const [attempt] = await settled();
    assert.deepEqual([attempt?.outcome, String(attempt?.charge_nano_usd)], ["aborted", charge]);
  });
}

test("transcription.no-echo: of all that went wrong here no log line contains a credential, an upload's address or a transcript", () => {
  assert.ok(gateway.logs.length > 20);
  for (const line of gateway.logs)
    assert.doesNotMatch(line, /aa-secret|dg-secret|cdn\.assemblyai|simulated transcript/u);
});

function ask(purpose: string, call: TranscriptionCall = {}): Promise<Answer> {
  return postForm(gateway.origin, { file: AUDIO, ...call, fields: { purpose } });
}

function submissions(): number {
  return gateway.sandbox.calls.filter(({ method, path }) => method === "POST" && path.endsWith("/v2/transcript"))
    .length;
}

async function attemptsOf(answer: Answer): Promise<readonly (readonly [string, string | null, string])[]> {
  const rows = await attemptRows(gateway, answer);
  return rows.map((row) => [row.model, row.outcome, String(row.charge_nano_usd)]);
}

/** A connection for each case, and so circuits of its own. */
function fileOf(sandbox: Sandbox): ConfigurationFile {
  return configurationWith(sandbox, {
    prices: { "assemblyai/universal-3-5-pro": "3.60" },
    connections: {
      ...byId(
        CASES.map((name) => `aa-${name}`),
        () => "assemblyai" as const,
      ),
      "aa-slow": { kind: "assemblyai", timeout_seconds: 4 },
    },
    routes: byId(CASES, (name) => [`aa-${name}/universal-3-5-pro`, "dg/nova-3"]),
    apps: {
      notes: {
        route: "polls",
        audio_purpose_policy: "strict",
        purposes: byId(CASES, (purpose) => purpose),
        scopes: ["transcribe"],
        key: KEY,
      },
    },
  });
}
