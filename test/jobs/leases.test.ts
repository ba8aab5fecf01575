// The leases of a process's jobs: renewed together every 10 s, and each lost one is announced to its job [jobs.dead-worker].
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { createLeases } from "../../src/jobs/leases.ts";
import { makeTenant, openTestDatabase, setClock, type TestDatabase } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { at, NOW, storeJob } from "./stored-jobs.ts";

const RENEWED_EVERY_MS = 10_000;

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
  await setClock(database, NOW);
});
after(() => database.close());
beforeEach(async () => {
  await sql`truncate jobs cascade`.execute(database.db);
  const tenant = await makeTenant(database);
  for (const [id, attempt] of [
    ["job_1", 2],
    ["job_2", 3],
    ["job_3", 2],
  ] as const)
    await storeJob(database, tenant, { id, attempt, status: "processing" });
});

async function leasedUntil(id: string): Promise<string | undefined> {
  const row = await database.db.selectFrom("jobs").select("lease_until").where("id", "=", id).executeTakeFirst();
  return row?.lease_until?.toISOString();
}

test("jobs.fenced-writes: a renewal extends the leases of the attempts that this process has, and aborts the others", async (t) => {
  const leases = createLeases({ database, onError: assert.ifError });
  t.after(() => leases.close());
  const held = [
    { id: "job_1", attempt: 2 },
    { id: "job_3", attempt: 2 },
    { id: "job_1", attempt: 1 },
    { id: "job_2", attempt: 2 },
    { id: "job_missing", attempt: 2 },
  ].map((fence) => leases.hold(fence));
  await leases.renew();
  assert.deepEqual(
    held.map(({ lost }) => lost.aborted),
    [false, false, true, true, true],
  );
  assert.deepEqual([await leasedUntil("job_1"), await leasedUntil("job_2")], [at(30), at(20)]);
});

test("jobs.fenced-writes: a process that has lost every job aborts each, and none that it has released", async (t) => {
  const leases = createLeases({ database, onError: assert.ifError });
  t.after(() => leases.close());
  const [released, lost] = [leases.hold({ id: "job_1", attempt: 1 }), leases.hold({ id: "job_2", attempt: 1 })];
  released.release();
  await leases.renew();
  assert.deepEqual([released.lost.aborted, lost.lost.aborted], [false, true]);
});

test("jobs.dead-worker: the lease of a single job is renewed every 10 s, until the worker is closed", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const leases = createLeases({ database, onError: assert.ifError });
  leases.hold({ id: "job_1", attempt: 2 });
  t.mock.timers.tick(RENEWED_EVERY_MS - 1);
  assert.equal(await leasedUntil("job_1"), at(20));
  t.mock.timers.tick(1);
  await until(async () => (await leasedUntil("job_1")) === at(30));
  leases.close();
});

test("jobs.dead-worker: a renewal that fails is reported and made again, until the worker is closed", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const broken = await database.openSecond();
  await broken.close();
  const errors: unknown[] = [];
  const leases = createLeases({ database: broken, onError: (error) => errors.push(error) });
  const { lost } = leases.hold({ id: "job_1", attempt: 2 });
  for (const count of [1, 2]) {
    t.mock.timers.tick(RENEWED_EVERY_MS);
    await until(() => errors.length === count);
  }
  assert.equal(lost.aborted, false);
  leases.close();
  t.mock.timers.tick(RENEWED_EVERY_MS);
  await assert.rejects(leases.renew());
  assert.equal(errors.length, 2);
});

test("jobs.graceful-stop: the renewal of leases keeps no process alive", (t) => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const leases = createLeases({ database, onError: assert.ifError });
  t.after(() => leases.close());
  assert.equal(timers(), before);
});
