// The states in the database itself [jobs.states]: the trigger against every pair of states, and against random writes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { JOB_STATUSES, type JobStatus } from "../../src/contract/jobs.ts";
import { isTerminal, NEXT_STATUSES } from "../../src/jobs/states.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

/** Of a hundred steps. */
const ROUNDS = 1_000;

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

/** The legal ways to each state, for setting up a test. */
const WAY: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  queued: [],
  processing: ["processing"],
  succeeded: ["processing", "succeeded"],
  failed: ["processing", "failed"],
  cancelled: ["cancelled"],
};

for (const from of JOB_STATUSES) {
  for (const to of JOB_STATUSES) {
    const allowed = from === to || (NEXT_STATUSES[from] as readonly JobStatus[]).includes(to);
    test(`jobs.states: the database ${allowed ? "accepts" : "refuses"} ${from} → ${to}`, async () => {
      const id = await jobIn(from);
      if (allowed) await move(id, to);
      else await assert.rejects(move(id, to), /job/u);
      assert.equal(await statusOf(id), allowed ? to : from);
    });
  }
}

test("jobs.states: a job begins as queued, whatever an insert contains", async () => {
  const { workspaceId, appId } = await makeTenant(database);
  for (const status of JOB_STATUSES.filter((candidate) => candidate !== "queued")) {
    await assert.rejects(
      sql`insert into jobs (id, workspace_id, app_id, request_id, task, status, purpose, deadline_at)
        values (${newId("job")}, ${workspaceId}, ${appId}, 'req_1', 'transcribe', ${status}, '{}', patchbay_now())`.execute(
        database.db,
      ),
    );
  }
});

test("jobs.terminal-states: a terminal job keeps every column but those that a purge empties", async () => {
  for (const ended of ["succeeded", "failed", "cancelled"] as const) {
    const id = await jobIn(ended);
    const changes = [
      "stage = 'transcribing'",
      "fraction = 0.5",
      "attempt = attempt + 1",
      "cancel_requested = not cancel_requested",
      'error = \'{"code":"OTHER"}\'',
      "usage = '{\"audio_seconds\":1}'",
      "finished_at = finished_at + interval '1 second'",
      "expires_at = expires_at + interval '1 second'",
      'metadata = \'{"a":"b"}\'',
      "result = '\\x00'",
      "result_key = 'results/other'",
      "workspace_id = 'ws_other'",
      "created_at = created_at - interval '1 second'",
    ];
    for (const change of changes) {
      await assert.rejects(sql.raw(`update jobs set ${change} where id = '${id}'`).execute(database.db), /./u, change);
    }
    await sql`update jobs set request = null, result = null, audio_key = null, purged_at = patchbay_now() where id = ${id}`.execute(
      database.db,
    );
    await assert.rejects(
      sql`update jobs set request = '\\x01' where id = ${id}`.execute(database.db),
      /./u,
      "what is purged does not come back",
    );
  }
});

test("jobs.terminal-states: only a terminal job can be deleted", async () => {
  for (const status of JOB_STATUSES) {
    const id = await jobIn(status);
    const deletion = sql`delete from jobs where id = ${id}`.execute(database.db);
    if (isTerminal(status)) await deletion;
    else await assert.rejects(deletion);
  }
});

test(`jobs.states: R6, of ${ROUNDS * 100} random transitions none gets through that is not in the table`, async () => {
  const seed = 20_261_121;
  const { workspaceId, appId } = await makeTenant(database);
  await sql`create table transitions (from_status text, to_status text, taken boolean)`.execute(database.db);
  // In the database, each try in a block of its own, so that a refusal is caught where it happens.
  await sql
    .raw(
      `do $do$
      declare
        states text[] := array['queued','processing','succeeded','failed','cancelled'];
        target text; before text; now_is text; job text; was_attempt int; hit boolean;
      begin
        perform setseed(${seed % 1000} / 1000.0);
        for round in 1..${ROUNDS} loop
          job := 'job_random_' || round;
          insert into jobs (id, workspace_id, app_id, request_id, task, purpose, deadline_at)
            values (job, '${workspaceId}', '${appId}', 'req_1', 'transcribe', '{}', patchbay_now());
          for step in 1..100 loop
            -- Favours staying alive for a while, so that every state is tried against every other.
            target := states[1 + floor(random() * case when random() < 0.8 then 2 else 5 end)::int];
            select status, attempt into before, was_attempt from jobs where id = job;
            hit := true;
            begin
              update jobs set status = target,
                attempt = greatest(0, attempt + floor(random() * 3)::int - 1),
                lease_until = case when target = 'processing' then patchbay_now() end,
                finished_at = case when target in ('succeeded','failed','cancelled') then patchbay_now() end,
                expires_at = case when target in ('succeeded','failed','cancelled') then patchbay_now() end,
                error = case when target = 'failed' then '{}'::jsonb end
              where id = job;
            exception when check_violation then
              hit := false;
            end;
            select status into now_is from jobs where id = job;
            if now_is <> (case when hit then target else before end) then
              raise exception 'the row says % after % to %', now_is, before, target;
            end if;
            if hit and (select attempt from jobs where id = job) < was_attempt then
              raise exception 'an attempt went back';
            end if;
            insert into transitions values (before, target, hit);
          end loop;
        end loop;
      end $do$`,
    )
    .execute(database.db);
  const { rows } = await sql<{ from_status: JobStatus; to_status: JobStatus; taken: boolean; count: number }>`
    select from_status, to_status, taken, count(*)::int as count from transitions group by 1, 2, 3`.execute(
    database.db,
  );
  assert.equal(
    rows.reduce((sum, row) => sum + row.count, 0),
    ROUNDS * 100,
  );
  const seen = new Set<string>();
  for (const { from_status: from, to_status: to, taken } of rows) {
    seen.add(`${from}>${to}`);
    if (taken && from !== to) assert.ok((NEXT_STATUSES[from] as readonly JobStatus[]).includes(to), `${from} → ${to}`);
  }
  assert.equal(seen.size, JOB_STATUSES.length ** 2, "every pair was tried");
});

async function jobIn(status: JobStatus): Promise<string> {
  const { workspaceId, appId } = await makeTenant(database);
  const id = newId("job");
  await sql`insert into jobs (id, workspace_id, app_id, request_id, task, request, audio_key, purpose, deadline_at)
    values (${id}, ${workspaceId}, ${appId}, 'req_1', 'transcribe', '\\x00', 'audio/1', '{}', patchbay_now())`.execute(
    database.db,
  );
  for (const next of WAY[status]) await move(id, next);
  return id;
}

async function move(id: string, to: JobStatus): Promise<void> {
  const ends = isTerminal(to);
  await sql`update jobs set status = ${to},
      lease_until = ${to === "processing" ? sql`patchbay_now()` : null},
      finished_at = ${ends ? sql`coalesce(finished_at, patchbay_now())` : null},
      expires_at = ${ends ? sql`coalesce(expires_at, patchbay_now())` : null},
      error = ${to === "failed" ? sql`'{}'::jsonb` : null}
    where id = ${id}`.execute(database.db);
}

async function statusOf(id: string): Promise<string | undefined> {
  const { rows } = await sql<{ status: string }>`select status from jobs where id = ${id}`.execute(database.db);
  return rows[0]?.status;
}
