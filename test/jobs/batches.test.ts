// Submissions, claims and ends of jobs that share a transaction: none affects another.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { type AppId, brand, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { createEndBatch } from "../../src/jobs/end-batch.ts";
import { endJob } from "../../src/jobs/end-job.ts";
import type { JobEnd } from "../../src/jobs/job-end.ts";
import { deadlinePassed, jobErrorOf } from "../../src/jobs/job-error.ts";
import { openSettlement } from "../../src/jobs/run/settle-open.ts";
import { claimJob } from "../../src/jobs/store/claimed-jobs.ts";
import type { PendingSubmission } from "../../src/jobs/submission.ts";
import { purgeObjects } from "../../src/jobs/sweep.ts";
import { reservationOf } from "./job-reservation.ts";
import type { JobRow } from "../../src/storage/schema/tables.ts";
import { bypassRls } from "../../src/storage/system.ts";
import { ObjectMissing } from "../../src/objects/store.ts";
import { OTHER_KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { shiftClock, withSystemAccess } from "../harness/postgres/database.ts";
import { cancel, poll, submit } from "../http/jobs/jobs.ts";
import { assertEvents, attemptsOf, jobsFile } from "./setting.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: jobsFile, works: false });
});
after(() => gateway.close());

/** Submitted over HTTP and claimed. */
async function claimed(): Promise<JobRow> {
  const { job_id: id } = await submit(gateway.origin);
  const row = await claimJob(gateway.database.db, id);
  assert.ok(row !== null);
  return row;
}

const failing = (locked: JobRow): JobEnd => ({
  status: "failed",
  error: jobErrorOf(deadlinePassed(null)),
  settlement: openSettlement(locked, "failed:not_called"),
});

const succeeding =
  (result: Buffer | null) =>
  (locked: JobRow): JobEnd => ({
    status: "succeeded",
    stored: { result, resultKey: null },
    settlement: openSettlement(locked, "failed:not_called"),
  });

/** Rows that one transaction wrote have the same number. */
async function transactionsOf(ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ xmin: string }>`
    select xmin::text from jobs where id = any(${ids}::text[])`.execute(gateway.database.db);
  return rows.map(({ xmin }) => xmin);
}

test("jobs.end-transaction, jobs.fenced-writes: jobs that end together share a transaction, each with its own end, and one of an older attempt changes nothing", async () => {
  const { app, database, origin } = gateway;
  const [first, second, third, taken] = [await claimed(), await claimed(), await claimed(), await claimed()];
  const ends = await Promise.all([
    endJob(app.jobs, first, succeeding(Buffer.from("first"))),
    endJob(app.jobs, { id: taken.id, attempt: taken.attempt - 1 }, failing),
    endJob(app.jobs, second, failing),
    endJob(app.jobs, third, succeeding(Buffer.from("the third"))),
  ]);
  assert.deepEqual(ends, [true, false, true, true]);
  await app.jobs.removals.done();
  const rows = await database.db
    .selectFrom("jobs")
    .select(["id", "status", "result", "audio_key"])
    .where("id", "in", [first.id, second.id, third.id])
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  assert.deepEqual(
    [first, second, third].map(({ id }) => [byId.get(id)?.status, byId.get(id)?.result?.toString() ?? null]),
    [
      ["succeeded", "first"],
      ["failed", null],
      ["succeeded", "the third"],
    ],
  );
  assert.deepEqual(
    rows.map((row) => row.audio_key),
    [null, null, null],
  );
  assert.equal((await poll(origin, taken.id)).status, "processing");
  for (const { id } of [first, second, third]) assert.equal((await attemptsOf(database, id))[0]?.state, "settled");
  const { rows: events } = await sql<{ xmin: string }>`select xmin::text from webhook_events
    where job_id = any(${[first.id, second.id, third.id]}::text[])`.execute(database.db);
  assert.equal(events.length, 3);
  assert.equal(new Set(events.map(({ xmin }) => xmin)).size, 1);
  await assertEvents(database);
});

test("jobs.end-transaction: large results that are stored at once do not share a transaction, so that a statement's size is bounded", async () => {
  const { app } = gateway;
  const large = Buffer.alloc(3 * 1024 * 1024, 1);
  const jobs = await Promise.all(Array.from({ length: 4 }, claimed));
  const ends = await Promise.all(jobs.map((job) => endJob(app.jobs, job, succeeding(large), large.length)));
  assert.deepEqual(ends, [true, true, true, true]);
  await app.jobs.removals.done();
  const { rows } = await sql<{ xmin: string; jobs: bigint }>`select xmin::text, count(*) as jobs from webhook_events
    where job_id = any(${jobs.map(({ id }) => id)}::text[]) group by 1`.execute(gateway.database.db);
  assert.deepEqual(
    rows.map((row) => Number(row.jobs)),
    [2, 2],
  );
});

