// What the statements of a job and of the sweeps read next to many finished jobs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { announceCalls, claimJobs, renewJobLeases } from "../../src/jobs/store/claimed-jobs.ts";
import { endRows, lockFenced } from "../../src/jobs/store/end-jobs.ts";
import { readFailureRates } from "../../src/jobs/store/failure-rates.ts";
import {
  beginOverdueJob,
  deleteOldJobs,
  expiredJobs,
  expiredResults,
  forgetAudio,
  forgottenJobs,
  lapsedJobs,
  spentAudio,
} from "../../src/jobs/store/job-sweep.ts";
import { deleteSpentAudio, leftSpentAudio } from "../../src/jobs/store/spent-audio.ts";
import { insertJobs, jobsByState, listJobs, readJob } from "../../src/jobs/store/jobs.ts";
import type { SystemTransaction } from "../../src/storage/database.ts";
import { bypassRls } from "../../src/storage/system.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

const FINISHED = 20_000;
/** Rows that a statement may read besides its own. */
const MOST_READ = 40;
/** The server plans a named statement at each of its first five executions, and may keep the plan of the sixth. */
const UNTIL_KEPT = 7;

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase({ poolSize: 1 });
});
after(() => database.close());

test("jobs.growth: no statement of a job, a poll, a list or a sweep reads the finished jobs", async () => {
  const { db } = database;
  const owner = await makeTenant(database);
  await sql`alter table jobs disable trigger all`.execute(db);
  await sql`alter table attempts disable trigger all`.execute(db);
  await sql`insert into jobs (id, workspace_id, app_id, request_id, task, status, stage, attempt, purpose, deadline_at, created_at, finished_at,
      expires_at, purged_at)
    select 'job_' || lpad(n::text, 26, '0'), ${owner.workspaceId}, ${owner.appId}, 'req_' || n, 'transcribe', 'succeeded', 'done', 1, '{}',
      ended.at + interval '6 hours', ended.at, ended.at, ended.at + interval '3 days', case when ended.at < now() - interval '3 days' then now() end
    from generate_series(1, ${FINISHED}::int) as n, lateral (select now() - n * interval '2 minutes' as at) as ended`.execute(
    db,
  );
  await sql`insert into attempts (id, request_id, workspace_id, app_id, endpoint, connection, provider, model, position, billing_class,
      audio_ms, reserved_nano_usd, state, settled_at, outcome, charge_nano_usd, deadline_at)
    select 'att_' || n, 'req_' || n, ${owner.workspaceId}, ${owner.appId}, 'POST /v1/transcription/jobs', 'dg', 'deepgram', 'nova-3', 1, 'metered',
      1000, 0, 'settled', now(), 'succeeded', 0, now() from generate_series(1, ${FINISHED}::int) as n`.execute(db);
  await sql`alter table jobs enable trigger all`.execute(db);
  await sql`alter table attempts enable trigger all`.execute(db);
  await sql`analyze jobs`.execute(db);
  await sql`analyze attempts`.execute(db);
  const middle = `job_${String(FINISHED / 2).padStart(26, "0")}`;
  const scope = { workspaceId: owner.workspaceId, appId: owner.appId };
  const page = { status: null, id: null, limit: 10, before: null } as const;

  for (let run = 0; run < UNTIL_KEPT; run += 1) {
    const id = newId("job");
    const fence = { id, attempt: 1 };
    const statements: Readonly<Record<string, (tx: SystemTransaction) => Promise<unknown>>> = {
      insert: (tx) => insertJobs(tx, [newJob(owner, id)], 3_600),
      claim: (tx) => claimJobs(tx, [id]),
      announce: (tx) =>
        announceCalls(tx, [{ fence, call: { attemptId: newId("attempt"), position: 1 }, candidates: null }]),
      renew: (tx) => renewJobLeases(tx, [fence]),
      count: (tx) => jobsByState(tx),
      lock: (tx) => lockFenced(tx, [fence]),
      end: (tx) => endRows(tx, [endOf(fence)], 3_600),
      forget: (tx) => forgetAudio(tx, id),
      "delete audio": (tx) => deleteSpentAudio(tx, [1n]),
      poll: (tx) => readJob(tx, owner, middle),
      list: (tx) => listJobs(tx, scope, page),
      "list of failures": (tx) => listJobs(tx, scope, { ...page, status: "failed" }),
      "list of all apps": (tx) => listJobs(tx, { workspaceId: null, appId: null }, page),
      lapsed: lapsedJobs,
      forgotten: forgottenJobs,
      overdue: beginOverdueJob,
      audio: (tx) => spentAudio(tx, 0),
      "left audio": (tx) => leftSpentAudio(tx, 0n, 500),
      expired: expiredJobs,
      results: (tx) => expiredResults(tx, 0),
      old: deleteOldJobs,
      failures: (tx) => readFailureRates(tx, 1),
    };
    await bypassRls(database, "batch").transaction(async (tx) => {
      for (const [name, execute] of Object.entries(statements)) {
        const before = await readSoFar(tx);
        await execute(tx);
        const read = (await readSoFar(tx)) - before;
        assert.ok(read <= MOST_READ, `${name} read ${read} rows`);
      }
    });
  }
});

async function readSoFar(tx: SystemTransaction): Promise<number> {
  const { rows } = await sql<{ read: bigint }>`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as read
    from pg_stat_xact_user_tables where relname in ('jobs', 'attempts')`.execute(tx);
  return Number(rows[0]?.read);
}

type Owner = Awaited<ReturnType<typeof makeTenant>>;

function newJob(owner: Owner, id: ReturnType<typeof newId<"job">>): Parameters<typeof insertJobs>[1][number] {
  return {
    ...owner,
    id,
    keyId: null,
    requestId: newId("request"),
    task: "transcribe",
    request: Buffer.from("sealed"),
    audio: {},
    audioKey: `audio/${id}`,
    reserved: null,
    purpose: {},
    metadata: {},
    slotKey: null,
    beginsSimulated: false,
  };
}

function endOf(fence: { readonly id: string; readonly attempt: number }): Parameters<typeof endRows>[1][number] {
  return {
    ...fence,
    status: "succeeded",
    result: Buffer.from("sealed"),
    resultKey: null,
    error: null,
    usage: {},
    eventId: newId("event"),
    spentAudioKey: null,
  };
}
