// What time does to jobs: a deadline in the queue and at work [jobs.deadline], the purge of everything that was spoken
// [jobs.result-retention], the end of the row.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { purgeJobs, purgeObjects, removeOrphans, sweepJobs } from "../../src/jobs/sweep.ts";
import { claimJob, renewJobLeases, writeProgress } from "../../src/jobs/store/claimed-jobs.ts";
import { get, postForm } from "../harness/client.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { ended, JOBS, poll, submit } from "../http/jobs/jobs.ts";
import { startIdleGateway } from "./idle-gateway.ts";
import { attemptsOf, dumpTables, jobsFile, paidCalls, pass, REMOTE_KEY } from "./setting.ts";

const { gateway, startWorker } = await startIdleGateway();

test("jobs.deadline: a deadline that passes in the queue ends the job, uncharged, without a call", async () => {
  const { origin, database, sandbox } = gateway;
  const { job_id: id } = await submit(origin);
  await pass(gateway, 21_590);
  assert.equal((await poll(origin, id)).status, "queued");
  await pass(gateway, 21_601);
  const done = await poll(origin, id);
  assert.deepEqual([done.status, done.error?.code], ["failed", "JOB_DEADLINE_EXCEEDED"]);
  assert.notEqual(done.started_at, null);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:not_called", charge: "0" }]);
  assert.equal(paidCalls(sandbox), 0);
});

test("jobs.deadline: a deadline that passed while the job had no worker ends it as soon as it is claimed", async () => {
  const { origin, sandbox } = gateway;
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  const late = new Date(Date.now() + 21_601_000);
  await startWorker({ now: () => late });
  const done = await ended(origin, id, REMOTE_KEY);
  assert.deepEqual([done.status, done.error?.code], ["failed", "JOB_DEADLINE_EXCEEDED"]);
  assert.equal(paidCalls(sandbox), 0);
});

test("jobs.deadline-hung-worker: R3, a job whose worker hangs and renews its lease is ended two minutes after its deadline, and that worker changes nothing", async () => {
  const { origin, database } = gateway;
  const { job_id: id } = await submit(origin);
  const row = await claimJob(database.db, id);
  assert(row !== null);
  const held = async (seconds: number): Promise<void> => {
    await shiftClock(database, seconds);
    await renewJobLeases(database.db, [row]);
    await pass(gateway, seconds);
  };
  await held(21_600 + 119);
  assert.equal((await poll(origin, id)).status, "processing");
  await held(21_600 + 121);
  const done = await poll(origin, id);
  assert.deepEqual([done.status, done.error?.code], ["failed", "JOB_DEADLINE_EXCEEDED"]);
  assert.equal(await writeProgress(database.db, row, { stage: "storing", fraction: null }), null);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:not_called", charge: "0" }]);
});

test("jobs.deadline: a job that no worker can even open ends at its deadline", async () => {
  const { origin, database } = gateway;
  const { job_id: id } = await submit(origin);
  await database.db
    .updateTable("jobs")
    .set({ request: Buffer.from("sealed by a key that is gone") })
    .where("id", "=", id)
    .execute();
  const worker = await startWorker();
  await until(async () => (await poll(origin, id)).attempts > 0);
  await worker.close();
  await pass(gateway, 21_700);
  const done = await poll(origin, id);
  assert.deepEqual([done.status, done.error?.code], ["failed", "JOB_DEADLINE_EXCEEDED"]);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:not_called", charge: "0" }]);
});

for (const state of ["submitting", "submitted"] as const) {
  test(`jobs.deadline-in-call: a deadline that passes with a ${state} call ends the job as PROVIDER_RESULT_UNKNOWN, which is not retryable`, async () => {
    const { origin, database } = gateway;
    const { job_id: id } = await submit(origin);
    const row = await claimJob(database.db, id);
    assert(row?.call_attempt_id !== undefined && row.call_attempt_id !== null);
    await database.db.updateTable("jobs").set({ call_state: state, call_position: 1 }).where("id", "=", id).execute();
    await pass(gateway, 21_700);
    const done = await poll(origin, id);
    assert.deepEqual(
      [done.status, done.error?.code, done.error?.retryable],
      ["failed", "PROVIDER_RESULT_UNKNOWN", false],
    );
    assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
  });
}

