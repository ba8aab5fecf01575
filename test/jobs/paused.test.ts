// Jobs whose targets are paused by hand [jobs.paused-target]: nothing is sent there, other targets serve, and a job without one waits,
// holding no worker, until it is resumed or its deadline passes [jobs.paused-wakeup].
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { sql } from "kysely";
import { requestRecord } from "../../src/contract/requests.ts";
import { offerLapsed } from "../../src/jobs/sweep.ts";
import { get } from "../harness/client.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { KEY, type TestGateway } from "../harness/gateway.ts";
import { pauseIn, resumeIn } from "../harness/pause.ts";
import { until } from "../harness/until.ts";
import { call, OPERATOR_KEY } from "../http/admin/admin.ts";
import { cancel, ended, poll, submit } from "../http/jobs/jobs.ts";
import { startIdleGateway } from "./idle-gateway.ts";
import { attemptsOf, jobsFile, paidCalls, pass, REMOTE_KEY } from "./setting.ts";

const { gateway, startWorker, leftWhilePolled } = await startIdleGateway((sandbox) => ({
  ...jobsFile(sandbox),
  operator_keys: [{ id: "root", secret: OPERATOR_KEY }],
  routes: [
    { id: "speech", targets: [{ connection: "dg", model: "nova-3" }] },
    {
      id: "remote",
      targets: [
        { connection: "aa", model: "universal-2" },
        { connection: "dg", model: "nova-3" },
      ],
    },
  ],
}));
afterEach(() => resumeIn(gateway));

const laidAside = async (id: string): Promise<number> => {
  const { database } = gateway;
  const row = await database.db.selectFrom("jobs").select("laid_aside").where("id", "=", id).executeTakeFirstOrThrow();
  return row.laid_aside;
};
/** So much time passes, and the watch over leases looks. */
const passed = async (seconds: number): Promise<void> => {
  await shiftClock(gateway.database, seconds);
  await offerLapsed(gateway.app.jobs);
};
const lookAgain = (times: number): Promise<void> => passed(times * 301);
const messages = async (): Promise<number> => {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pgboss.job`.execute(
    gateway.database.db,
  );
  return rows[0]?.count ?? 0;
};
const resumed = async (worker: TestGateway): Promise<void> => {
  await resumeIn(gateway);
  await worker.app.refreshDirectory();
};

test("jobs.paused-target, jobs.attempts-exhausted: a job whose only target is paused is accepted, waits however often it is looked at, and is served once the target is resumed", async () => {
  const { origin, database, sandbox } = gateway;
  await pauseIn(gateway, "dg");
  const { job_id: id } = await submit(origin);
  const worker = await startWorker();
  // More often than a job may fail to come to an end.
  for (let times = 1; times <= 8; times += 1) {
    await until(async () => (await laidAside(id)) === times);
    assert.equal((await poll(origin, id)).status, "processing");
    if (times < 8) await lookAgain(times);
  }
  assert.equal(paidCalls(sandbox), 0);
  assert.equal((await attemptsOf(database, id)).filter(({ state }) => state !== "open").length, 0);
  const [row] = await database.db.selectFrom("jobs").select("request_id").where("id", "=", id).execute();
  await gateway.app.requestLog.flush();
  const record = requestRecord.parse((await get(origin, `/v1/requests/${row?.request_id}`)).json);
  assert.deepEqual(
    record.job?.candidates.map(({ health, outcome }) => [health, outcome]),
    [["resting", "left"]],
  );
  assert.match(record.summary, /paused manually until/u);

  await resumed(worker);
  await lookAgain(8);
  assert.equal((await ended(origin, id, KEY)).status, "succeeded");
  assert.equal(paidCalls(sandbox), 1);
});

test("jobs.paused-wakeup: a waiting job costs nothing for minutes, and is served at once when its target is resumed", async () => {
  const { origin, database, sandbox } = gateway;
  // Another's pause is of no concern.
  for (const id of ["dg", "oa"]) await call(gateway, "POST", `/admin/v1/connections/${id}/pause`, { body: {} });
  const worker = await startWorker();
  const { job_id: id } = await submit(origin);
  await until(async () => (await laidAside(id)) === 1);
  const before = await messages();
  await passed(200);
  assert.deepEqual([await messages(), await laidAside(id)], [before, 1]);
  // Of a connection that is not paused: no job is woken for that.
  await call(gateway, "POST", "/admin/v1/connections/local/resume", { body: {} });
  await passed(210);
  assert.equal(await messages(), before);

  await call(gateway, "POST", "/admin/v1/connections/dg/resume", { body: {} });
  await worker.app.refreshDirectory();
  await passed(220);
  assert.equal((await ended(origin, id, KEY)).status, "succeeded");
  assert.equal(paidCalls(sandbox), 1);
  assert.equal((await attemptsOf(database, id)).length, 1);
});

test("jobs.paused-wakeup: a waiting job is looked at when the pause ends, and not before", async () => {
  const { origin, database } = gateway;
  await call(gateway, "POST", "/admin/v1/connections/dg/pause", { body: { duration_seconds: 120 } });
  await startWorker();
  const { job_id: id } = await submit(origin);
  await until(async () => (await laidAside(id)) === 1);
  const { rows } = await sql`select from jobs, connection_pauses where id = ${id} and lease_until = ends_at`.execute(
    database.db,
  );
  assert.equal(rows.length, 1);
});

test("jobs.paused-target: another target of the route serves meanwhile, and only that is called and charged", async () => {
  const { origin, database, sandbox } = gateway;
  await pauseIn(gateway, "aa", "universal-2");
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await startWorker();
  assert.equal((await ended(origin, id, REMOTE_KEY)).status, "succeeded");
  assert.deepEqual(
    sandbox.calls.map(({ wire }) => wire),
    ["deepgram"],
  );
  assert.deepEqual(
    (await attemptsOf(database, id)).map(({ outcome, charge }) => [outcome, charge === "0"]),
    [
      // What the submission reserved, by its first target.
      ["failed:not_called", true],
      ["succeeded", false],
    ],
  );
});

test("jobs.paused-target: a run that was begun before its target was paused is polled to its end", async () => {
  const { origin, sandbox } = gateway;
  const id = await leftWhilePolled();
  await pauseIn(gateway, "aa");
  await startWorker();
  assert.equal((await ended(origin, id, REMOTE_KEY)).status, "succeeded");
  assert.equal(paidCalls(sandbox), 1);
  assert.ok(sandbox.calls.every(({ wire }) => wire === "assemblyai"));
});

test("jobs.paused-target, jobs.deadline: a waiting job can be cancelled, and its deadline ends it; neither is charged", async () => {
  const { origin, database, sandbox } = gateway;
  await pauseIn(gateway, "dg");
  const worker = await startWorker();
  const { job_id: id } = await submit(origin);
  await until(async () => (await laidAside(id)) === 1);
  assert.equal((await cancel(origin, id, KEY)).cancel_requested, true);
  await passed(10);
  assert.equal((await ended(origin, id, KEY)).status, "cancelled");

  const { job_id: late } = await submit(origin);
  await until(async () => (await laidAside(late)) === 1);
  // Its own clock is stopped.
  await worker.close();
  await pass(gateway, 21_700);
  const done = await ended(origin, late, KEY);
  assert.deepEqual([done.status, done.error?.code], ["failed", "JOB_DEADLINE_EXCEEDED"]);
  assert.equal(paidCalls(sandbox), 0);
  for (const job of [id, late])
    assert.deepEqual(
      (await attemptsOf(database, job)).map(({ charge }) => charge),
      ["0"],
    );
});
