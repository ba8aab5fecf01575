// An empty transcript of audio with speech: one more target is called, then the empty answer is believed, with a warning. Silence is an
// ordinary empty answer. The attempt whose answer is delivered is the one that is paid.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Fault, Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { pcmWav, silence } from "../../audio/pcm.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { type Answer, envelopeOf, postForm, speech } from "../../harness/client.ts";
import { KEY, sandboxConnections, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { attemptsOf as jobAttemptsOf } from "../../jobs/setting.ts";
import { ended, submit } from "../jobs/jobs.ts";

const ALONE_KEY = "test-key-of-the-lonely-app-0001";
const POOR_KEY = "test-key-of-the-poor-app-000001";
const SILENT = pcmWav(silence(2));

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

const empty = (wire: "deepgram" | "openai", fault: Fault = { kind: "empty" }) =>
  gateway.sandbox.addFault({ wire, fault });
const ask = (file: Uint8Array, key = KEY): Promise<Answer> => postForm(gateway.origin, { file, key });

interface Row {
  readonly name: string;
  readonly audio: "speech" | "silence";
  readonly key?: string;
  readonly faults: readonly Parameters<typeof empty>[];
  /** Model, outcome, whether it is charged. */
  readonly attempts: readonly (readonly [string, string, boolean])[];
  readonly isEmpty: boolean;
  readonly warns: boolean;
}

const HEARD_NOTHING = "failed:feature_dropped";
const ROWS: readonly Row[] = [
  {
    name: "speech, and the first target hears nothing: the second answers, and is what is paid",
    audio: "speech",
    faults: [["deepgram"]],
    attempts: [
      ["nova-3", HEARD_NOTHING, false],
      ["whisper-1", "succeeded", true],
    ],
    isEmpty: false,
    warns: false,
  },
  {
    name: "speech, and neither of two hears it: the second is believed",
    audio: "speech",
    faults: [["deepgram"], ["openai"]],
    attempts: [
      ["nova-3", HEARD_NOTHING, false],
      ["whisper-1", "succeeded", true],
    ],
    isEmpty: true,
    warns: true,
  },
  {
    name: "speech, and the second target fails: the first, empty answer is delivered and paid",
    audio: "speech",
    faults: [["deepgram"], ["openai", { kind: "status", status: 500 }]],
    attempts: [
      ["nova-3", "succeeded", true],
      ["whisper-1", "failed:server_error", false],
    ],
    isEmpty: true,
    warns: true,
  },
  {
    name: "speech, and there is one target: its answer as it is",
    audio: "speech",
    key: ALONE_KEY,
    faults: [["deepgram"]],
    attempts: [["nova-3", "succeeded", true]],
    isEmpty: true,
    warns: true,
  },
  {
    name: "speech, and money for one call only: its answer as it is",
    audio: "speech",
    key: POOR_KEY,
    faults: [["deepgram"]],
    attempts: [["nova-3", "succeeded", true]],
    isEmpty: true,
    warns: true,
  },
  {
    name: "silence, two targets: an ordinary empty answer",
    audio: "silence",
    faults: [["deepgram"]],
    attempts: [["nova-3", "succeeded", true]],
    isEmpty: true,
    warns: false,
  },
  {
    name: "silence, one target: the same",
    audio: "silence",
    key: ALONE_KEY,
    faults: [["deepgram"]],
    attempts: [["nova-3", "succeeded", true]],
    isEmpty: true,
    warns: false,
  },
];

for (const row of ROWS) {
  test(`transcription.empty-doubted, transcription.empty-believed, routing.empty-transcript: ${row.name}`, async () => {
    for (const fault of row.faults) empty(...fault);
    const answer = await ask(row.audio === "speech" ? speech() : SILENT, row.key);
    const envelope = envelopeOf(answer);
    assert.equal(envelope.content === "", row.isEmpty);
    assert.equal(
      envelope.warnings.some(({ code }) => code === "EMPTY_TRANSCRIPT"),
      row.warns,
    );
    assert.ok(envelope.usage.billable_audio_seconds > 0);
    assert.deepEqual(await attemptsOf(answer), row.attempts);
  });
}

test("transcription.empty-unknown: after a doubted answer an unknown outcome stays unknown, and nothing is charged", async () => {
  empty("deepgram");
  empty("openai", { kind: "reset_after_body" });
  const answer = await ask(speech());
  assert.deepEqual([answer.status, answer.code], [502, "PROVIDER_RESULT_UNKNOWN"]);
  assert.deepEqual(await attemptsOf(answer), [
    ["nova-3", HEARD_NOTHING, false],
    ["whisper-1", "unknown", false],
  ]);
});

test("transcription.empty-doubted, idempotency.replay: with a key the delivered answer, doubted or not, is what a replay returns", async () => {
  for (const [key, faults] of [
    ["doubted", [["deepgram"]]],
    ["believed", [["deepgram"], ["openai", { kind: "status", status: 500 }]]],
  ] as const) {
    gateway.sandbox.clearFaults();
    for (const [wire, fault] of faults) empty(wire, fault);
    const headers = { "Idempotency-Key": key };
    const first = await postForm(gateway.origin, { headers });
    assert.equal(first.status, 200, first.text);
    assert.equal((await postForm(gateway.origin, { headers })).text, first.text);
  }
});

test("transcription.empty-doubted: a job calls one more target too, and pays for the answer that it keeps", async () => {
  empty("deepgram");
  const { job_id: jobId } = await submit(gateway.origin);
  const job = await ended(gateway.origin, jobId);
  assert.match(job.result?.content ?? "", /simulated transcript/);

  assert.deepEqual(await chargesOf(jobId), [
    [HEARD_NOTHING, false],
    ["succeeded", true],
  ]);
});

test("transcription.empty-believed: a job whose second target fails keeps the empty answer of the first, with the warning", async () => {
  empty("deepgram");
  empty("openai", { kind: "status", status: 500 });
  const { job_id: jobId } = await submit(gateway.origin);
  const job = await ended(gateway.origin, jobId);
  assert.equal(job.status, "succeeded");
  assert.equal(job.result?.content, "");
  assert.ok(job.result?.warnings.some(({ code }) => code === "EMPTY_TRANSCRIPT"));

  assert.deepEqual(await chargesOf(jobId), [
    ["failed:server_error", false],
    ["succeeded", true],
  ]);
});

async function chargesOf(jobId: string) {
  const attempts = await jobAttemptsOf(gateway.database, jobId);
  return attempts
    .map(({ outcome, charge }) => [outcome ?? "", charge !== "0"] as const)
    .toSorted(([one], [other]) => one.localeCompare(other));
}

async function attemptsOf(answer: Answer) {
  const rows = await attemptRows(gateway, answer);
  return rows.map((row) => [row.model, row.outcome, BigInt(row.charge_nano_usd ?? 0) > 0n]);
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const price = (provider: "deepgram" | "openai", model: string) => ({
    provider,
    model,
    usd_per_audio_hour: "3.60",
    source: "the test",
    as_of: "2026-11-01",
  });
  const both = [
    { connection: "dg", model: "nova-3" },
    { connection: "oa", model: "whisper-1" },
  ];
  const scopes = ["transcribe", "jobs"] as ("transcribe" | "jobs")[];
  return {
    connections: sandboxConnections(sandbox),
    prices: [price("deepgram", "nova-3"), price("openai", "whisper-1")],
    routes: [
      { id: "both", targets: both },
      { id: "alone", targets: both.slice(0, 1) },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          { id: "notes", route: "both", keys: [{ id: "k1", secret: KEY, scopes }] },
          { id: "alone", route: "alone", keys: [{ id: "k2", secret: ALONE_KEY, scopes }] },
          {
            id: "poor",
            route: "both",
            // 7.378 s at 3.60 USD an hour are 0.0074 USD.
            budgets: [{ period: "month", limit_usd: "0.01" }],
            keys: [{ id: "k3", secret: POOR_KEY, scopes }],
          },
        ],
      },
    ],
  };
}