test("jobs.deadline-in-call: a worker whose call is in flight at the deadline ends the job as PROVIDER_RESULT_UNKNOWN, and calls no provider after it", async () => {
  const { origin, sandbox, database } = gateway;
  sandbox.clearCalls();
  sandbox.addFault({ fault: { kind: "stall" } });
  const { job_id: id } = await submit(origin);
  const { deadline_at: deadlineAt } = await database.db
    .selectFrom("jobs")
    .select("deadline_at")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  // The worker's clock: shortly before the deadline until the provider has the request, then at it.
  const leftMs = (): number => (paidCalls(sandbox) === 0 ? 200 : 0);
  await startWorker({ now: () => new Date(deadlineAt.getTime() - leftMs()) });
  const done = await ended(origin, id);
  sandbox.clearFaults();
  assert.deepEqual(
    [done.status, done.error?.code, done.error?.retryable],
    ["failed", "PROVIDER_RESULT_UNKNOWN", false],
  );
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
  assert.equal(paidCalls(sandbox), 1);
});

test("jobs.result-retention, idempotency.job-ttl: after its time nothing of what was spoken is in any table or file, and the key is free", async () => {
  const headers = { "idempotency-key": "purge" };
  const prompt = "canary of the prompt";
  const contents = new Set<string>();
  async function succeeded(origin: string, asked: Parameters<typeof submit>[1]): Promise<string> {
    const { job_id: id } = await submit(origin, asked);
    const done = await ended(origin, id);
    assert.equal(done.status, "succeeded", JSON.stringify(done.error));
    contents.add((await get(origin, `${JOBS}/${id}?format=text`)).text.trim());
    return id;
  }
  // One with its result in the object store, one with its result in its row: only one worker lives at a time.
  const small = await startWorker({ file: (sandbox) => jobsFile(sandbox, { stt_job_inline_result_bytes: 64 }) });
  const stored = await succeeded(small.origin, { fields: { prompt }, headers });
  await small.close();
  const inline = await startWorker();
  const ids = [stored, await succeeded(inline.origin, { fields: { prompt, keyterms: "canaryterm" } })];
  assert.ok([...contents].every((text) => text.length > 10));
  await purgeObjects(gateway.app.jobs);
  assert.deepEqual(objects("audio"), [], "spooled audio goes when the job is terminal");

  // What is past its time is gone for callers before the sweep comes by.
  await shiftClock(gateway.database, 259_200 + 60);
  for (const id of ids) {
    const { result, result_url: url, result_expired: isExpired } = await poll(gateway.origin, id);
    assert.deepEqual([result, url, isExpired], [null, null, true]);
    assert.equal((await get(gateway.origin, `${JOBS}/${id}?format=text`)).code, "NOT_FOUND");
  }
  assert.equal(objects("results").length, 1, "the sweep came by");

  await pass(gateway, 259_200 + 60);
  for (const id of ids) {
    const purged = await poll(gateway.origin, id);
    assert.deepEqual(
      [purged.status, purged.result, purged.result_url, purged.result_expired],
      ["succeeded", null, null, true],
    );
    assert.equal((await get(gateway.origin, `${JOBS}/${id}?format=srt`)).code, "NOT_FOUND");
    const row = await gateway.database.db.selectFrom("jobs").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    assert.deepEqual(
      [row.request, row.result, row.result_key, row.audio_key, row.slot_key, row.remote_run],
      [null, null, null, null, null, null],
    );
  }
  assert.deepEqual(objects("results"), []);
  // Sealed bytes would hide a canary: nothing sealed is left either, so plain text is all there is to search.
  const dump = await dumpTables(gateway.database);
  for (const canary of [...contents, "canary of the prompt", "canaryterm"]) assert.ok(!dump.includes(canary), canary);
  await gateway.app.gateway.idempotency.sweep();
  const again = await postForm(gateway.origin, { path: JOBS, headers, fields: { prompt: "another" } });
  assert.equal(again.status, 202, "the key's answer went with the result");

  await pass(gateway, 31 * 86_400);
  assert.equal((await get(gateway.origin, `${JOBS}/${ids[0]}`)).code, "JOB_NOT_FOUND");
});

