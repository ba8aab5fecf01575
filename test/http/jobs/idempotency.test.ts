// A key under which a job is submitted [idempotency.job-replay]: one job however often and however badly it is tried.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../../src/contract/ids.ts";
import { removeOrphans } from "../../../src/jobs/sweep.ts";
import type { Ledger } from "../../../src/metering/ledger.ts";
import { postForm } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { sessionCut } from "../../harness/session-cut.ts";
import { until } from "../../harness/until.ts";
import { jobsFile } from "../../jobs/setting.ts";
import { ended, JOBS, submit, submittedOf } from "./jobs.ts";
import { type OpenDatabase, withSystemAccess } from "../../harness/postgres/database.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: jobsFile });
});
after(() => gateway.close());

test("idempotency.job-replay: twenty submissions at once under one key make one job", async () => {
  const { origin, database } = gateway;
  const headers = { "idempotency-key": "twenty-at-once" };
  const answers = await Promise.all(Array.from({ length: 20 }, () => postForm(origin, { path: JOBS, headers })));
  const made = answers.filter(({ status }) => status === 202);
  assert.ok(made.length > 0);
  assert.equal(made.filter(({ headers: sent }) => !sent.has("x-svc-idempotent-replay")).length, 1);
  assert.equal(new Set(made.map((answer) => submittedOf(answer).job_id)).size, 1);
  for (const answer of answers) if (answer.status !== 202) assert.equal(answer.code, "IDEMPOTENCY_REPLAY_IN_PROGRESS");
  const keyed = await database.db.selectFrom("jobs").selectAll().where("slot_key", "is not", null).execute();
  assert.equal(keyed.length, 1);
  await ended(origin, keyed[0]?.id ?? "");
});

test("idempotency.job-ttl: the key lives as long as the job's result", async () => {
  const { origin, database } = gateway;
  const { job_id: id } = await submit(origin, { headers: { "idempotency-key": "as-long-as-the-result" } });
  const done = await ended(origin, id);
  const row = await database.db.selectFrom("jobs").select("slot_key").where("id", "=", id).executeTakeFirstOrThrow();
  assert.ok(row.slot_key !== null);
  const slot = await database.db
    .selectFrom("idempotency_slots")
    .select("expires_at")
    .where("key_sha256", "=", row.slot_key)
    .executeTakeFirstOrThrow();
  assert.equal(slot.expires_at.toISOString(), done.expires_at);
});

for (const [when, isCommitted] of [
  ["before its commit", false],
  ["behind its commit", true],
] as const) {
  test(`jobs.submitted-once: a submission whose session is cut ${when} is accepted, and made once`, async () => {
    const { database } = gateway;
    let cuts = 0;
    const cutOnce = <T>(result: T): T => {
      if (!isSubmission(result) || cuts > 0) return result;
      cuts += 1;
      throw sessionCut();
    };
    const cutting = intercepted(database, (begin, work) =>
      isCommitted ? begin(work).then(cutOnce) : begin(async (tx) => cutOnce(await work(tx))),
    );
    const second = await startGateway({
      file: jobsFile,
      existing: { ...gateway, database: cutting },
      works: false,
    });
    const jobs = () => database.db.selectFrom("jobs").select(["id", "call_attempt_id"]).execute();
    const attempts = () => database.db.selectFrom("attempts").select("id").execute();
    const [jobsBefore, attemptsBefore] = [await jobs(), await attempts()];
    const headers = { "idempotency-key": `cut ${when}`.replaceAll(" ", "-") };
    const first = submittedOf(await postForm(second.origin, { path: JOBS, headers }));
    assert.equal(cuts, 1);
    const again = submittedOf(await postForm(second.origin, { path: JOBS, headers }));
    assert.deepEqual(again, first);
    await second.close();
    assert.equal((await jobs()).length, jobsBefore.length + 1);
    assert.equal((await attempts()).length, attemptsBefore.length + 1);
    assert.equal((await ended(gateway.origin, first.job_id)).status, "succeeded");
  });
}

