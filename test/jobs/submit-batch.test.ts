// What the transaction of a submission does next to storing its job: slots of this process, the reply of the key, and budgets, which are locked last
// unless refusals are expected.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import type { LocalStarts } from "../../src/jobs/local-starts.ts";
import type { OpenJob } from "../../src/jobs/job-request.ts";
import type { JobOwner } from "../../src/jobs/store/jobs.ts";
import { acceptJobs, createSubmitBatch } from "../../src/jobs/submit-batch.ts";
import type { PendingSubmission } from "../../src/jobs/submission.ts";
import { reservationOf } from "./job-reservation.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { makeTenant } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { jobsFile } from "./setting.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: jobsFile, works: false });
});
after(() => gateway.close());

interface Submitted {
  readonly submission: PendingSubmission;
  /** Transactions that were begun for it. */
  readonly begun: () => number;
}

function submitted(
  own: JobOwner,
  { metadata = {}, ...change }: Partial<PendingSubmission & { metadata: Record<string, string> }> = {},
): Submitted {
  let begun = 0;
  const submission: PendingSubmission = {
    owner: own,
    reservation: null,
    slot: null,
    replyAt: () => ({ status: 202, headers: {}, body: "{}" }),
    onBegin: () => (begun += 1),
    openAt: () => assert.fail("this process has no slot"),
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
      metadata,
      slotKey: null,
      beginsSimulated: false,
    },
    ...change,
  };
  return { submission, begun: () => begun };
}

/** A tenant with a budget of so much. */
async function tenantWith(limitNanoUsd: bigint): Promise<JobOwner> {
  const own = await makeTenant(gateway.database);
  const { workspaceId, appId } = own;
  await gateway.database.db
    .insertInto("budgets")
    .values({
      id: newId("budget"),
      workspace_id: workspaceId,
      app_id: appId,
      period: "total",
      managed_by: "api",
      limit_nano_usd: limitNanoUsd,
    })
    .execute();
  return own;
}

async function reservedOf({ appId }: JobOwner): Promise<bigint | undefined> {
  const { rows } = await sql<{ reserved: bigint }>`select reserved_nano_usd as reserved from budget_windows
    join budgets on budgets.id = budget_id where app_id = ${appId}`.execute(gateway.database.db);
  return rows[0]?.reserved;
}

/** Of the job, and of its messages with their priorities. */
async function stateOf(id: string) {
  const { rows } = await sql<{ status: string; attempt: number; priorities: readonly number[] }>`
    select status, attempt, array(select priority from pgboss.job where data ->> 'job_id' = jobs.id) as priorities
    from jobs where id = ${id}`.execute(gateway.database.db);
  return rows[0];
}

/** So many slots, which note what becomes of them. */
function slotsOf(count: number) {
  const noted = { reserved: 0, released: 0, begun: [] as Parameters<LocalStarts["begin"]>[1][] };
  const localStarts: LocalStarts = {
    reserve: () => {
      if (noted.reserved === count) return null;
      noted.reserved += 1;
      return { begin: () => assert.fail("it is begun by `localStarts`"), release: () => (noted.released += 1) };
    },
    begin: (_, started) => void noted.begun.push(started),
    workWith: () => undefined,
  };
  return { noted, submit: createSubmitBatch({ ...gateway.app.jobs, localStarts }) };
}

/** A submission that can begin here, with what its beginning gets. */
function localSubmission(own: JobOwner, change: Parameters<typeof submitted>[1] = {}) {
  const job = { id: newId("job") } as OpenJob;
  const audio = { open: () => assert.fail("nothing reads it"), release: () => undefined };
  const each = submitted(own, { openAt: () => job, keepAudio: () => audio, ...change });
  return { ...each, started: { job, audio } };
}

