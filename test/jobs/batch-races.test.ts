// Batches of several processes, and processes of two versions, on one database.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { announceCalls, claimJobs } from "../../src/jobs/store/claimed-jobs.ts";
import { lockFenced } from "../../src/jobs/store/end-jobs.ts";
import { bypassRls } from "../../src/storage/system.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { openTestDatabase } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { submit } from "../http/jobs/jobs.ts";
import { jobsFile } from "./setting.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: jobsFile, works: false });
});
after(() => gateway.close());

test("jobs.fenced-writes: announcements of one process and claims of another lock their jobs in the same order", async () => {
  const { db } = gateway.database;
  const ids = await Promise.all([1, 2, 3].map(async () => (await submit(gateway.origin)).job_id));
  const [first, second] = ids.toSorted();
  assert.ok(first !== undefined && second !== undefined);
  await claimJobs(db, ids);
  const announcements = [second, first].map((id) => ({
    fence: { id, attempt: 1 },
    call: { attemptId: newId("attempt"), position: 1 },
    candidates: null,
  }));
  const announced = await bypassRls(gateway.database, "claim").transaction(async (tx) => {
    await sql`select from jobs where id = ${first} for update`.execute(tx);
    const announcing = announceCalls(db, announcements);
    await until(async () => {
      const { rows } =
        await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          db,
        );
      return rows.length > 0;
    });
    await sql`select from jobs where id = ${second} for update`.execute(tx);
    return { announcing };
  });
  assert.equal((await announced.announcing).size, 2);
});

test("jobs.event-stream: a claim enters the stage of the call without the progress of an earlier attempt", async () => {
  const { db } = gateway.database;
  const { job_id: id } = await submit(gateway.origin);
  await claimJobs(db, [id]);
  await db
    .updateTable("jobs")
    .set({ fraction: 0.5, lease_until: new Date(0) })
    .where("id", "=", id)
    .execute();
  const [row] = await claimJobs(db, [id]);
  assert.deepEqual([row?.attempt, row?.stage, row?.fraction], [2, "transcribing", null]);
});

test("storage.transactions: prepared claims and ends go on after the migration of a newer version has added a column", async () => {
  const database = await openTestDatabase({ poolSize: 1 });
  try {
    const { db } = database;
    const claimAndLock = async () => {
      await claimJobs(db, ["job_missing"]);
      await bypassRls(database, "batch").transaction((tx) => lockFenced(tx, [{ id: "job_missing", attempt: 1 }]));
    };
    await claimAndLock();
    await sql`alter table jobs add column of_a_newer_version text`.execute(db);
    await claimAndLock();
  } finally {
    await database.close();
  }
});
