// Cancellation: at once while queued [jobs.cancel-queued], between stages while processing [jobs.cancel-processing], never once ended, and
// the answer always reports what is stored [jobs.cancel-race].
import assert from "node:assert/strict";
import { test } from "node:test";
import { isTerminal } from "../../src/jobs/states.ts";
import { claimJob } from "../../src/jobs/store/claimed-jobs.ts";
import { HELD, releaseHeld } from "../harness/held.ts";
import { cancel, ended, poll, submit } from "../http/jobs/jobs.ts";
import { startIdleGateway } from "./idle-gateway.ts";
import { attemptsOf, paidCalls, pass, REMOTE_KEY } from "./setting.ts";

const { gateway, startWorker } = await startIdleGateway();

test("jobs.cancel-queued: a queued job is cancelled at once, its reservation is returned, and a second DELETE changes nothing", async () => {
  const { origin, database, sandbox } = gateway;
  const { job_id: id } = await submit(origin);
  const cancelled = await cancel(origin, id);
  assert.equal(cancelled.status, "cancelled");
  assert.equal(cancelled.usage, null);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:cancelled", charge: "0" }]);
  assert.deepEqual(await cancel(origin, id), cancelled);
  await startWorker();
  assert.deepEqual(await poll(origin, id), cancelled);
  assert.equal(paidCalls(sandbox), 0);
});

test("jobs.cancel-processing, jobs.cancel-charge: a processing job keeps its state with its flag, is cancelled after the call, and is charged as run", async () => {
  const { origin, database, sandbox } = gateway;
  sandbox.addFault({ wire: "deepgram", times: 1, fault: HELD });
  await startWorker();
  const { job_id: id } = await submit(origin);
  await sandbox.waitForCall((call) => call.wire === "deepgram");
  const flagged = await cancel(origin, id);
  await releaseHeld(sandbox);
  assert.deepEqual([flagged.status, flagged.cancel_requested], ["processing", true]);
  const done = await ended(origin, id);
  assert.equal(done.status, "cancelled");
  assert.equal(done.result, null);
  assert.ok((done.usage?.billable_audio_seconds ?? 0) > 0, "it says that it is charged");
  const [attempt] = await attemptsOf(database, id);
  assert.equal(attempt?.outcome, "aborted");
  assert.ok(BigInt(attempt.charge ?? 0) > 0n);
});

test("jobs.cancel-processing, jobs.cancel-charge: a run at a provider is cancelled between two polls, charged as run and deleted there", async () => {
  const { origin, database, sandbox } = gateway;
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 1_000 } });
  await startWorker();
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await sandbox.waitForCall(({ method, path }) => method === "GET" && path.includes("/transcript/"));
  await cancel(origin, id, REMOTE_KEY);
  const done = await ended(origin, id, REMOTE_KEY);
  assert.equal(done.status, "cancelled");
  assert.ok((done.usage?.billable_audio_seconds ?? 0) > 0);
  assert.equal((await attemptsOf(database, id))[0]?.outcome, "aborted");
  assert.notEqual(done.provider_deletion, "none");
});

for (const [how, fault, outcome] of [
  ["is refused", { kind: "status", status: 400 }, "failed:rejected"],
  ["breaks with an unknown outcome", { kind: "reset_after_body" }, "unknown"],
] as const) {
  test(`jobs.cancel-processing: a job whose call ${how} after its flag was set is cancelled all the same, uncharged`, async () => {
    const { origin, database, sandbox } = gateway;
    sandbox.addFault({ wire: "deepgram", times: 1, fault: HELD });
    sandbox.addFault({ wire: "deepgram", times: 1, fault });
    await startWorker();
    const { job_id: id } = await submit(origin);
    await sandbox.waitForCall((call) => call.wire === "deepgram");
    assert.equal((await cancel(origin, id)).cancel_requested, true);
    await releaseHeld(sandbox);
    const done = await ended(origin, id);
    assert.deepEqual([done.status, done.error, done.usage], ["cancelled", null, null]);
    assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome, charge: "0" }]);
  });
}

