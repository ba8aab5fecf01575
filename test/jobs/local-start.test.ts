// A job that begins in the process that accepts it: without a message, from the recording in memory, and as safe as any claimed job.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { sql } from "kysely";
import { brand } from "../../src/contract/ids.ts";
import { createLocalStarts, type StartedJob } from "../../src/jobs/local-starts.ts";
import { JOBS_QUEUE } from "../../src/jobs/services.ts";
import type { ReservedSlot } from "../../src/queue/queue.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { HELD } from "../harness/held.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { ended, poll, submit } from "../http/jobs/jobs.ts";
import { assertEvents, jobsFile, paidCalls, pass, SECOND_APP_KEY } from "./setting.ts";

let gateway: TestGateway;
before(async () => {
  // Two slots, of which one app has one.
  gateway = await startGateway({ file: (sandbox) => jobsFile(sandbox, { job_concurrency: 2 }) });
});
after(() => gateway.close());
afterEach(async () => {
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
  await shiftClock(gateway.database, 0);
  await assertEvents(gateway.database);
});

/** The process has looked at the queue, and nothing waits. */
async function queueIsEmpty(): Promise<void> {
  const { queue } = gateway.app.jobs;
  await until(() => {
    const slot = queue.reserve(JOBS_QUEUE, "an app");
    slot?.release();
    return slot !== null;
  });
}

async function messagesOf(jobId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pgboss.job where data ->> 'job_id' = ${jobId}`.execute(gateway.database.db);
  return rows[0]?.count ?? 0;
}

test("jobs.local-start: a job begins in the transaction that accepts it, without a message, and its recording is not read from the store", async (t) => {
  const { app, origin, sandbox } = gateway;
  await queueIsEmpty();
  const opened = t.mock.method(app.jobs.objects, "open");
  const { job_id: id } = await submit(origin);
  const job = await ended(origin, id);
  assert.equal(job.status, "succeeded");
  assert.equal(job.attempts, 1);
  assert.equal(job.started_at, job.created_at);
  assert.equal(await messagesOf(id), 0);
  assert.equal(opened.mock.callCount(), 0);
  assert.equal(paidCalls(sandbox), 1);
});

test("jobs.local-start, jobs.fairness: without a free slot for its app a job waits in the queue, and another app's begins", async () => {
  const { origin, sandbox } = gateway;
  await queueIsEmpty();
  sandbox.addFault({ wire: "deepgram", fault: HELD });
  const first = await submit(origin);
  await sandbox.waitForCall(() => true);
  const second = await submit(origin);
  const other = await submit(origin, { key: SECOND_APP_KEY });
  await until(() => paidCalls(sandbox) === 2);
  assert.deepEqual([await messagesOf(first.job_id), await messagesOf(second.job_id)], [0, 1]);
  assert.equal((await poll(origin, second.job_id)).status, "queued");
  assert.equal((await poll(origin, other.job_id, "", SECOND_APP_KEY)).status, "processing");
  let areEnded = false;
  const all = Promise.all([
    ended(origin, first.job_id),
    ended(origin, second.job_id),
    ended(origin, other.job_id, SECOND_APP_KEY),
  ]).finally(() => (areEnded = true));
  await until(() => sandbox.endDelays() < 0 || areEnded);
  assert.deepEqual(
    (await all).map(({ status }) => status),
    ["succeeded", "succeeded", "succeeded"],
  );
  assert.equal(paidCalls(sandbox), 3);
});

test("jobs.local-start, jobs.dead-worker: a job whose process died at its start is with another worker once its lease has lapsed, and paid once", async (t) => {
  const { app, origin, sandbox } = gateway;
  await queueIsEmpty();
  const begun = t.mock.method(app.jobs.localStarts, "begin", (slot: { release(): void }) => slot.release());
  const { job_id: id } = await submit(origin);
  assert.equal(begun.mock.callCount(), 1);
  begun.mock.restore();
  await pass(gateway, 31);
  const job = await ended(origin, id);
  assert.deepEqual([job.status, job.attempts], ["succeeded", 2]);
  assert.equal(paidCalls(sandbox), 1);
});

test("jobs.local-start, measuring.spool-memory: the memory of a recording is free again when its job fails", async (t) => {
  const { app, origin, sandbox } = gateway;
  await queueIsEmpty();
  const { localStarts } = app.jobs;
  const begin = localStarts.begin.bind(localStarts);
  let released = 0;
  t.mock.method(localStarts, "begin", (slot: ReservedSlot, { job, audio }: StartedJob) => {
    assert.ok(audio !== null);
    const release = (): void => {
      released += 1;
      audio.release();
    };
    begin(slot, { job, audio: { open: audio.open, release } });
  });
  sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 400 } });
  const { job_id: id } = await submit(origin);
  assert.equal((await ended(origin, id)).status, "failed");
  await until(() => released > 0);
});

test("jobs.local-start: a process without a worker has no slot, and one with a worker begins after the answers, and frees the slot when the job's calls have ended", async () => {
  const app = brand("app", "app");
  const works: Parameters<ReservedSlot["begin"]>[0][] = [];
  const slot: ReservedSlot = { begin: (work) => void works.push(work), release: () => undefined };
  const localStarts = createLocalStarts(() => slot);
  const started = { job: { id: "job" } as unknown as StartedJob["job"], audio: null };
  assert.equal(localStarts.reserve(app), null);
  assert.throws(() => localStarts.begin(slot, started), /without a worker/u);
  assert.equal(works.length, 0);
  const runs: StartedJob[] = [];
  const calls = Promise.withResolvers<void>();
  localStarts.workWith((each) => {
    runs.push(each);
    return calls.promise;
  });
  assert.equal(localStarts.reserve(app), slot);
  localStarts.begin(slot, started);
  let isFree = false;
  const message = { signal: new AbortController().signal, freeSlot: () => undefined };
  const ended = works[0]?.(message).then(() => (isFree = true));
  await Promise.resolve();
  assert.deepEqual(runs, [], "the answers go first");
  await until(() => runs.length === 1);
  await Promise.resolve();
  assert.deepEqual([runs, isFree], [[started], false]);
  calls.resolve();
  await ended;
});
