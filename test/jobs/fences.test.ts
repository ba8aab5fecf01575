// Each write of a worker, against every job that it must not change [jobs.fenced-writes].
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import {
  announceCalls,
  claimJob,
  claimJobs,
  type Fence,
  isCancelRequested,
  JOB_LEASE_SECONDS,
  parkJob,
  postpone,
  releaseJob,
  renewJobLeases,
  wakeCancelled,
  wakeParkedJobs,
  withdrawCall,
  writeAudio,
  writeCall,
  writeFailure,
  writeProgress,
} from "../../src/jobs/store/claimed-jobs.ts";
import { endRows, lockFenced } from "../../src/jobs/store/end-jobs.ts";
import { beginJobs } from "../../src/jobs/store/jobs.ts";
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

const EPOCH = new Date(0).toISOString();
const LEASED = at(JOB_LEASE_SECONDS);
const CALL = { call_attempt_id: "att_old", call_position: 1, call_state: "submitting" };

/** The jobs of a worker, and those that its writes must not change. */
async function world(columns: StoredColumns = {}) {
  await sql`truncate jobs cascade`.execute(database.db);
  const working = { status: "processing", attempt: 2, audio: {}, ...CALL, ...columns };
  const store = (changes: StoredColumns) => storeJob(database, tenant, changes);
  const own = await store({ ...working, id: "job_own" });
  await store({ ...working, id: "job_other" });
  await store({ ...working, id: "job_other_attempt", attempt: 1 });
  await store({ ...working, id: "job_released", lease_until: EPOCH });
  await store({ id: "job_queued" });
  await store({ id: "job_ended", status: "cancelled", attempt: 2 });
  return { own, fence: { id: own, attempt: 2 } };
}

const FOREIGN: readonly Fence[] = [
  { id: "job_own", attempt: 1 },
  { id: "job_own", attempt: 3 },
  { id: "job_queued", attempt: 0 },
  { id: "job_ended", attempt: 2 },
  { id: "job_missing", attempt: 2 },
];

interface Write {
  readonly write: (tx: SystemTransaction, fence: Fence) => Promise<unknown>;
  /** What the caller gets while its fence holds, and otherwise. */
  readonly results: readonly [held: unknown, lost: unknown];
  readonly changes: StoredColumns;
}

const RUN = { id: "run" };
const announcement = (fence: Fence, candidates: unknown = null) => ({
  fence,
  call: { attemptId: "att_new", position: 2 },
  candidates,
});
const NO_CALL = { call_attempt_id: null, call_position: null, call_state: null };
const WRITES: Readonly<Record<string, Write>> = {
  progress: {
    write: (tx, fence) => writeProgress(tx, fence, { stage: "storing", fraction: 0.5 }),
    results: [{ cancelRequested: false }, null],
    changes: { stage: "storing", fraction: 0.5 },
  },
  "progress with candidates": {
    write: (tx, fence) => writeProgress(tx, fence, { stage: "storing", fraction: null }, ["dg"]),
    results: [{ cancelRequested: false }, null],
    changes: { stage: "storing", candidates: ["dg"] },
  },
  audio: {
    write: (tx, fence) => writeAudio(tx, fence, { ms: 1 }, "audio/own"),
    results: [true, false],
    changes: { audio: { ms: 1 }, audio_key: "audio/own" },
  },
  "a run": {
    write: (tx, fence) => writeCall(tx, fence, { attemptId: "att_new", position: 2, state: "submitted" }, RUN),
    results: [true, false],
    changes: { call_attempt_id: "att_new", call_position: 2, call_state: "submitted", remote_run: RUN },
  },
  "no call": {
    write: (tx, fence) => writeCall(tx, fence, null),
    results: [true, false],
    changes: NO_CALL,
  },
  "an announcement": {
    write: async (tx, fence) => [...(await announceCalls(tx, [announcement(fence)]))].length,
    results: [1, 0],
    changes: { call_attempt_id: "att_new", call_position: 2 },
  },
  "a withdrawal": {
    write: async (tx, fence) => (await withdrawCall(tx, fence))?.id ?? null,
    results: ["job_own", null],
    changes: { call_state: "reserved" },
  },
  "a failure": {
    write: (tx, fence) => writeFailure(tx, fence, { code: "OTHER" }),
    results: [true, false],
    changes: { failures: [{ code: "OTHER" }], ...NO_CALL },
  },
  "a release": {
    write: (tx, fence) => releaseJob(tx, fence),
    results: [undefined, undefined],
    changes: { lease_until: EPOCH },
  },
  "a postponement": {
    write: (tx, fence) => postpone(tx, fence, 100),
    results: [undefined, undefined],
    changes: { laid_aside: 1, lease_until: at(100) },
  },
  "parking without a pause": {
    write: (tx, fence) => parkJob(tx, fence),
    results: [undefined, undefined],
    changes: { laid_aside: 1, lease_until: LEASED },
  },
  "a renewal": {
    write: async (tx, fence) => (await renewJobLeases(tx, [fence])).length,
    results: [1, 0],
    changes: { lease_until: LEASED },
  },
  "a lock for its end": {
    write: async (tx, fence) => (await lockFenced(tx, [fence])).length,
    results: [1, 0],
    changes: {},
  },
};

