// Cancellation (spec 3; contract 5): at once while queued, between stages while worked on, never once ended; and the answer always
// says what is stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isTerminal } from "../../src/jobs/states.ts";
import { cancel, ended, poll, submit } from "../http/jobs/jobs.ts";
import { startIdleGateway } from "./idle-gateway.ts";
import { attemptsOf, paidCalls, REMOTE_KEY } from "./setting.ts";

const { gateway, startWorker } = await startIdleGateway();

test("spec 3: a queued job is cancelled at once, its reservation given back, and a second DELETE changes nothing", async () => {
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

test("spec 3: a job worked on keeps processing with its flag, is cancelled after the call, and is charged as run", async () => {
  const { origin, database, sandbox } = gateway;
  sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "delay", ms: 400 } });
  await startWorker();
  const { job_id: id } = await submit(origin);
  await sandbox.waitForCall((call) => call.wire === "deepgram");
  const flagged = await cancel(origin, id);
  assert.deepEqual([flagged.status, flagged.cancel_requested], ["processing", true]);
  const done = await ended(origin, id);
  assert.equal(done.status, "cancelled");
  assert.equal(done.result, null);
  assert.ok((done.usage?.billable_audio_seconds ?? 0) > 0, "it says that it is charged");
  const [attempt] = await attemptsOf(database, id);
  assert.equal(attempt?.outcome, "aborted");
  assert.ok(BigInt(attempt.charge ?? 0) > 0n);
});

test("contract 5: a run at a provider is cancelled between two polls, charged as run and deleted there", async () => {
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

test("spec 3: whoever wins the race, the answer to DELETE is what is stored, and a lost one says succeeded", async () => {
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
