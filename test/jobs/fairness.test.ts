// One app with a long backlog leaves room for another's single job [jobs.fairness].
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { KEY, OTHER_KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { HELD } from "../harness/held.ts";
import { ended, poll, submit } from "../http/jobs/jobs.ts";
import { jobsFile, SECOND_APP_KEY } from "./setting.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: (sandbox) => jobsFile(sandbox, { job_concurrency: 4 }), works: false });
});
after(() => gateway.close());

test("jobs.fairness: another app's single job is claimed at once next to a backlog whose jobs do not end", async () => {
  const { origin, sandbox } = gateway;
  const backlog: string[] = [];
  for (let n = 0; n < 20; n += 1) backlog.push((await submit(origin)).job_id);
  // The first three are under way until the test ends them.
  sandbox.addFault({ wire: "deepgram", times: 3, fault: { kind: "stall" } });
  const worker = await startGateway({
    file: (each) => jobsFile(each, { job_concurrency: 4 }),
    existing: gateway,
  });
  // All three have met their stall: the single job's call must not.
  await sandbox.waitForCall(() => sandbox.calls.filter((call) => call.wire === "deepgram").length === 3);
  const single = await submit(origin, { key: SECOND_APP_KEY });
  assert.equal((await ended(origin, single.job_id, SECOND_APP_KEY)).status, "succeeded");
  const states = await Promise.all(backlog.map(async (id) => (await poll(origin, id)).status));
  assert.equal(states.filter((status) => status === "processing").length, 3, states.join(" "));
  assert.equal(states.filter((status) => status === "queued").length, 17);
  await worker.close();
});

test("jobs.fairness: next to the backlogs of two apps, a third one's single job is claimed before any of them is served again", async () => {
  const { origin, sandbox } = gateway;
  for (let n = 0; n < 12; n += 1) for (const key of [KEY, OTHER_KEY]) await submit(origin, { key });
  sandbox.addFault({ wire: "deepgram", fault: HELD });
  const worker = await startGateway({ file: (each) => jobsFile(each, { job_concurrency: 4 }), existing: gateway });
  await sandbox.waitForCall((call) => call.wire === "deepgram");
  const single = await submit(origin, { key: SECOND_APP_KEY });
  const done = await endedByTurns(single.job_id);
  await worker.close();
  const { rows } = await sql<{ passed: number }>`
    select count(*)::int as passed from jobs as other, jobs as single where single.id = ${single.job_id}
      and other.started_at > single.created_at and other.started_at < single.started_at`.execute(gateway.database.db);
  assert.equal(done.status, "succeeded");
  // One in each slot at the most, taken while the submission was on its way.
  assert.ok((rows[0]?.passed ?? 99) <= 4, `${rows[0]?.passed} jobs came first`);
});

const BACKLOG = 10_000;

for (const slots of [1, 4]) {
  test(`jobs.fairness: next to ${BACKLOG} queued jobs of one app, another's single job waits for one job at most, on ${slots} slots`, async (t) => {
    const { origin, sandbox } = gateway;
    const { job_id: template } = await submit(origin);
    const waiting = await fillUp(template);
    const worker = await startGateway({
      file: (each) => jobsFile(each, { job_concurrency: slots }),
      existing: gateway,
    });
    sandbox.addFault({ wire: "deepgram", fault: HELD });
    sandbox.clearCalls();
    await sandbox.waitForCall((call) => call.wire === "deepgram");
    const single = await submit(origin, { key: SECOND_APP_KEY });
    const done = await endedByTurns(single.job_id);
    await worker.close();
    assert.equal(done.status, "succeeded");
    assert.ok(waiting >= BACKLOG, `${waiting} waited`);
    const { rows } = await sql<{ passed: number; waitedMs: number; usualMs: number }>`
      select count(*) filter (where other.started_at > single.created_at and other.started_at < single.started_at)::int as passed,
        (extract(epoch from single.started_at - single.created_at) * 1000)::int as "waitedMs",
        (percentile_cont(0.5) within group (order by extract(epoch from other.finished_at - other.started_at)) * 1000)::int as "usualMs"
      from jobs as other, jobs as single where single.id = ${single.job_id} and other.started_at is not null
      group by single.id`.execute(gateway.database.db);
    t.diagnostic(
      `waited ${rows[0]?.waitedMs} ms next to ${waiting} queued; others took ${rows[0]?.usualMs} ms (median)`,
    );
    // One in each place at the most, taken while the submission was on its way.
    assert.ok((rows[0]?.passed ?? 99) <= slots, `${rows[0]?.passed} jobs came first`);
  });
}

/** Lets the calls that are held end, all at once and again and again, until the second app's job has ended. */
async function endedByTurns(jobId: string) {
  const { origin, sandbox } = gateway;
  for (;;) {
    sandbox.endDelays();
    const seen = await poll(origin, jobId, "", SECOND_APP_KEY);
    if (seen.finished_at === null) continue;
    sandbox.clearFaults();
    sandbox.endDelays();
    return seen;
  }
}

/** Copies of a job, with their messages, behind those that are there; answers how many wait. None is ever reached. */
async function fillUp(template: string): Promise<number> {
  const { db } = gateway.database;
  const { rows } = await sql<{
    waiting: number;
  }>`select count(*)::int as waiting from jobs where status = 'queued'`.execute(db);
  const missing = Math.max(0, BACKLOG - (rows[0]?.waiting ?? 0));
  await sql`
    insert into jobs select copy.* from jobs as job, generate_series(1, ${missing}::int) as n,
      jsonb_populate_record(job, jsonb_build_object('id', job.id || n)) as copy
    where job.id = ${template}`.execute(db);
  await sql`
    insert into pgboss.job select copy.* from pgboss.job as message, generate_series(1, ${missing}::int) as n,
      jsonb_populate_record(message, jsonb_build_object('id', gen_random_uuid(), 'created_on', clock_timestamp(),
        'singleton_key', ${template} || n, 'data', jsonb_build_object('job_id', ${template} || n))) as copy
    where message.data ->> 'job_id' = ${template}`.execute(db);
  return missing + (rows[0]?.waiting ?? 0);
}
