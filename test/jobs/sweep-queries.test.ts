// What each query of the sweep finds, a moment before its time and at it, and that it waits for no other sweep.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import {
  beginOverdueJob,
  deleteOldJobs,
  expiredJobs,
  expiredResults,
  forgetAudio,
  forgottenJobs,
  lapsedJobs,
  listNeededObjects,
  namedObjects,
  purgeJob,
  spentAudio,
  SWEPT_AT_ONCE,
} from "../../src/jobs/store/job-sweep.ts";
import type { SystemTransaction } from "../../src/storage/database.ts";
import { makeTenant, openTestDatabase, setClock, type TestDatabase } from "../harness/postgres/database.ts";
import { at, NOW, type StoredColumns, storeJob, tryStatement } from "./stored-jobs.ts";

let database: TestDatabase;
let tenant: Awaited<ReturnType<typeof makeTenant>>;
before(async () => {
  database = await openTestDatabase();
  await setClock(database, NOW);
  tenant = await makeTenant(database);
});
after(() => database.close());
beforeEach(async () => {
  await sql`truncate jobs cascade`.execute(database.db);
});

async function store(jobs: Readonly<Record<string, StoredColumns>>): Promise<void> {
  for (const [name, columns] of Object.entries(jobs)) await storeJob(database, tenant, { id: name, ...columns });
}
const tried = <T>(statement: (tx: SystemTransaction) => Promise<T>) => tryStatement(database, statement);

/** Runs it while another transaction has locked the job. */
async function whileLocked<T>(id: string, statement: (tx: SystemTransaction) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await sql`select from jobs where id = ${id} for update`.execute(tx);
    return database.transaction(async (own) => {
      await sql`set local lock_timeout = '1s'`.execute(own);
      return statement(own);
    });
  });
}

test("jobs.dead-worker: a job is offered when its lease has lapsed, and again five seconds after the last offer", async () => {
  const lapsed = { status: "processing", lease_until: NOW, woken_at: at(-5) };
  await store({
    lapsed,
    "lapsed-first": { ...lapsed, lease_until: at(-60), woken_at: at(-30) },
    leased: { ...lapsed, lease_until: at(1) },
    "offered-just-now": { ...lapsed, woken_at: at(-4) },
    queued: { woken_at: at(-60) },
    ended: { status: "cancelled", woken_at: at(-60) },
  });
  const { result, changed } = await tried(lapsedJobs);
  assert.deepEqual(new Set(result.map(({ id }) => id)), new Set(["lapsed", "lapsed-first"]));
  assert.ok(result.every(({ appId }) => appId === tenant.appId));
  assert.deepEqual(changed, { lapsed: { woken_at: NOW }, "lapsed-first": { woken_at: NOW } });
  assert.deepEqual(
    (await whileLocked("lapsed", lapsedJobs)).map(({ id }) => id),
    ["lapsed-first"],
  );
});

test("jobs.database-outage: a queued job is offered again half an hour after its message", async () => {
  await store({
    forgotten: { woken_at: at(-1_800) },
    "forgotten-first": { woken_at: at(-3_600) },
    recent: { woken_at: at(-1_799) },
    processing: { status: "processing", woken_at: at(-3_600) },
    ended: { status: "cancelled", woken_at: at(-3_600) },
  });
  const { result, changed } = await tried(forgottenJobs);
  assert.deepEqual(new Set(result.map(({ id }) => id)), new Set(["forgotten", "forgotten-first"]));
  assert.deepEqual(changed, { forgotten: { woken_at: NOW }, "forgotten-first": { woken_at: NOW } });
  assert.deepEqual(
    (await whileLocked("forgotten", forgottenJobs)).map(({ id }) => id),
    ["forgotten-first"],
  );
});

test("jobs.deadline, jobs.deadline-hung-worker: a job past its deadline is begun if it is queued or its lease has lapsed, else two minutes later", async () => {
  const due = { deadline_at: NOW };
  const begun = { attempt: 2, lease_until: NOW };
  const cases: readonly (readonly [what: string, columns: StoredColumns, changes: StoredColumns | null])[] = [
    ["queued", due, { status: "processing", attempt: 1, lease_until: NOW, started_at: NOW }],
    ["queued before its deadline", { deadline_at: at(1) }, null],
    ["lapsed now", { ...due, status: "processing", lease_until: NOW }, { attempt: 2 }],
    ["lapsed", { ...due, status: "processing", lease_until: at(-1) }, begun],
    ["leased", { ...due, status: "processing", lease_until: at(1) }, null],
    ["leased for 119 s", { deadline_at: at(-119), status: "processing", lease_until: at(1) }, null],
    ["leased for 120 s", { deadline_at: at(-120), status: "processing", lease_until: at(1) }, begun],
    ["leased for 121 s", { deadline_at: at(-121), status: "processing", lease_until: at(1) }, begun],
    ["lapsed before its deadline", { deadline_at: at(1), status: "processing", lease_until: at(-1) }, null],
    ["ended", { ...due, status: "cancelled" }, null],
  ];
  for (const [what, columns, changes] of cases) {
    await sql`truncate jobs cascade`.execute(database.db);
    await store({ job: columns });
    const { result, changed } = await tried(beginOverdueJob);
    assert.equal(result?.id ?? null, changes === null ? null : "job", what);
    assert.deepEqual(changed, changes === null ? {} : { job: changes }, what);
    if (changes !== null) assert.equal(await whileLocked("job", beginOverdueJob), null, what);
  }
});

test("jobs.deadline: of several jobs past their deadline one is begun at a time", async () => {
  await store({ first: { deadline_at: at(-2) }, second: { deadline_at: at(-1) } });
  const { result, changed } = await tried(beginOverdueJob);
  assert.deepEqual(Object.keys(changed), [result?.id]);
});

