// Rows of jobs as their callers create, read, list and cancel them: every other app's is none [jobs.visibility].
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import {
  insertJobs,
  type JobOwner,
  type JobPage,
  jobsByState,
  listJobs,
  lockJob,
  type NewJob,
  readJob,
  readJobOfWorkspace,
  readResultPieces,
  requestCancel,
} from "../../src/jobs/store/jobs.ts";
import { makeTenant, openTestDatabase, setClock, type TestDatabase } from "../harness/postgres/database.ts";
import { at, NOW, type StoredColumns, storeJob, tryStatement } from "./stored-jobs.ts";

let database: TestDatabase;
let own: JobOwner;
let otherApp: JobOwner;
let otherWorkspace: JobOwner;
before(async () => {
  database = await openTestDatabase();
  await setClock(database, NOW);
  own = await makeTenant(database);
  otherWorkspace = await makeTenant(database);
  const other = await makeTenant(database);
  await sql`update apps set workspace_id = ${own.workspaceId}, slug = 'other' where id = ${other.appId}`.execute(
    database.db,
  );
  otherApp = { workspaceId: own.workspaceId, appId: other.appId };
});
after(() => database.close());
beforeEach(async () => {
  await sql`truncate jobs, attempts cascade`.execute(database.db);
});

const store = (id: string, columns: StoredColumns = {}, owner = own) => storeJob(database, owner, { id, ...columns });
const simulatedOf = async (id: string) => (await readJob(database.db, own, id))?.simulated;

test("jobs.visibility: a job is read, locked and cancelled for its app alone, and by its result's URL in its workspace", async () => {
  const { db } = database;
  await store("job", { status: "processing", attempt: 1 });
  await store("job_queued");
  await store("job_other_app", { status: "processing" }, otherApp);
  await store("job_foreign", { status: "processing" }, otherWorkspace);
  assert.equal((await readJob(db, own, "job"))?.id, "job");
  assert.equal((await readJobOfWorkspace(db, own.workspaceId, "job_other_app"))?.id, "job_other_app");
  assert.equal(await readJobOfWorkspace(db, own.workspaceId, "job_foreign"), null);
  const mixed = { workspaceId: otherWorkspace.workspaceId, appId: own.appId };
  assert.equal((await tryStatement(database, (tx) => lockJob(tx, own, "job"))).result?.id, "job");
  for (const owner of [otherApp, otherWorkspace, mixed]) {
    assert.equal(await readJob(db, owner, "job"), null);
    assert.equal((await tryStatement(database, (tx) => lockJob(tx, owner, "job"))).result, null);
    assert.deepEqual((await tryStatement(database, (tx) => requestCancel(tx, owner, "job"))).changed, {});
  }
  assert.deepEqual((await tryStatement(database, (tx) => requestCancel(tx, own, "job"))).changed, {
    job: { cancel_requested: true },
  });
  assert.deepEqual((await tryStatement(database, (tx) => requestCancel(tx, own, "job_queued"))).changed, {});
});

test("jobs.visibility: pieces of a result are those of the job and workspace that they are read for", async () => {
  const { db } = database;
  await store("job", { status: "succeeded", result: "\\x0102" });
  await store("job_foreign", { status: "succeeded", result: "\\x0304" }, otherWorkspace);
  const range = { from: 0, to: 2 };
  const piecesOf = (id: string) => readResultPieces(db, { workspace_id: own.workspaceId, id }, range);
  assert.deepEqual(await piecesOf("job"), [Buffer.from([1, 2])]);
  assert.equal(await piecesOf("job_foreign"), null);
  assert.equal(await piecesOf("job_missing"), null);
});