test("jobs.audio-retention: what the store cannot delete at the end of jobs, or their process did not live to delete, the next sweep finds in their one record", async () => {
  const { app, database } = gateway;
  const { jobs } = app;
  const remove = async (): Promise<void> => {
    throw new Error("it is unavailable");
  };
  const endInBatch = createEndBatch({ ...jobs, objects: { ...jobs.objects, remove } });
  const ending = [await claimed(), await claimed()];
  assert.deepEqual(await Promise.all(ending.map((job) => endJob({ ...jobs, endInBatch }, job, failing))), [true, true]);
  await jobs.removals.done();
  const keys = ending.map(({ id }) => `audio/${id}`);
  const records = async () =>
    (await database.db.selectFrom("spent_audio").select("keys").execute()).map((row) => row.keys);
  assert.deepEqual(await records(), [keys]);
  await purgeObjects(jobs);
  assert.deepEqual(await records(), [keys], "a process that lives is deleting it");
  await shiftClock(database, 11);
  await purgeObjects(jobs);
  assert.deepEqual(await records(), []);
  for (const key of keys) await assert.rejects(jobs.objects.open(key), ObjectMissing);
});

/** Ends jobs as this process does, and counts its transactions. */
function countedEnds() {
  const { app, database } = gateway;
  const counted = { transactions: 0 };
  const counting = withSystemAccess(database, {
    transaction: (work) => {
      counted.transactions += 1;
      return database.transaction(work);
    },
  });
  return { counted, endInBatch: createEndBatch({ ...app.jobs, database: counting }) };
}

test("jobs.end-transaction, webhooks.event-per-end: of two ends of one attempt that are stored together the first counts", async () => {
  const { counted, endInBatch } = countedEnds();
  const { id, attempt } = await claimed();
  const fence = { id, attempt };
  const [first, second] = await Promise.all([
    endInBatch({ fence, endOf: failing, resultBytes: 0 }),
    endInBatch({ fence, endOf: succeeding(Buffer.from("too late")), resultBytes: 8 }),
  ]);
  assert.deepEqual([first?.end.status, second, counted.transactions], ["failed", null, 1]);
  assert.equal((await poll(gateway.origin, id)).status, "failed");
  await assertEvents(gateway.database);
});

test("jobs.end-transaction: at most 32 ends and 8 MiB of results share a transaction", async () => {
  const { counted, endInBatch } = countedEnds();
  const MIB = 1024 * 1024;
  for (const [results, expected] of [
    [Array.from({ length: 32 }, () => 0), 1],
    [Array.from({ length: 33 }, () => 0), 2],
    [[4 * MIB, 4 * MIB], 1],
    [[4 * MIB, 4 * MIB + 1], 2],
    [[9 * MIB], 1],
  ] as const) {
    counted.transactions = 0;
    const ends = results.map((resultBytes) =>
      endInBatch({ fence: { id: newId("job"), attempt: 1 }, endOf: failing, resultBytes }),
    );
    assert.ok((await Promise.all(ends)).every((end) => end === null));
    assert.equal(counted.transactions, expected, `${results.length} of ${results.at(-1)} bytes`);
  }
});

test("webhooks.tenancy, jobs.end-transaction: jobs of two workspaces that end together have events, deliveries and messages of their own workspace, and a caller's cancellation has them too", async () => {
  const { app, database, origin } = gateway;
  const { db } = database;
  const own = await claimed();
  const { job_id: foreignId } = await submit(origin, { key: OTHER_KEY });
  const foreign = await claimJob(db, foreignId);
  assert.ok(foreign !== null && foreign.workspace_id !== own.workspace_id);
  const secret = Buffer.from("sealed");
  await db
    .insertInto("webhooks")
    .values(
      [own, foreign].map(({ workspace_id }) => ({
        workspace_id,
        url: "https://receiver.example/",
        enabled: true,
        secret,
        secret_last4: "last",
      })),
    )
    .execute();
  const { job_id: queuedId } = await submit(origin, { key: OTHER_KEY });
  await Promise.all([endJob(app.jobs, own, failing), endJob(app.jobs, foreign, succeeding(Buffer.from("foreign")))]);
  assert.equal((await cancel(origin, queuedId, OTHER_KEY)).status, "cancelled");
  await app.jobs.removals.done();
  const { rows } = await sql<{ job: string; owners: number; status: string; messages: bigint }>`
    select jobs.id as job, jobs.status, (select count(distinct (all_rows.workspace_id, all_rows.app_id))::int from (
        select jobs.workspace_id, jobs.app_id union all
        select workspace_id, app_id from webhook_events where job_id = jobs.id union all
        select workspace_id, app_id from webhook_deliveries where job_id = jobs.id) as all_rows) as owners,
      (select count(*) from webhook_deliveries as delivery join webhook_events as event on event.id = delivery.event_id
        join pgboss.job as message on message.data ->> 'deliveryId' = delivery.id and message.data ->> 'workspaceId' = jobs.workspace_id
          and message.group_id = jobs.workspace_id
        where delivery.job_id = jobs.id and event.job_id = jobs.id and delivery.job_status = jobs.status) as messages
    from jobs where id = any(${[own.id, foreign.id, queuedId]}::text[])`.execute(db);
  assert.deepEqual(
    new Map(rows.map(({ job, ...row }) => [job, { ...row, messages: Number(row.messages) }])),
    new Map([
      [own.id, { status: "failed", owners: 1, messages: 1 }],
      [foreign.id, { status: "succeeded", owners: 1, messages: 1 }],
      [queuedId, { status: "cancelled", owners: 1, messages: 1 }],
    ]),
  );
  await db.deleteFrom("webhooks").execute();
});