for (const [name, { write, results, changes }] of Object.entries(WRITES))
  test(`jobs.fenced-writes: ${name} changes the job of its fence alone, and nothing under another attempt, in another state or of no job`, async () => {
    const { own, fence } = await world();
    const changed = Object.keys(changes).length === 0 ? {} : { [own]: changes };
    assert.deepEqual(await tryStatement(database, (tx) => write(tx, fence)), { result: results[0], changed });
    for (const foreign of FOREIGN)
      assert.deepEqual(
        await tryStatement(database, (tx) => write(tx, foreign)),
        { result: results[1], changed: {} },
        JSON.stringify(foreign),
      );
  });

test("jobs.fenced-writes: an end is written under its fence alone", async () => {
  const { own, fence } = await world();
  const ending = (each: Fence, status: "succeeded" | "failed" = "succeeded") => ({
    ...each,
    status,
    result: status === "succeeded" ? Buffer.from("ab") : null,
    resultKey: null,
    error: status === "failed" ? { code: "OTHER" } : null,
    usage: { seconds: 1 },
    eventId: newId("event"),
    spentAudioKey: null,
  });
  const done = { stage: "done", lease_until: null, usage: { seconds: 1 }, finished_at: NOW, expires_at: at(60) };
  const other = { id: "job_other", attempt: 2 };
  assert.deepEqual(await tryStatement(database, (tx) => endRows(tx, [ending(fence), ending(other, "failed")], 60)), {
    result: { finishedAt: new Date(NOW), spentAudio: null },
    changed: {
      [own]: { ...done, status: "succeeded", result: "\\x6162" },
      job_other: { ...done, status: "failed", error: { code: "OTHER" } },
    },
  });
  for (const foreign of FOREIGN.filter(({ id }) => id === "job_own" || id === "job_missing"))
    for (const endings of [[], [ending(foreign)], [ending(other), ending(foreign)]])
      await assert.rejects(
        tryStatement(database, (tx) => endRows(tx, endings, 60)),
        /was not there to end/u,
        JSON.stringify(foreign),
      );
});