test("jobs.list: a page has the jobs of its scope, state, id and place, newest first", async () => {
  await store("job_1", { status: "succeeded" });
  await store("job_2", { status: "failed" });
  await store("job_3", { status: "failed" });
  await store("job_4");
  await store("job_5", {}, otherApp);
  await store("job_6", { status: "succeeded" }, otherWorkspace);
  const page: JobPage = { status: null, id: null, limit: 10, before: null };
  const listed = async (scope: Parameters<typeof listJobs>[1], changes: Partial<JobPage> = {}) =>
    (await listJobs(database.db, scope, { ...page, ...changes })).map(({ id }) => id);
  assert.deepEqual(await listed(own), ["job_4", "job_3", "job_2", "job_1"]);
  assert.deepEqual(await listed(own, { limit: 2 }), ["job_4", "job_3"]);
  assert.deepEqual(await listed(own, { before: "job_3" }), ["job_2", "job_1"]);
  assert.deepEqual(await listed(own, { status: "failed" }), ["job_3", "job_2"]);
  assert.deepEqual(await listed(own, { status: "succeeded" }), ["job_1"]);
  assert.deepEqual(await listed(own, { status: "queued" }), ["job_4"]);
  assert.deepEqual(await listed(own, { id: "job_2" }), ["job_2"]);
  assert.deepEqual(await listed(own, { id: "job_5" }), []);
  assert.deepEqual(await listed({ workspaceId: own.workspaceId, appId: null }), [
    "job_5",
    "job_4",
    "job_3",
    "job_2",
    "job_1",
  ]);
  assert.equal((await listed({ workspaceId: null, appId: null })).length, 6);
});

test("jobs.result-retention: a result is hidden from the moment it expires, also before the sweep", async () => {
  const { db } = database;
  const stored = { status: "succeeded", result: "\\x0102" };
  await store("job_kept", { ...stored, expires_at: at(1) });
  await store("job_expired", { ...stored, expires_at: NOW });
  await store("job_stored", { status: "succeeded", result_key: "results/1", expires_at: at(-60), purged_at: at(-30) });
  await store("job_queued");
  const views = async (id: string) => {
    const one = await readJob(db, own, id);
    const other = await readJobOfWorkspace(db, own.workspaceId, id);
    const [listed] = await listJobs(db, own, { status: null, id, limit: 1, before: null });
    assert.ok(one !== null && listed !== undefined);
    assert.deepEqual(other, one);
    assert.deepEqual([listed.result_key, listed.purged_at], [one.result_key, one.purged_at]);
    return [one.result, one.result_bytes, one.result_key, one.purged_at?.toISOString() ?? null];
  };
  assert.deepEqual(await views("job_kept"), [Buffer.from([1, 2]), 2, null, null]);
  assert.deepEqual(await views("job_expired"), [null, null, null, NOW]);
  assert.deepEqual(await views("job_stored"), [null, null, null, at(-30)]);
  assert.deepEqual(await views("job_queued"), [null, null, null, null]);
});

interface Call {
  readonly class: "metered" | "simulated";
  readonly outcome?: string;
  readonly workspaceId?: string;
  readonly requestId?: string;
}

async function storeCalls(calls: readonly Call[]): Promise<void> {
  for (const [index, { class: billingClass, outcome = null, workspaceId, requestId }] of calls.entries()) {
    const settled = outcome === null ? null : NOW;
    await sql`insert into attempts (id, request_id, workspace_id, app_id, endpoint, connection, provider, model, position, billing_class, audio_ms,
        reserved_nano_usd, deadline_at, created_at, state, outcome, settled_at, charge_nano_usd)
      values (${`att_${index}`}, ${requestId ?? "req_own"}, ${workspaceId ?? own.workspaceId}, ${own.appId}, 'POST /v1/transcription/jobs', 'dg',
        'deepgram', 'nova-3', ${index + 1}, ${billingClass}, 0, 0, ${NOW}, ${at(index)}, ${outcome === null ? "open" : "settled"}, ${outcome},
        ${settled}, ${outcome === null ? null : 0})`.execute(database.db);
  }
}

