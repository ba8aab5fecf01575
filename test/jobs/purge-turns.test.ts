// One round of the purge [jobs.purge-progress]: what it asks of the store and reports, what a store that deletes nothing delays, and how
// soon it stops. Each test has a gateway of its own, whose own rounds, every ten seconds from its start, come later.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type RawBuilder, sql } from "kysely";
import { purgeJobs, purgeObjects, removeOrphans } from "../../src/jobs/sweep.ts";
import type { ObjectStore } from "../../src/objects/store.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { jobsFile } from "./setting.ts";

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway({ file: jobsFile, works: false });
});
afterEach(() => gateway.close());

/** Jobs of long ago whose recordings are still there, and their results in the object store or (null) nowhere. */
async function addExpired(requestId: string, count: number, resultKey: RawBuilder<unknown>): Promise<void> {
  const { db } = gateway.database;
  const { workspace_id: workspace, id: appId } = await db
    .selectFrom("apps")
    .select(["workspace_id", "id"])
    .limit(1)
    .executeTakeFirstOrThrow();
  await sql`insert into jobs (id, workspace_id, app_id, request_id, task, purpose, deadline_at)
    select 'job_' || ${requestId}::text || '_' || n, ${workspace}, ${appId}, ${requestId}, 'transcribe', '{}', patchbay_now()
    from generate_series(1, ${count}::int) as n`.execute(db);
  await sql`update jobs set status = 'processing', lease_until = patchbay_now() where request_id = ${requestId}`.execute(
    db,
  );
  await sql`update jobs set status = 'succeeded', lease_until = null, audio_key = 'audio/' || id, result_key = ${resultKey},
    finished_at = patchbay_now() - interval '31 days', expires_at = patchbay_now() - interval '28 days'
    where request_id = ${requestId}`.execute(db);
}

test("jobs.result-retention: what was purged is reported for vacuuming at once, however long the store takes with what else is due", async () => {
  const { jobs } = gateway.app;
  await addExpired("req_known", 1, sql`'results/' || id`);
  const events: string[] = [];
  const remove = async (key: string): Promise<void> => void events.push(key);
  const onPurged = (): void => void events.push("purged");
  await purgeObjects({ ...jobs, objects: { ...jobs.objects, remove } }, { onPurged });
  assert.deepEqual(events, ["results/job_req_known_1", "purged", "audio/job_req_known_1"]);
  await purgeJobs(jobs);
});

test("jobs.purge-progress: 501 results and recordings that the store does not delete delay none behind them, nor any that need no store", async () => {
  const { database, app } = gateway;
  await addExpired("req_held", 501, sql`'results/' || id`);
  await addExpired("req_next", 1, sql`'results/' || id`);
  await addExpired("req_row", 1, sql`null`);
  const asked: string[] = [];
  const remove = async (key: string): Promise<void> => {
    asked.push(key);
    if (key.includes("req_held")) throw new Error("held");
  };
  await purgeObjects({ ...app.jobs, objects: { ...app.jobs.objects, remove } });
  assert.deepEqual([asked.length, new Set(asked).size], [1005, 1005], "each is asked for once a turn");
  const left = async () =>
    database.db
      .selectFrom("jobs")
      .select(["id", "purged_at", "audio_key"])
      .where("request_id", "in", ["req_next", "req_row"])
      .orderBy("id")
      .execute();
  const [next, row] = await left();
  assert.deepEqual([next?.purged_at !== null, next?.audio_key], [true, null]);
  assert.deepEqual([row?.purged_at, row?.audio_key], [null, null]);
  await purgeJobs(app.jobs);
  assert.deepEqual(await left(), [], "asks no store, and waits for none");
  await purgeObjects(app.jobs);
  await purgeJobs(app.jobs);
});

test("jobs.purge-progress: R14, a stop waits for the one object that the store is deleting, and not for all that are due", async () => {
  const { database, app } = gateway;
  await addExpired("req_stop", 3, sql`'results/' || id`);
  const asked: string[] = [];
  const stop = new AbortController();
  const objects: ObjectStore = {
    ...app.jobs.objects,
    remove: async (key) => {
      asked.push(key);
      stop.abort();
      throw new Error("it is unavailable");
    },
    async *listOlder() {
      yield* ["audio/never_named", "audio/nor_this"];
    },
  };
  await purgeObjects({ ...app.jobs, objects }, { stopping: stop.signal });
  assert.equal(asked.length, 1);
  await removeOrphans({ ...app.jobs, objects }, stop.signal);
  assert.equal(asked.length, 1);
  await purgeObjects(app.jobs);
  await purgeJobs(app.jobs);
  const left = await database.db.selectFrom("jobs").select("id").where("request_id", "=", "req_stop").execute();
  assert.deepEqual(left, []);
});

test("jobs.purge-progress: R14, a stop waits for the one job that is purged in its row, and not for all that expired", async () => {
  const { database, app } = gateway;
  await addExpired("req_rows", 3, sql`null`);
  const stop = new AbortController();
  let purged = 0;
  const onPurged = (): void => {
    purged += 1;
    stop.abort();
  };
  const left = () => database.db.selectFrom("jobs").select("id").where("request_id", "=", "req_rows").execute();
  await purgeJobs(app.jobs, { stopping: stop.signal, onPurged });
  assert.equal(purged, 1);
  assert.equal((await left()).length, 3, "nor for the rows of long ago that go then");
  await purgeJobs(app.jobs);
  await purgeObjects(app.jobs);
  assert.deepEqual(await left(), []);
});
