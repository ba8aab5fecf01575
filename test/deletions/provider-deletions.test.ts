// Deletion at the provider (`provider_deletion`): recorded in a row [jobs.deletion-durable], made when its subject ends
// [jobs.deletion-due], retried when it fails, and listed when it finally cannot be made [jobs.deletion-retries].
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import type { WorkspaceId } from "../../src/contract/ids.ts";
import type { DeletionDuty } from "../../src/gateway/calls/provider-deletions.ts";
import { MAX_DELETION_ATTEMPTS, readFailedDeletions } from "../../src/gateway/store/provider-deletions.ts";
import { type Answer, detailsOf, envelopeOf, postForm, type TranscriptionCall } from "../harness/client.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { HELD, releaseHeld } from "../harness/held.ts";

const RUN_PATH = "/assemblyai/v2/transcript/";
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(async () => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  await shiftClock(gateway.database, 0);
  await gateway.database.db.deleteFrom("provider_deletions").execute();
});

test("jobs.deletion-due, jobs.deletion-records: after a success the provider deletes the run, audio included, and the request's record reports it as done", async () => {
  const answer = await ask("aa");
  envelopeOf(answer);
  const removed = await gateway.sandbox.waitForCall((call) => call.method === "DELETE" && call.outcome === 200);
  assert.ok(removed.path.startsWith(RUN_PATH));
  assert.equal(await settledState(answer), "done");
  const [row] = await rows();
  assert.deepEqual(
    [row?.attempts, row?.last_failure, row?.provider, row?.account],
    [1, null, "assemblyai", "platform/aa"],
  );
  assert.deepEqual(row?.run, { id: removed.path.slice(RUN_PATH.length), details: { path: "/v2/transcript" } });
});

test("jobs.deletion-durable: the deletion is durable before the first poll", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", step: "poll", times: 1, fault: HELD });
  const answered = ask("aa");
  await gateway.sandbox.waitForCall((call) => call.method === "GET");
  assert.deepEqual(
    (await rows()).map(({ state, attempts }) => [state, attempts]),
    [["pending", 0]],
  );
  await releaseHeld(gateway.sandbox);
  envelopeOf(await answered);
});

test("jobs.deletion-due: a run that fails, and one whose answer lacks a feature, are deleted too", async () => {
  for (const fault of [
    { kind: "run_error", message: "Server error" },
    { kind: "drop", feature: "diarization" },
  ] as const) {
    gateway.sandbox.addFault({ wire: "assemblyai", times: 1, fault });
    const answer = await ask("aa", { fields: { diarization: "true" } });
    assert.equal(answer.code, fault.kind === "drop" ? "FEATURE_NOT_DELIVERED" : "NO_HEALTHY_PROVIDER");
    assert.equal(await settledState(answer), "done");
  }
});

test("jobs.deletion-due: when the caller hangs up during the polls, the run is no longer waited for, and is deleted when it can be", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 3 } });
  const caller = new AbortController();
  const lost = assert.rejects(ask("aa", { signal: caller.signal }), { name: "AbortError" });
  await gateway.sandbox.waitForCall((call) => call.method === "GET" && call.outcome === 200);
  caller.abort();
  await lost;
  // The provider refuses while it works, so the first attempt fails and the next one is due later.
  await gateway.sandbox.waitForCall((call) => call.method === "DELETE" && call.outcome === 400);
  await until(async () => (await rows())[0]?.last_failure === "rejected");
  for (let shift = 200; (await rows())[0]?.state === "pending"; shift += 200) {
    assert.ok(shift < 1_000);
    await shiftClock(gateway.database, shift);
    await gateway.app.gateway.deletions.sweep();
  }
  assert.equal((await rows())[0]?.state, "done");
});

test("jobs.deletion-retries: a deletion that fails is retried with growing waits, and nothing of the key or text is logged", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", step: "remove", times: 2, fault: { kind: "status", status: 503 } });
  const answer = await ask("aa");
  envelopeOf(answer);
  await until(async () => (await rows())[0]?.last_failure !== null);
  assert.equal(await stateOf(answer), "pending");
  assert.equal(await gateway.app.gateway.deletions.sweep(), 0, "not due yet");
  await shiftClock(gateway.database, 31);
  assert.equal(await gateway.app.gateway.deletions.sweep(), 1);
  assert.equal(await stateOf(answer), "pending");
  await shiftClock(gateway.database, 62);
  assert.equal(await gateway.app.gateway.deletions.sweep(), 0, "the second wait is longer");
  await shiftClock(gateway.database, 200);
  assert.equal(await gateway.app.gateway.deletions.sweep(), 1);
  assert.equal(await stateOf(answer), "done");
  const logged = gateway.logs.filter((line) => line.includes("deletion"));
  assert.ok(logged.length >= 2);
  assert.ok(logged.every((line) => !line.includes("aa-secret") && !line.includes("simulated transcript")));
});