const SIMULATED_CASES: readonly (readonly [what: string, begins: boolean | null, calls: readonly Call[], boolean])[] = [
  ["no call yet", null, [], false],
  ["no call yet, to begin in the sandbox", true, [], true],
  ["the call that succeeded", false, [{ class: "simulated", outcome: "succeeded" }], true],
  [
    "one of two calls that succeeded",
    false,
    [
      { class: "simulated", outcome: "succeeded" },
      { class: "metered", outcome: "succeeded" },
    ],
    true,
  ],
  [
    "a failed call and one that succeeded",
    true,
    [
      { class: "metered", outcome: "succeeded" },
      { class: "simulated", outcome: "failed:rejected" },
    ],
    false,
  ],
  [
    "the latest of calls that did not succeed",
    false,
    [{ class: "metered", outcome: "failed:rejected" }, { class: "simulated" }],
    true,
  ],
  [
    "the latest of calls that did not succeed, at a provider",
    true,
    [{ class: "simulated", outcome: "unknown" }, { class: "metered" }],
    false,
  ],
  ["calls of another request", false, [{ class: "simulated", outcome: "succeeded", requestId: "req_other" }], false],
  [
    "a later call of another request",
    true,
    [{ class: "simulated" }, { class: "metered", requestId: "req_other" }],
    true,
  ],
  ["calls of another workspace", false, [{ class: "simulated", outcome: "succeeded", workspaceId: "ws_other" }], false],
  ["an open call of another workspace", false, [{ class: "simulated", workspaceId: "ws_other" }], false],
];
for (const [what, begins, calls, isSimulated] of SIMULATED_CASES)
  test(`jobs.simulated-mark: a job with ${what} is ${isSimulated ? "" : "not "}simulated`, async () => {
    await store("job", { request_id: "req_own", begins_simulated: begins });
    await storeCalls(calls);
    assert.equal(await simulatedOf("job"), isSimulated);
  });

test("jobs.accepted-durable: jobs are stored as they were submitted, each with its own request, call and deadline", async () => {
  const job = (changes: Partial<NewJob>): JobOwner & NewJob => ({
    ...own,
    id: newId("job"),
    keyId: null,
    requestId: newId("request"),
    task: "transcribe",
    request: Buffer.from("first"),
    audio: { ms: 1 },
    audioKey: "audio/1",
    reserved: null,
    purpose: {},
    metadata: {},
    slotKey: null,
    beginsSimulated: false,
    ...changes,
  });
  const slotKey = Buffer.alloc(32, 7);
  const [plain, keyed] = [
    job({}),
    job({ request: Buffer.from("the second"), reserved: { attemptId: "att_1", position: 3 }, slotKey }),
  ];
  const { db } = database;
  const times = { createdAt: new Date(NOW), deadlineAt: new Date(at(60)) };
  assert.deepEqual(
    await database.transaction((tx) => insertJobs(tx, [plain, keyed], 60)),
    new Map([plain, keyed].map(({ id }) => [id, times])),
  );
  const rows = await db.selectFrom("jobs").selectAll().where("id", "in", [plain.id, keyed.id]).orderBy("id").execute();
  assert.deepEqual(
    rows.map((row) => [row.request?.toString(), row.call_attempt_id, row.call_position, row.call_state, row.slot_key]),
    [
      ["first", null, null, null, null],
      ["the second", "att_1", 3, "reserved", slotKey],
    ],
  );
  const [alone] = [job({})];
  assert.equal((await database.transaction((tx) => insertJobs(tx, [alone], 60))).size, 1);
  assert.deepEqual(await database.transaction((tx) => insertJobs(tx, [], 60)), new Map());
});

test("jobs.list: the operator's figures count the unfinished jobs of each state, also where there are none", async () => {
  const counted = async () =>
    Object.fromEntries((await jobsByState(database.db)).map(({ labels, value }) => [labels[0], value]));
  assert.deepEqual(await counted(), { queued: 0, processing: 0 });
  await store("job_1");
  await store("job_2", {}, otherWorkspace);
  await store("job_3", { status: "processing" });
  await store("job_4", { status: "failed" });
  assert.deepEqual(await counted(), { queued: 2, processing: 1 });
});