test("jobs.end-transaction, idempotency.job-ttl: an end moves the expiry of its own completed key, and of no other", async () => {
  const { own, fence } = await world({ slot_key: `\\x${"07".repeat(32)}` });
  const slots = [
    { appId: tenant.appId, workspaceId: tenant.workspaceId, key: 7, state: "completed" },
    { appId: tenant.appId, workspaceId: tenant.workspaceId, key: 8, state: "completed" },
    { appId: "app_other", workspaceId: tenant.workspaceId, key: 7, state: "completed" },
  ] as const;
  const end = { status: "failed", result: null, resultKey: null, error: {}, usage: null, spentAudioKey: null } as const;
  for (const [first, ...others] of [
    slots,
    [{ ...slots[0], state: "burned" }, slots[1], slots[2]],
    [{ ...slots[0], workspaceId: "ws_other" }, slots[1], slots[2]],
  ] as const) {
    const moved = await tryStatement(database, async (tx) => {
      for (const { appId, workspaceId, key, state } of [first, ...others])
        await sql`insert into idempotency_slots (app_id, workspace_id, key_sha256, endpoint, fingerprint, state, owner, lease_until, expires_at, status,
            headers, body)
          values (${appId}, ${workspaceId}, ${Buffer.alloc(32, key)}, 'POST /v1/transcription/jobs', '\\x01', ${state}, 'own', ${NOW}, ${at(10)},
            ${state === "completed" ? 202 : null}, ${state === "completed" ? "{}" : null}::jsonb, ${state === "completed" ? Buffer.from("b") : null})`.execute(
          tx,
        );
      await endRows(tx, [{ ...fence, ...end, eventId: newId("event") }], 60);
      const { rows } = await sql<{ app: string; key: Buffer }>`
        select app_id as app, key_sha256 as key from idempotency_slots where expires_at <> ${at(10)}::timestamptz`.execute(
        tx,
      );
      return rows.map(({ app, key }) => [app, key[0]]);
    });
    assert.deepEqual(moved.result, first === slots[0] ? [[tenant.appId, 7]] : [], JSON.stringify(first));
    assert.deepEqual(Object.keys(moved.changed), [own]);
  }
});

test("jobs.cancel-race: after a cancellation was requested no call is announced, and a call that was made is still recorded", async () => {
  const { own, fence } = await world({ cancel_requested: true });
  const call = { attemptId: "att_new", position: 2 };
  const tried = (write: (tx: SystemTransaction) => Promise<unknown>) => tryStatement(database, write);
  const [refused, recorded] = [
    await tried((tx) => writeCall(tx, fence, { ...call, state: "submitting" })),
    await tried((tx) => writeCall(tx, fence, { ...call, state: "submitted" }, RUN)),
  ];
  assert.deepEqual(refused, { result: false, changed: {} });
  assert.deepEqual([recorded.result, Object.keys(recorded.changed)], [true, [own]]);
  assert.deepEqual(await tried((tx) => announceCalls(tx, [announcement(fence)])), { result: new Set(), changed: {} });
  assert.deepEqual(await writeProgress(database.db, fence, { stage: "storing", fraction: null }), {
    cancelRequested: true,
  });
  assert.equal(await isCancelRequested(database.db, fence), true);
  for (const foreign of FOREIGN) assert.equal(await isCancelRequested(database.db, foreign), false);
  assert.equal(await isCancelRequested(database.db, (await world()).fence), false);
});

test("jobs.cancel-race: an announcement without a cancellation replaces the call and its run, and keeps candidates that it has no newer ones of", async () => {
  const { own, fence } = await world({ call_state: "reserved", remote_run: RUN, candidates: ["dg"] });
  const other = { id: "job_other", attempt: 2 };
  const announced = await tryStatement(database, (tx) =>
    announceCalls(tx, [announcement(other, ["aa"]), announcement(fence), announcement({ ...fence, attempt: 1 })]),
  );
  const call = { call_attempt_id: "att_new", call_position: 2, call_state: "submitting", remote_run: null };
  assert.deepEqual(announced, {
    result: new Set([own, "job_other"]),
    changed: { [own]: call, job_other: { ...call, candidates: ["aa"] } },
  });
});

test("jobs.fenced-writes: a withdrawal keeps the state of a call that was not announced, and progress the candidates of an earlier one", async () => {
  const { own, fence } = await world({ call_state: "submitted", candidates: ["dg"] });
  assert.deepEqual((await tryStatement(database, (tx) => withdrawCall(tx, fence))).changed, {});
  const progress = await tryStatement(database, (tx) => writeProgress(tx, fence, { stage: "storing", fraction: 1 }));
  assert.deepEqual(progress.changed, { [own]: { stage: "storing", fraction: 1 } });
});

test("jobs.fenced-writes: failures are appended to those of earlier calls", async () => {
  const { own, fence } = await world({ failures: [{ code: "FIRST" }] });
  const { changed } = await tryStatement(database, (tx) => writeFailure(tx, fence, { code: "OTHER" }));
  assert.deepEqual(changed, { [own]: { failures: [{ code: "FIRST" }, { code: "OTHER" }], ...NO_CALL } });
});