test("jobs.local-start: a submission with a slot of this process begins there without a message, and one without waits in the queue", async () => {
  const own = await makeTenant(gateway.database);
  const { noted, submit } = slotsOf(1);
  const [first, second] = [localSubmission(own), localSubmission(own)];
  const kinds = await Promise.all([first, second].map(({ submission }) => submit(submission)));
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ["accepted", "accepted"],
  );
  assert.deepEqual(noted, { reserved: 1, released: 0, begun: [first.started] });
  assert.deepEqual(await stateOf(first.submission.job.id), { status: "processing", attempt: 1, priorities: [] });
  assert.deepEqual(await stateOf(second.submission.job.id), { status: "queued", attempt: 0, priorities: [0] });
});

test("jobs.local-start, jobs.refusal-leaves-nothing: slots of refused submissions are released, and the others of their batch begin with their own", async () => {
  const own = await tenantWith(10n);
  const { noted, submit } = slotsOf(3);
  const dear = localSubmission(own, { reservation: reservationOf(own, 11n) });
  const [cheap, free] = [localSubmission(own, { reservation: reservationOf(own, 10n) }), localSubmission(own)];
  const kinds = await Promise.all([dear, cheap, free].map(({ submission }) => submit(submission)));
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ["exceeded", "accepted", "accepted"],
  );
  assert.deepEqual(noted, { reserved: 3, released: 1, begun: [cheap.started, free.started] });
  assert.equal(await stateOf(dear.submission.job.id), undefined);
  assert.equal(await reservedOf(own), 10n);
});

test("jobs.local-start: the slot of a submission that the database does not accept is released", async () => {
  const own = await makeTenant(gateway.database);
  const { noted, submit } = slotsOf(1);
  const broken = localSubmission(own, { metadata: { text: "\u0000" } });
  await assert.rejects(submit(broken.submission));
  assert.deepEqual(noted, { reserved: 1, released: 1, begun: [] });
});

test("jobs.refusal-leaves-nothing: a refusal costs a second transaction, and for a second after it none, as budgets are locked first", async (t) => {
  let nowMs = 5_000;
  t.mock.method(performance, "now", () => nowMs);
  const own = await tenantWith(10n);
  const { submit } = slotsOf(0);
  const tryFor = async (nanoUsd: bigint) => {
    const { submission, begun } = submitted(own, { reservation: reservationOf(own, nanoUsd) });
    const { kind } = await submit(submission);
    return [kind, begun()];
  };
  assert.deepEqual(await tryFor(1n), ["accepted", 1]);
  assert.deepEqual(await tryFor(11n), ["exceeded", 2]);
  nowMs = 5_999;
  assert.deepEqual(await tryFor(11n), ["exceeded", 1]);
  assert.deepEqual(await tryFor(2n), ["accepted", 1]);
  nowMs = 6_000;
  assert.deepEqual(await tryFor(11n), ["exceeded", 2]);
  assert.deepEqual(await tryFor(4n), ["accepted", 1]);
  assert.equal(await reservedOf(own), 7n, "each is reserved once");
});

test("idempotency.job-replay, idempotency.job-ttl: the reply is stored under the key of its submission until the result would expire, and a key that was lost accepts nothing", async () => {
  const own = await makeTenant(gateway.database);
  const { db } = gateway.database;
  const { submit } = slotsOf(0);
  const keyed = async (key: number, isLost: boolean) => {
    const owner = `owner ${key}`;
    const keySha256 = Buffer.alloc(32, key);
    await sql`insert into idempotency_slots (app_id, workspace_id, key_sha256, endpoint, fingerprint, state, owner, lease_until, expires_at)
      values (${own.appId}, ${own.workspaceId}, ${keySha256}, 'POST /v1/transcription/jobs', '\\x01', 'reserved', ${isLost ? "another" : owner},
        patchbay_now() + interval '1 hour', patchbay_now() + interval '1 hour')`.execute(db);
    return submitted(own, { slot: { ...own, keySha256, owner } });
  };
  const [kept, lost, lostToo] = [await keyed(1, false), await keyed(2, true), await keyed(3, true)];
  const plain = submitted(own);
  const all = [lost, kept, plain, lostToo];
  const kinds = await Promise.all(all.map(({ submission }) => submit(submission)));
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ["slot_lost", "accepted", "accepted", "slot_lost"],
  );
  assert.deepEqual(
    all.map(({ begun }) => begun()),
    [1, 2, 2, 1],
    "those that are lost are not tried again",
  );
  const { rows } = await sql<{ key: Buffer; state: string; seconds: number | null }>`
    select key_sha256 as key, state, extract(epoch from slot.expires_at - job.deadline_at)::int as seconds from idempotency_slots as slot
    left join jobs as job on job.id = ${kept.submission.job.id} and slot.state = 'completed'
    where slot.app_id = ${own.appId} order by 1`.execute(db);
  assert.deepEqual(
    rows.map(({ state, seconds }) => [state, seconds]),
    [
      ["completed", gateway.app.jobs.limits.sttJobResultTtlSeconds],
      ["reserved", null],
      ["reserved", null],
    ],
  );
});