test("jobs.audio-retention: the audio of ended jobs is due, and is forgotten for them alone", async () => {
  const ended = { status: "cancelled" };
  await store({
    ended: { ...ended, audio_key: "audio/ended" },
    "ended-first": { ...ended, audio_key: "audio/first", finished_at: at(-60) },
    "without-audio": ended,
    queued: { audio_key: "audio/queued" },
    processing: { status: "processing", audio_key: "audio/processing" },
  });
  assert.deepEqual(await spentAudio(database.db, 0), [
    { id: "ended-first", key: "audio/first" },
    { id: "ended", key: "audio/ended" },
  ]);
  assert.deepEqual(await spentAudio(database.db, 1), [{ id: "ended", key: "audio/ended" }]);
  for (const id of ["ended", "queued", "processing", "without-audio"]) {
    const { changed } = await tried((tx) => forgetAudio(tx, id));
    assert.deepEqual(changed, id === "ended" ? { ended: { audio_key: null } } : {}, id);
  }
});

test("jobs.result-retention: a job is purged from the moment it expires, and one with a stored result after that", async () => {
  const ended = { status: "succeeded" };
  const sealed = { request: "\\x01", slot_key: "\\x02", remote_run: { id: "run" } };
  const stored = { ...ended, result_key: "results/1" };
  await store({
    expired: { ...ended, ...sealed, result: "\\x03", expires_at: NOW },
    kept: { ...ended, ...sealed, expires_at: at(1) },
    purged: { ...ended, expires_at: at(-60), purged_at: at(-30) },
    "stored-expired": { ...stored, ...sealed, expires_at: NOW },
    "stored-first": { ...stored, result_key: "results/2", expires_at: at(-60) },
    "stored-kept": { ...stored, result_key: "results/3", expires_at: at(1) },
    "stored-purged": { ...stored, result_key: "results/4", expires_at: at(-60), purged_at: at(-30) },
    queued: sealed,
    processing: { status: "processing" },
  });
  assert.deepEqual(await expiredJobs(database.db), ["expired"]);
  const due = [
    { id: "stored-first", key: "results/2" },
    { id: "stored-expired", key: "results/1" },
  ];
  assert.deepEqual(await expiredResults(database.db, 0), due);
  assert.deepEqual(await expiredResults(database.db, 1), due.slice(1));
  const purged = { request: null, slot_key: null, remote_run: null, purged_at: NOW };
  for (const [id, changed] of [
    ["expired", { expired: { ...purged, result: null } }],
    ["stored-expired", { "stored-expired": { ...purged, result_key: null } }],
    ["kept", {}],
    ["queued", {}],
  ] as const)
    assert.deepEqual((await tried((tx) => purgeJob(tx, id))).changed, changed, id);
});

test("jobs.result-retention: a purged job is forgotten 30 days after its end", async () => {
  const days = (count: number): string => at(-count * 86_400);
  const old = { status: "succeeded", finished_at: days(30), expires_at: days(27), purged_at: days(27) };
  await store({
    old,
    older: { ...old, finished_at: days(31) },
    younger: { ...old, finished_at: days(29.999) },
    "not-purged": { ...old, purged_at: null },
    queued: {},
  });
  assert.deepEqual(await tried(deleteOldJobs), { result: 2, changed: { old: null, older: null } });
  assert.equal(await whileLocked("old", deleteOldJobs), 1);
});

test("jobs.orphans: an object is named by the job in its key, and by no other", async () => {
  await store({
    one: { audio_key: "audio/one", status: "succeeded", result_key: "results/one/1" },
    other: { audio_key: "audio/other" },
  });
  const keys = ["audio/one", "results/one/1", "results/one/2", "audio/other", "audio/missing", "audio/other/2"];
  assert.deepEqual(await namedObjects(database.db, keys), new Set(["audio/one", "results/one/1", "audio/other"]));
  assert.deepEqual(await namedObjects(database.db, ["audio/other"]), new Set(["audio/other"]));
  assert.deepEqual(await namedObjects(database.db, []), new Set());
});

test("storage.backup-consistent: audio is needed until its job has ended, and a result until it has expired", async () => {
  const stored = { status: "succeeded", result_key: "results/1" };
  await store({
    queued: { audio_key: "audio/queued" },
    processing: { status: "processing", audio_key: "audio/processing" },
    "without-audio": {},
    ended: { ...stored, audio_key: "audio/ended", expires_at: at(1) },
    expired: { ...stored, result_key: "results/2", expires_at: NOW },
    purged: { ...stored, result_key: "results/3", expires_at: at(60), purged_at: NOW },
    inline: { status: "succeeded", expires_at: at(60) },
  });
  assert.deepEqual((await listNeededObjects(database.db)).toSorted(), [
    "audio/processing",
    "audio/queued",
    "results/1",
  ]);
});

test("jobs.purge-progress: a sweep looks at no more than 500 jobs in one statement, and at all of them in several", async () => {
  await store({ template: { audio_key: "audio/1", woken_at: at(-3_600) } });
  await sql`insert into jobs select (jsonb_populate_record(jobs, jsonb_build_object('id', 'job_' || n))).*
    from jobs, generate_series(1, ${SWEPT_AT_ONCE}::int) as n`.execute(database.db);
  assert.equal(SWEPT_AT_ONCE, 500);
  const { result } = await tried(async (tx) => [(await forgottenJobs(tx)).length, (await forgottenJobs(tx)).length]);
  assert.deepEqual(result, [500, 1]);
});