test("jobs.graceful-stop: a renewal in progress does not extend the lease of a job that was released", async () => {
  await world();
  const fences = [
    { id: "job_released", attempt: 2 },
    { id: "job_own", attempt: 2 },
    { id: "job_other", attempt: 1 },
  ];
  const { result, changed } = await tryStatement(database, (tx) => renewJobLeases(tx, fences));
  assert.deepEqual(result, [fences[1]]);
  assert.deepEqual(Object.keys(changed), ["job_own"]);
  assert.deepEqual(await renewJobLeases(database.db, []), []);
});

test("jobs.fenced-writes: a renewal does not wait for a job that another transaction has locked", async () => {
  const { own, fence } = await world();
  await database.transaction(async (tx) => {
    await sql`select from jobs where id = ${own} for update`.execute(tx);
    await database.transaction(async (renewing) => {
      await sql`set local lock_timeout = '1s'`.execute(renewing);
      assert.deepEqual(await renewJobLeases(renewing, [fence]), [fence]);
    });
    const { rows } = await sql<{ lease: Date }>`select lease_until as lease from jobs where id = ${own}`.execute(tx);
    assert.deepEqual(rows, [{ lease: new Date(at(20)) }]);
  });
});

/** What a claim sets. */
const CLAIM = { status: "processing", lease_until: LEASED };

test("jobs.dead-worker: a claim takes the jobs that are queued or whose lease has lapsed, and no others", async () => {
  await world();
  const store = (id: string, columns: StoredColumns) => storeJob(database, tenant, { id, ...columns });
  const started = { status: "processing", attempt: 3 };
  await store("job_lapsed", { ...started, lease_until: NOW, fraction: 0.5, stage: "fetching" });
  await store("job_lapsed_long_ago", { ...started, lease_until: EPOCH, audio_key: "audio/1", fraction: 0.5 });
  await store("job_lapsed_not_listed", { ...started, lease_until: NOW });
  await store("job_leased", { ...started, lease_until: at(1) });
  await store("job_queued_not_listed", {});
  const ids = ["job_queued", "job_lapsed", "job_lapsed_long_ago", "job_leased", "job_own", "job_ended", "job_missing"];
  const { result, changed } = await tryStatement(database, (tx) => claimJobs(tx, ids));
  assert.deepEqual(changed, {
    job_queued: { ...CLAIM, attempt: 1, started_at: NOW },
    job_lapsed: { lease_until: LEASED, attempt: 4 },
    job_lapsed_long_ago: { lease_until: LEASED, attempt: 4, stage: "transcribing", fraction: null },
  });
  assert.deepEqual(
    new Map(result.map(({ id, attempt }) => [id, attempt])),
    new Map(
      Object.entries({
        job_queued: 1,
        job_lapsed: 4,
        job_lapsed_long_ago: 4,
      }),
    ),
  );
  const claim = async (id: string) => (await tryStatement(database, (tx) => claimJob(tx, id))).result?.id;
  assert.deepEqual([await claim("job_queued"), await claim("job_own")], ["job_queued", undefined]);
  assert.equal(JOB_LEASE_SECONDS, 30, "as `jobs.dead-worker` counts it");
});

test("jobs.local-start: a job begins in the transaction that accepts it while it is queued, and no other with it", async () => {
  await world();
  await storeJob(database, tenant, { id: "job_lapsed", status: "processing", attempt: 3, lease_until: NOW });
  await storeJob(database, tenant, { id: "job_queued_not_listed" });
  const begun = { ...CLAIM, attempt: 1, started_at: NOW };
  for (const [ids, changed] of [
    [["job_queued", "job_lapsed", "job_own"], { job_queued: begun }],
    [["job_queued"], { job_queued: begun }],
    [[], {}],
  ] as const)
    assert.deepEqual(await tryStatement(database, (tx) => beginJobs(tx, ids)), { result: undefined, changed });
});