test("jobs.deletion-retries, jobs.deletion-records: after the last attempt the deletion is failed for good, logged as an error, and listed with the provider's id", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", step: "remove", fault: { kind: "status", status: 401 } });
  const answer = await ask("aa");
  envelopeOf(answer);
  await until(async () => (await rows())[0]?.last_failure !== null);
  for (let attempt = 2; attempt <= MAX_DELETION_ATTEMPTS; attempt += 1) {
    await shiftClock(gateway.database, attempt * 100_000);
    assert.equal(await gateway.app.gateway.deletions.sweep(), 1, `attempt ${attempt}`);
  }
  assert.equal(await stateOf(answer), "failed");
  await shiftClock(gateway.database, 10_000_000);
  assert.equal(await gateway.app.gateway.deletions.sweep(), 0);
  const [listed, ...others] = await readFailedDeletions(gateway.database.db, 10);
  assert.equal(others.length, 0);
  assert.deepEqual(
    [listed?.subject, listed?.account, listed?.provider, listed?.lastFailure],
    [answer.headers.get("x-request-id"), "platform/aa", "assemblyai", "unauthorized"],
  );
  assert.ok(gateway.sandbox.calls.some(({ path }) => path.endsWith(String(listed?.runId))));
  assert.ok(gateway.logs.some((line) => line.includes("deletion abandoned") && line.includes('"level":50')));
  assert.equal(await gateway.app.gateway.deletions.report(), 1);
  const reported = gateway.logs.filter((line) => line.includes("still has a recording"));
  assert.equal(reported.length, 1);
  assert.ok(reported[0]?.includes(String(listed?.runId)) && reported[0].includes("unauthorized"));
});

test("jobs.deletion-due, jobs.deletion-durable: a crash after the submission leaves the deletion to the sweep, once no caller can be waiting", async () => {
  await gateway.app.gateway.deletions.owe(duty("crash", await submittedRun(gateway.sandbox)));
  assert.equal(await gateway.app.gateway.deletions.sweep(), 0);
  await shiftClock(gateway.database, 361);
  assert.equal(await gateway.app.gateway.deletions.sweep(), 1);
  assert.equal(await gateway.app.gateway.deletions.state(TENANT, "crash"), "done");
});

test("jobs.deletion-durable: a release in a transaction that does not commit releases nothing", async () => {
  const { deletions } = gateway.app.gateway;
  await deletions.owe(duty("rolled-back", { id: "x", details: {} }));
  await assert.rejects(
    gateway.database.transaction(async (tx) => {
      await deletions.releaseIn(tx, [{ workspaceId: TENANT, subject: "rolled-back" }]);
      throw new Error("no");
    }),
    /no/,
  );
  assert.equal(await deletions.sweep(), 0);
});

test("jobs.deletion-errors: an account that was removed from the configuration fails the attempt, and the deletion waits for its return", async () => {
  const { deletions } = gateway.app.gateway;
  await deletions.owe({ ...duty("no-account", { id: "x", details: {} }), account: "platform/gone", dueInSeconds: 0 });
  assert.equal(await deletions.sweep(), 1);
  const [row] = await rows();
  assert.deepEqual([row?.state, row?.last_failure], ["pending", "no_account"]);
});

test("jobs.deletion-account: a connection that is another provider's by now is not asked, as its 404 would pass for a deletion", async () => {
  const { deletions } = gateway.app.gateway;
  const run = { id: "x", details: { path: "/v2/transcript" } };
  await deletions.owe({ ...duty("another-kind", run), account: "platform/dg", dueInSeconds: 0 });
  assert.equal(await deletions.sweep(), 1);
  const [row] = await rows();
  assert.deepEqual([row?.state, row?.last_failure], ["pending", "no_account"]);
  assert.deepEqual(gateway.sandbox.calls, []);
});

test("jobs.deletion-records: completed deletions are forgotten after 30 days, failed ones are kept", async () => {
  const { deletions } = gateway.app.gateway;
  await deletions.owe({ ...duty("old", { id: "gone-already", details: { path: "/v2/transcript" } }), dueInSeconds: 0 });
  assert.equal(await deletions.sweep(), 1);
  await deletions.owe(duty("kept", { id: "x", details: {} }));
  const failed = { state: "failed" as const, finished_at: new Date() };
  await gateway.database.db.updateTable("provider_deletions").set(failed).where("subject", "=", "kept").execute();
  await shiftClock(gateway.database, 29 * 86_400);
  await deletions.sweep();
  assert.deepEqual([await deletions.state(TENANT, "old"), await deletions.state(TENANT, "kept")], ["done", "failed"]);
  await shiftClock(gateway.database, 31 * 86_400);
  await deletions.sweep();
  assert.deepEqual([await deletions.state(TENANT, "old"), await deletions.state(TENANT, "kept")], ["none", "failed"]);
});