test("jobs.purge-progress: a result that the store does not delete delays no other purge and no deadline, and goes when it can", async () => {
  const { database, app } = gateway;
  const worker = await startWorker({ file: (sandbox) => jobsFile(sandbox, { stt_job_inline_result_bytes: 64 }) });
  const ids: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const { job_id: id } = await submit(worker.origin);
    assert.equal((await ended(worker.origin, id)).status, "succeeded");
    ids.push(id);
  }
  await worker.close();
  const { job_id: waiting } = await submit(gateway.origin);
  const remove = app.jobs.objects.remove.bind(app.jobs.objects);
  Object.assign(app.jobs.objects, {
    remove: (key: string) => (key.includes(ids[0] ?? "") ? Promise.reject(new Error("held")) : remove(key)),
  });
  const purged = async () => {
    await pass(gateway, 259_200 + 60);
    const rows = await database.db
      .selectFrom("jobs")
      .select("purged_at")
      .where("id", "in", ids)
      .orderBy("id")
      .execute();
    return rows.map(({ purged_at: at }) => at !== null);
  };
  assert.deepEqual(await purged(), [false, true]);
  assert.equal((await poll(gateway.origin, waiting)).error?.code, "JOB_DEADLINE_EXCEEDED");
  Object.assign(app.jobs.objects, { remove });
  assert.deepEqual(await purged(), [true, true]);
});

test("jobs.purge-progress, api.drain-background: R14, a stop waits for no deadline that passed meanwhile; the next process ends those jobs", async () => {
  const { origin, database, app } = gateway;
  const { job_id: id } = await submit(origin);
  await shiftClock(database, 21_601);
  await sweepJobs(app.jobs, AbortSignal.abort());
  assert.equal((await poll(origin, id)).status, "queued");
  await pass(gateway, 21_601);
  assert.equal((await poll(origin, id)).error?.code, "JOB_DEADLINE_EXCEEDED");
});

test("jobs.result-storage-retry: a result that the disk does not accept is kept until it does; no provider is called again", async () => {
  await startWorker({ file: (sandbox) => jobsFile(sandbox, { stt_job_inline_result_bytes: 64 }) });
  const folder = join(gateway.dataDir, "objects", "results");
  await rm(folder, { recursive: true, force: true });
  // Nothing can be put below what is no folder.
  await writeFile(folder, "");
  const { job_id: id } = await submit(gateway.origin);
  await until(async () => (await poll(gateway.origin, id)).progress.stage === "storing");
  assert.equal((await poll(gateway.origin, id)).status, "processing");
  await rm(folder);
  const done = await ended(gateway.origin, id);
  assert.deepEqual([done.status, done.attempts], ["succeeded", 1]);
  assert.equal(paidCalls(gateway.sandbox), 1);
  const kept = await fetch(new URL(done.result_url ?? "", gateway.origin));
  assert.equal(kept.status, 200);
  await kept.body?.cancel();
});

test("jobs.orphans: what a failed submission or a lost attempt left in the object store is removed, and what is named stays", async () => {
  const { objects: store } = gateway.app.jobs;
  const { job_id: id } = await submit(gateway.origin);
  for (const key of ["audio/job_never_committed", `results/${id}/7`])
    await store.put(
      key,
      (async function* () {
        yield Buffer.from("left behind");
      })(),
      11,
    );
  const jobs = gateway.app.jobs;
  await removeOrphans(jobs);
  assert.equal(objects("audio").length >= 2, true, "what is young may still be named");
  const later = new Date(Date.now() + 7_200_000);
  await removeOrphans({ ...jobs, gateway: { ...jobs.gateway, now: () => later } });
  assert.ok(!objects("results").some((path) => path.includes(id)));
  assert.ok(objects("audio").some((path) => path.endsWith(id)));
  assert.ok(!objects("audio").some((path) => path.endsWith("never_committed")));
});

test("jobs.purge-progress, jobs.result-retention: however many jobs are past their time at once, one round purges them, and forgets those that are 30 days old", async () => {
  const { database, app } = gateway;
  const many = sql`'job_many_' || lpad(n::text, 5, '0')`;
  const job = await database.db
    .selectFrom("jobs")
    .select(["workspace_id", "app_id"])
    .limit(1)
    .executeTakeFirstOrThrow();
  await sql`insert into jobs (id, workspace_id, app_id, request_id, task, purpose, deadline_at)
    select ${many}, ${job.workspace_id}, ${job.app_id}, 'req_many', 'transcribe', '{}', patchbay_now() + interval '1 hour'
    from generate_series(1, 1100) as n`.execute(database.db);
  await sql`update jobs set status = 'cancelled', finished_at = patchbay_now() - interval '31 days',
    expires_at = patchbay_now() - interval '28 days' where request_id = 'req_many'`.execute(database.db);
  await purgeJobs(app.jobs);
  assert.deepEqual(
    await database.db.selectFrom("jobs").select("id").where("request_id", "=", "req_many").execute(),
    [],
  );
});

function objects(prefix: string): readonly string[] {
  return globSync(join(gateway.dataDir, "objects", prefix, "**/*")).filter((path) => isFile(path));
}

function isFile(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