test("jobs.end-transaction: an end that cannot be determined fails alone", async () => {
  const { app, database, origin } = gateway;
  const [broken, sound] = [await claimed(), await claimed()];
  const [failure, ended] = await Promise.allSettled([
    endJob(app.jobs, broken, () => {
      throw new Error("no price");
    }),
    endJob(app.jobs, sound, failing),
  ]);
  assert.equal(failure.status, "rejected");
  assert.deepEqual(ended, { status: "fulfilled", value: true });
  assert.equal((await poll(origin, broken.id)).status, "processing");
  assert.equal((await poll(origin, sound.id)).status, "failed");
  await assertEvents(database);
});

test("jobs.fenced-writes: of two messages of one job that are worked off together, one claims it", async () => {
  const { app, database } = gateway;
  const db = bypassRls(database, "claim").db;
  const [{ job_id: twice }, { job_id: once }] = [await submit(gateway.origin), await submit(gateway.origin)];
  const claims = await Promise.all([twice, once, twice].map((id) => app.jobs.writes.claim(db, id)));
  assert.deepEqual(
    claims.map((row) => row?.attempt ?? null),
    [1, 1, null],
  );
  assert.equal(new Set(await transactionsOf([twice, once])).size, 1, "one statement");
});

interface Owner {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
}

async function owner(): Promise<Owner> {
  const { db } = gateway.database;
  const row = await db.selectFrom("jobs").select(["workspace_id", "app_id"]).limit(1).executeTakeFirstOrThrow();
  return { workspaceId: brand("workspace", row.workspace_id), appId: brand("app", row.app_id) };
}

function submission(own: Owner, change: Partial<PendingSubmission> = {}): PendingSubmission {
  return {
    owner: own,
    reservation: null,
    slot: null,
    replyAt: () => ({ status: 202, headers: {}, body: "{}" }),
    onBegin: () => undefined,
    openAt: () => assert.fail("this process does not work"),
    keepAudio: () => null,
    job: {
      id: newId("job"),
      keyId: null,
      requestId: newId("request"),
      task: "transcribe",
      request: Buffer.from("sealed"),
      audio: null,
      audioKey: null,
      reserved: null,
      purpose: {},
      metadata: {},
      slotKey: null,
      beginsSimulated: false,
    },
    ...change,
  };
}

async function exists(id: string): Promise<boolean> {
  const row = await gateway.database.db.selectFrom("jobs").select("id").where("id", "=", id).executeTakeFirst();
  return row !== undefined;
}

test("jobs.refusal-leaves-nothing: of submissions that arrive together, the ones that a budget refuses or whose key was taken over leave nothing, and the others are accepted", async () => {
  const { app, database } = gateway;
  await submit(gateway.origin);
  const own = await owner();
  await database.db
    .insertInto("budgets")
    .values({
      id: newId("budget"),
      workspace_id: own.workspaceId,
      app_id: own.appId,
      period: "total",
      managed_by: "api",
      limit_nano_usd: 10n,
    })
    .execute();
  const slot = { ...own, keySha256: Buffer.alloc(32, 7), owner: "another owner" };
  const [fits, tooDear, fitsToo, lost, free] = [
    submission(own, { reservation: reservationOf(own, 6n) }),
    submission(own, { reservation: reservationOf(own, 5n) }),
    submission(own, { reservation: reservationOf(own, 4n) }),
    submission(own, { slot }),
    submission(own),
  ];
  const all = [fits, tooDear, fitsToo, lost, free];
  const kinds = (await Promise.all(all.map((each) => app.jobs.submitInBatch(each)))).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["accepted", "exceeded", "accepted", "slot_lost", "accepted"]);
  const made = await Promise.all(all.map(({ job }) => exists(job.id)));
  assert.deepEqual(made, [true, false, true, false, true]);
  const attempts = await database.db
    .selectFrom("attempts")
    .select("id")
    .where(
      "id",
      "in",
      all.flatMap(({ reservation }) => reservation?.attemptId ?? []),
    )
    .execute();
  assert.equal(attempts.length, 2);
  assert.equal(new Set(await transactionsOf([fits, fitsToo, free].map(({ job }) => job.id))).size, 1);
});

test("jobs.fields: a submission that the database does not accept fails alone", async () => {
  const { app } = gateway;
  const own = await owner();
  const sound = submission(own);
  const { job } = submission(own);
  const broken = submission(own, { job: { ...job, metadata: { text: "\u0000" } } });
  const [first, second] = await Promise.allSettled([broken, sound].map((each) => app.jobs.submitInBatch(each)));
  assert.equal(first?.status, "rejected");
  assert.ok(second?.status === "fulfilled" && second.value.kind === "accepted");
  assert.deepEqual([await exists(job.id), await exists(sound.job.id)], [false, true]);
});