test("jobs.deletion-errors: a deletion that meets an internal error is a failed attempt, delays no other, and comes to an end", async () => {
  const { deletions } = gateway.app.gateway;
  await deletions.owe({ ...duty("broken", { id: "x", details: { path: ["no text"] } }), dueInSeconds: 0 });
  await deletions.owe({ ...duty("sound", { id: "gone-already", details: {} }), dueInSeconds: 0 });
  assert.equal(await deletions.sweep(), 2);
  const judged = (await rows()).map(
    ({ subject, state, last_failure: failure }) => [subject, [state, failure]] as const,
  );
  assert.deepEqual(Object.fromEntries(judged), { broken: ["pending", "fault"], sound: ["done", null] });
  for (let attempt = 2; attempt <= MAX_DELETION_ATTEMPTS; attempt += 1) {
    await shiftClock(gateway.database, attempt * 100_000);
    await deletions.sweep();
  }
  assert.equal(await deletions.state(TENANT, "broken"), "failed");
});

test("jobs.deletion-retries: of two sweeps at once each deletion is tried by one", async () => {
  const { deletions } = gateway.app.gateway;
  for (let index = 0; index < 6; index += 1) {
    await deletions.owe({
      ...duty(`many-${index}`, { id: `x${index}`, details: { path: "/v2/transcript" } }),
      dueInSeconds: 0,
    });
  }
  const [one, other] = await Promise.all([deletions.sweep(), deletions.sweep()]);
  assert.equal(one + other, 6);
  assert.equal(gateway.sandbox.calls.filter(({ method }) => method === "DELETE").length, 6);
});

test("jobs.deletion-account: a test key's run is deleted where it went, in the sandbox", async () => {
  await gateway.app.gateway.deletions.owe({
    ...duty("test-key", { id: "gone-already", details: { path: "/v2/transcript" } }),
    testMode: true,
    dueInSeconds: 0,
  });
  await gateway.app.gateway.deletions.sweep();
  assert.equal(await gateway.app.gateway.deletions.state(TENANT, "test-key"), "done");
  assert.equal(gateway.sandbox.callCount, 0, "the connection's own address was left alone");
});

test("jobs.deletion-due, idempotency.burn-unknown: on a pay-twice route or not, a run with an unknown end is not charged, and it is deleted", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", step: "poll", fault: { kind: "stall" } });
  const answer = await ask("slow");
  assert.equal(answer.code, "PROVIDER_TIMEOUT");
  assert.equal(await settledState(answer), "done");
  assert.deepEqual(detailsOf(answer), {});
});

const TENANT = "ws_test" as WorkspaceId;

function duty(subject: string, run: DeletionDuty["run"]): DeletionDuty {
  return {
    workspaceId: TENANT,
    appId: "app_test" as DeletionDuty["appId"],
    subject,
    account: "platform/aa",
    provider: "assemblyai",
    testMode: false,
    run,
    dueInSeconds: 360,
  };
}

/** A run at the provider that no request of this gateway waits for. */
async function submittedRun(sandbox: Sandbox): Promise<DeletionDuty["run"]> {
  const headers = { authorization: "aa-secret" };
  const upload = await fetch(`${sandbox.assemblyaiUrl}/v2/upload`, { method: "POST", headers, body: "not audio" });
  const { upload_url } = (await upload.json()) as { upload_url: string };
  const submitted = await fetch(`${sandbox.assemblyaiUrl}/v2/transcript`, {
    method: "POST",
    headers,
    body: JSON.stringify({ audio_url: upload_url, speech_models: ["universal-2"] }),
  });
  const { id } = (await submitted.json()) as { id: string };
  return { id, details: { path: "/v2/transcript" } };
}

function ask(purpose: string, call: TranscriptionCall = {}): Promise<Answer> {
  return postForm(gateway.origin, { ...call, fields: { ...call.fields, purpose } });
}

function rows() {
  return gateway.database.db.selectFrom("provider_deletions").selectAll().orderBy("id").execute();
}

async function stateOf(answer: Answer): Promise<string> {
  const workspace = await gateway.database.db
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", "acme")
    .executeTakeFirstOrThrow();
  return gateway.app.gateway.deletions.state(workspace.id as WorkspaceId, answer.headers.get("x-request-id") ?? "");
}

async function settledState(answer: Answer): Promise<string> {
  await until(async () => (await stateOf(answer)) !== "pending");
  return stateOf(answer);
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const assemblyai = { kind: "assemblyai" as const, api_key: "aa-secret", base_url: sandbox.assemblyaiUrl };
  return {
    connections: [
      { id: "aa", ...assemblyai },
      { id: "aa-slow", ...assemblyai, timeout_seconds: 4 },
      { id: "dg", kind: "deepgram", api_key: "dg-secret", base_url: sandbox.deepgramUrl },
    ],
    routes: ["aa", "slow"].map((id) => ({
      id,
      targets: [{ connection: id === "aa" ? "aa" : "aa-slow", model: "universal-3-5-pro" }],
    })),
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "aa",
            purposes: ["aa", "slow"].map((purpose) => ({ purpose, route: purpose })),
            keys: [{ id: "notes-key", secret: KEY, scopes: ["transcribe"] }],
          },
        ],
      },
    ],
  };
}