test("jobs.cancel-processing, jobs.cancel-charge: a flagged job without a worker is cancelled at its deadline, and what a provider had accepted is charged as run", async () => {
  const { origin, database } = gateway;
  const taken = async (callState: "reserved" | "submitted"): Promise<string> => {
    const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
    assert.notEqual(await claimJob(database.db, id), null);
    await database.db.updateTable("jobs").set({ call_state: callState }).where("id", "=", id).execute();
    assert.equal((await cancel(origin, id, REMOTE_KEY)).cancel_requested, true);
    return id;
  };
  const [waiting, accepted, locked] = [await taken("reserved"), await taken("submitted"), await taken("submitted")];
  const request = Buffer.from("sealed by a key that is gone");
  await database.db.updateTable("jobs").set({ request }).where("id", "=", locked).execute();
  await pass(gateway, 21_601);
  const [unused, run] = [await poll(origin, waiting, "", REMOTE_KEY), await poll(origin, accepted, "", REMOTE_KEY)];
  assert.deepEqual([unused.status, unused.error, unused.usage], ["cancelled", null, null]);
  assert.equal((await attemptsOf(database, waiting))[0]?.outcome, "failed:cancelled");
  assert.deepEqual([run.status, run.error], ["cancelled", null]);
  assert.ok((run.usage?.billable_audio_seconds ?? 0) > 0, "it says that it is charged");
  const [attempt] = await attemptsOf(database, accepted);
  assert.ok(attempt?.outcome === "aborted" && BigInt(attempt.charge ?? 0) > 0n);
  const unreadable = await poll(origin, locked, "", REMOTE_KEY);
  assert.deepEqual([unreadable.status, unreadable.usage], ["cancelled", null], "what has no price is not charged");
});

test("jobs.cancel-processing: a flagged job that is claimed past its deadline, or once too often, is cancelled", async () => {
  const { origin, database } = gateway;
  const ids: string[] = [];
  for (const attempt of [1, 50]) {
    const { job_id: id } = await submit(origin);
    assert.notEqual(await claimJob(database.db, id), null);
    await database.db.updateTable("jobs").set({ attempt }).where("id", "=", id).execute();
    await cancel(origin, id);
    ids.push(id);
  }
  const late = new Date(Date.now() + 21_601_000);
  await startWorker({ now: () => late });
  await pass(gateway, 31);
  for (const id of ids)
    assert.deepEqual([(await ended(origin, id)).status, (await poll(origin, id)).error], ["cancelled", null]);
});

test("jobs.cancel-race: whichever commits first wins, DELETE returns the stored state, and one that lost returns succeeded", async () => {
  const { origin } = gateway;
  await startWorker();
  const races = 60;
  let lost = 0;
  let turnsOfAll = 0;
  const untouched = 5;
  for (let job = 0; job < untouched; job += 1) {
    const { job_id: id } = await submit(origin);
    while (!isTerminal((await poll(origin, id)).status)) turnsOfAll += 1;
  }
  // From before the job is taken up to well after its end, however fast jobs and polls are here.
  const last = 2 + (1.5 * turnsOfAll) / untouched;
  for (let race = 0; race < races; race += 1) {
    const { job_id: id } = await submit(origin);
    for (let turn = 0; turn < Math.round(((race % 12) / 11) * last); turn += 1) await poll(origin, id);
    const answer = await cancel(origin, id);
    const stored = await ended(origin, id);
    if (isTerminal(answer.status)) assert.deepEqual(answer, stored);
    else assert.deepEqual([answer.status, answer.cancel_requested], ["processing", true]);
    if (answer.status === "succeeded") lost += 1;
    if (answer.cancel_requested) assert.equal(stored.status, "cancelled", "a flag that was set is honoured");
  }
  assert.ok(lost > 0 && lost < races, `${lost} of ${races} cancellations lost their race`);
});