for (const isCutAgain of [false, true]) {
  test(`jobs.submitted-once: a submission that is still being committed when it is looked up${isCutAgain ? ", and cut at every look for a while," : ""} is accepted`, async () => {
    const { database } = gateway;
    const [reached, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    const holding = intercepted(database, async (begin, work, isSystem) => {
      const wrapped: typeof work = async (tx) => {
        const result = await work(tx);
        if (!isSubmission(result)) return result;
        reached.resolve();
        await mayCommit.promise;
        return result;
      };
      if (calls === 0) {
        const held = begin(wrapped);
        const isOther = await Promise.race([held.then(() => true), reached.promise.then(() => false)]);
        if (isOther) return held;
        calls = 1;
        throw sessionCut();
      }
      // The look-ups are bound to the workspace.
      if (isSystem) return begin(work);
      calls += 1;
      if (isCutAgain && calls > 2 && calls < 8) throw sessionCut();
      const again = begin(work);
      if (calls === 2) await until(() => waitsForLock(database));
      mayCommit.resolve();
      if (!isCutAgain || calls > 2) return again;
      await again.catch(() => undefined);
      throw sessionCut();
    });
    const second = await startGateway({
      file: jobsFile,
      existing: { ...gateway, database: holding },
      works: false,
    });
    const jobs = () => database.db.selectFrom("jobs").select("id").orderBy("created_at", "desc").execute();
    const jobsBefore = (await jobs()).length;
    const answer = await postForm(second.origin, { path: JOBS });
    await second.close();
    assert.deepEqual([answer.status, answer.code ?? null], [202, null]);
    const [made, ...others] = await jobs();
    assert.equal(others.length, jobsBefore);
    assert.equal((await ended(gateway.origin, made?.id ?? "")).status, "succeeded");
  });
}

test("jobs.submitted-once, jobs.reservation: a submission that is still being committed when it is looked up, and whose own reservation exhausts the budget, is accepted", async () => {
  const { database } = gateway;
  const newest = () =>
    database.db
      .selectFrom("jobs")
      .select(["id", "workspace_id", "app_id", "call_attempt_id"])
      .orderBy("created_at", "desc")
      .limit(1)
      .executeTakeFirstOrThrow();
  await submit(gateway.origin);
  const { workspace_id, app_id, call_attempt_id } = await newest();
  const { reserved_nano_usd: limit_nano_usd } = await database.db
    .selectFrom("attempts")
    .select("reserved_nano_usd")
    .where("id", "=", call_attempt_id)
    .executeTakeFirstOrThrow();
  const budgetId = newId("budget");
  await database.db
    .insertInto("budgets")
    .values({ id: budgetId, workspace_id, app_id, period: "total", managed_by: "api", limit_nano_usd })
    .execute();
  const [reached, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isCut = false;
  let isLookedUp = false;
  const holding = intercepted(database, async (begin, work, isSystem) => {
    if (!isCut) {
      const held = begin(async (tx) => {
        const result = await work(tx);
        if (!isSubmission(result)) return result;
        reached.resolve();
        await mayCommit.promise;
        return result;
      });
      const isOther = await Promise.race([held.then(() => true), reached.promise.then(() => false)]);
      if (isOther) return held;
      isCut = true;
      throw sessionCut();
    }
    const again = begin(work);
    if (isSystem || isLookedUp) return again;
    isLookedUp = true;
    await until(() => waitsForLock(database));
    mayCommit.resolve();
    return again;
  });
  const second = await startGateway({ file: jobsFile, existing: { ...gateway, database: holding }, works: false });
  const answer = await postForm(second.origin, { path: JOBS });
  await second.close();
  await database.db.deleteFrom("budgets").where("id", "=", budgetId).execute();
  assert.deepEqual([answer.status, answer.code ?? null], [202, null]);
  const { id } = await newest();
  assert.equal(submittedOf(answer).job_id, id);
  assert.equal((await ended(gateway.origin, id)).status, "succeeded");
});

async function waitsForLock({ db }: Pick<OpenDatabase, "db">): Promise<boolean> {
  const { rows } =
    await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}

for (const key of [null, "never-confirmed"]) {
  test(`jobs.submit-unconfirmed: a submission ${key === null ? "without a key" : "under a key"} that no look-up can confirm is 503, ${key === null ? "and not to be repeated blindly" : "and its retry under the same key finds the job"}`, async () => {
    const { database } = gateway;
    let isUnavailable = false;
    let nowMs = Date.now();
    const unconfirmed = intercepted(database, async (begin, work) => {
      if (isUnavailable) nowMs += 31_000;
      if (isUnavailable) throw sessionCut();
      const result = await begin(work);
      isUnavailable = isSubmission(result);
      if (isUnavailable) throw sessionCut();
      return result;
    });
    const second = await startGateway({
      file: jobsFile,
      existing: { ...gateway, database: unconfirmed },
      works: false,
      now: () => new Date(nowMs),
    });
    const headers = key === null ? {} : { "idempotency-key": key };
    const answer = await postForm(second.origin, { path: JOBS, headers });
    isUnavailable = false;
    assert.deepEqual(
      [answer.status, answer.code, answer.headers.get("x-should-retry"), answer.headers.get("retry-after")],
      key === null ? [503, "OVERLOADED", "false", null] : [503, "OVERLOADED", "true", "2"],
    );
    const [made] = await database.db.selectFrom("jobs").select("id").orderBy("created_at", "desc").limit(1).execute();
    if (key !== null) {
      const again = submittedOf(await postForm(second.origin, { path: JOBS, headers }));
      assert.equal(again.job_id, made?.id);
    }
    await second.close();
    // Its recording was not deleted.
    assert.equal((await ended(gateway.origin, made?.id ?? "")).status, "succeeded");
  });
}

test("jobs.submitted-once, jobs.refusal-leaves-nothing: a submission whose session is cut each time is refused, and leaves no job, no reservation, no audio and a free key", async () => {
  const { database, dataDir } = gateway;
  let cuts = 0;
  const cut = (): never => {
    cuts += 1;
    throw sessionCut();
  };
  const second = await startGateway({
    file: jobsFile,
    existing: gateway,
    works: false,
    wrapGateway: (services) => {
      const { ledger } = services;
      const reserveAllIn: Ledger["reserveAllIn"] = (tx, all) => ledger.reserveAllIn(tx, all).then(cut);
      return { ...services, ledger: { ...ledger, reserveAllIn } };
    },
  });
  const count = async () => [
    (await database.db.selectFrom("jobs").select("id").execute()).length,
    (await database.db.selectFrom("attempts").select("id").execute()).length,
    globSync(join(dataDir, "objects", "audio", "*")).length,
  ];
  const before = await count();
  const headers = { "idempotency-key": "cut-each-time" };
  const refused = await postForm(second.origin, { path: JOBS, headers });
  await second.close();
  assert.equal(cuts, 4);
  assert.deepEqual([refused.status, refused.code, refused.headers.get("retry-after")], [503, "OVERLOADED", "2"]);
  assert.deepEqual(await count(), before);
  const { job_id: id } = await submit(gateway.origin, { headers });
  assert.equal((await ended(gateway.origin, id)).status, "succeeded");
});

/** The result of a batch of submissions, or of one that is made again after a look-up. */
function isSubmission(result: unknown): boolean {
  if (Array.isArray(result)) return result.some((each: unknown) => isObject(each) && each["kind"] === "accepted");
  return isObject(result) && result["status"] === 202;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

type Begin<Tx, T> = (work: (tx: Tx) => Promise<T>) => Promise<T>;

/** The same database, whose transactions are run by `run`. */
function intercepted(
  database: OpenDatabase,
  run: <Tx, T>(begin: Begin<Tx, T>, work: (tx: Tx) => Promise<T>, isSystem: boolean) => Promise<T>,
): OpenDatabase {
  const inWorkspace: OpenDatabase["inWorkspace"] = (workspaceId, work) =>
    run((each: typeof work) => database.inWorkspace(workspaceId, each), work, false);
  const transaction: OpenDatabase["transaction"] = (work) =>
    run((each: typeof work) => database.transaction(each), work, true);
  return withSystemAccess({ ...database, inWorkspace }, { transaction });
}

test("jobs.refusal-leaves-nothing, jobs.orphans: a submission that fails before its commit leaves no job, no reservation and a free key; its audio is swept", async () => {
  const { database, app, dataDir } = gateway;
  const broken = await startGateway({
    file: jobsFile,
    existing: gateway,
    works: false,
    wrapGateway: (services) => ({
      ...services,
      ledger: { ...services.ledger, reserveAllIn: () => Promise.reject(new Error("the process is about to die")) },
    }),
  });
  const count = async () => [
    (await database.db.selectFrom("jobs").select("id").execute()).length,
    (await database.db.selectFrom("attempts").select("id").execute()).length,
  ];
  const before = await count();
  const headers = { "idempotency-key": "killed-in-between" };
  assert.equal((await postForm(broken.origin, { path: JOBS, headers })).code, "INTERNAL");
  await broken.close();
  assert.deepEqual(await count(), before);
  const left = () => globSync(join(dataDir, "objects", "audio", "*")).length;
  assert.equal(left(), 1);
  const later = new Date(Date.now() + 7_200_000);
  await removeOrphans({ ...app.jobs, gateway: { ...app.jobs.gateway, now: () => later } });
  assert.equal(left(), 0);
  const { job_id: id } = await submit(gateway.origin, { headers });
  assert.equal((await ended(gateway.origin, id)).status, "succeeded");
});