test("jobs.paused-wakeup: a parked job is looked at when its first pause ends, within 5 minutes and by its deadline", async () => {
  const { own, fence } = await world();
  const { workspaceId } = tenant;
  await storeJob(database, tenant, { id: "job_urgent", status: "processing", attempt: 2, deadline_at: at(40) });
  const pause = (scope: string, seconds: number, model: string) => ({ scope, seconds, model });
  const parkedUntil = async (id: string, pauses: readonly ReturnType<typeof pause>[]) => {
    const { result, changed } = await tryStatement(database, async (tx) => {
      for (const { scope, seconds, model } of pauses) {
        await sql`insert into connections (scope, id, kind, managed_by) values (${scope}, 'dg', 'deepgram', 'test')
          on conflict do nothing`.execute(tx);
        await sql`insert into connection_pauses (scope, connection, model, ends_at, actor_key_id)
          values (${scope}, 'dg', ${model}, ${at(seconds)}, 'key')`.execute(tx);
      }
      await sql`select setseed(0.5)`.execute(tx);
      const { rows } = await sql<{ jitter: number }>`select random() as jitter`.execute(tx);
      await sql`select setseed(0.5)`.execute(tx);
      await parkJob(tx, { ...fence, id });
      return rows[0]?.jitter ?? 0;
    });
    assert.deepEqual(Object.keys(changed), [id]);
    assert.equal(changed[id]?.["laid_aside"], 1);
    const seconds = (Date.parse(String(changed[id]?.["lease_until"])) - Date.parse(NOW)) / 1_000;
    return { seconds, jitter: result };
  };
  const other = (await makeTenant(database)).workspaceId;
  const past = [pause("platform", 0, "past"), pause("platform", -10, "long past"), pause(other, 60, "another's")];
  assert.equal(
    (await parkedUntil(own, [...past, pause(workspaceId, 120, "first"), pause("platform", 150, "next")])).seconds,
    120,
  );
  assert.equal(
    (await parkedUntil(own, [...past, pause("platform", 130, "first"), pause(workspaceId, 150, "next")])).seconds,
    130,
  );
  assert.equal((await parkedUntil(own, past)).seconds, JOB_LEASE_SECONDS, "no pause is left");
  assert.equal(
    (await parkedUntil(own, [pause("platform", 10, "short")])).seconds,
    JOB_LEASE_SECONDS,
    "a lease at least",
  );
  assert.equal((await parkedUntil("job_urgent", [pause("platform", 120, "long")])).seconds, 40);
  const { seconds, jitter } = await parkedUntil(own, [pause("platform", 10_000, "long")]);
  assert.ok(Math.abs(seconds - (240 + 60 * jitter)) < 0.01, `${seconds} s with ${jitter}`);
});

test("jobs.paused-wakeup: the end of a pause wakes the parked jobs alone, and a cancellation its own", async () => {
  const { own } = await world();
  const parked = { status: "processing", attempt: 2, laid_aside: 1, lease_until: at(31) };
  const store = (id: string, columns: StoredColumns) => storeJob(database, tenant, { ...parked, id, ...columns });
  await store("job_parked", {});
  await store("job_parked_long", { laid_aside: 7, lease_until: at(300) });
  await store("job_claimed_again", { lease_until: LEASED });
  await store("job_never_parked", { laid_aside: 0 });
  const wake = { lease_until: at(6) };
  assert.deepEqual((await tryStatement(database, (tx) => wakeParkedJobs(tx))).changed, {
    job_parked: wake,
    job_parked_long: wake,
  });
  const cancelled = (id: string) => tryStatement(database, (tx) => wakeCancelled(tx, id));
  assert.deepEqual((await cancelled("job_parked")).changed, { job_parked: { lease_until: EPOCH } });
  for (const id of [own, "job_claimed_again", "job_never_parked", "job_queued"])
    assert.deepEqual((await cancelled(id)).changed, {}, id);
});

test("jobs.deadline: a postponed job is looked at by its deadline", async () => {
  await world();
  await storeJob(database, tenant, { id: "job_urgent", status: "processing", attempt: 2, deadline_at: at(40) });
  const { changed } = await tryStatement(database, (tx) => postpone(tx, { id: "job_urgent", attempt: 2 }, 100));
  assert.deepEqual(changed, { job_urgent: { laid_aside: 1, lease_until: at(40) } });
});