test("jobs.reservation: a job is stored only with a verdict on its reservation", async () => {
  const own = await makeTenant(gateway.database);
  const { jobs } = gateway.app;
  const { submission } = submitted(own, { reservation: reservationOf(own, 1n) });
  for (const verdicts of [[], [{ ok: false, slotLost: true }]] as const)
    for (const reserves of ["first", "last"] as const) {
      const ledger = { ...jobs.gateway.ledger, reserveAllIn: async () => verdicts };
      const services = { ...jobs, gateway: { ...jobs.gateway, ledger } };
      await assert.rejects(
        gateway.database.inWorkspace(own.workspaceId, (tx) =>
          acceptJobs(services, tx, [submission], { reserves, begun: new Map() }),
        ),
        /has no slot/u,
      );
    }
  assert.equal(await stateOf(submission.job.id), undefined);
});

test("tenancy.row-level-security: submissions of two workspaces that arrive together are stored in a transaction each", async () => {
  const { submit } = slotsOf(0);
  const owners = [await makeTenant(gateway.database), await makeTenant(gateway.database)];
  const all = owners.map((own) => submitted(own));
  await Promise.all(all.map(({ submission }) => submit(submission)));
  const { rows } = await sql<{ xmin: string }>`select xmin::text from jobs
    where id = any(${all.map(({ submission }) => submission.job.id)}::text[])`.execute(gateway.database.db);
  assert.equal(new Set(rows.map(({ xmin }) => xmin)).size, 2);
});

test("jobs.accepted-durable: at most 64 submissions share a transaction, so that locks are held briefly", async () => {
  const own = await makeTenant(gateway.database);
  const { submit } = slotsOf(0);
  for (const [count, transactions] of [
    [64, 1],
    [65, 2],
  ] as const) {
    const all = Array.from({ length: count }, () => submitted(own).submission);
    await Promise.all(all.map(submit));
    const { rows } = await sql<{ count: number }>`select count(distinct xmin::text)::int as count from jobs
      where id = any(${all.map(({ job }) => job.id)}::text[])`.execute(gateway.database.db);
    assert.deepEqual(rows, [{ count: transactions }]);
  }
});

test("jobs.accepted-durable: the transactions of a workspace follow one another as long as submissions wait", async () => {
  const own = await makeTenant(gateway.database);
  const gates: PromiseWithResolvers<void>[] = [];
  const inWorkspace: typeof gateway.database.inWorkspace = async (workspaceId, work) => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    return gateway.database.inWorkspace(workspaceId, work);
  };
  const submit = createSubmitBatch({ ...gateway.app.jobs, database: { ...gateway.database, inWorkspace } });
  const begun = (count: number) => until(() => gates.length === count);
  const next = () => submit(submitted(own).submission);
  const first = next();
  await begun(1);
  const second = next();
  gates[0]?.resolve();
  await first;
  await begun(2);
  const third = next();
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  assert.equal(gates.length, 2, "the third waits for the second");
  gates[1]?.resolve();
  await second;
  await begun(3);
  gates[2]?.resolve();
  assert.equal((await third).kind, "accepted");
});
