// Attempts are added up into hours: each once, never lost, and the sums exact at every moment between.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import * as fc from "fast-check";
import { sql } from "kysely";
import { purgeAttempts, purgeUsage, rollUsage } from "../../src/requests/store/usage-hours.ts";
import { AMOUNT_NAMES } from "../../src/requests/store/usage-amounts.ts";
import { readUsage } from "../../src/requests/store/usage.ts";
import {
  type OpenDatabase,
  openTestDatabase,
  setClock,
  type TestDatabase,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { type Attempt, countOneByOne, insertAttempts, someAttempt, somePlaces } from "./attempts.ts";

const NOON = "2026-11-20T12:00:00Z";
const NOON_MS = Date.parse(NOON);
const ALL = { workspaceId: null, appId: null, keyId: null };
const RANGE = { from: new Date("2026-11-01T00:00:00Z"), to: new Date("2026-12-01T00:00:00Z") };

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
beforeEach(async () => {
  await sql`delete from attempts`.execute(database.db);
  await sql`truncate usage_hours, usage_days`.execute(database.db);
  await sql`update usage_progress set rolled_until = '-infinity', barrier_at = null, barrier_xid = null`.execute(
    database.db,
  );
  await setClock(database, NOON);
});

/** Early enough to be rolled up without the clock going on. */
const beforeNoon = fc
  .integer({ min: 60_001, max: 5 * 3_600_000 })
  .map((milliseconds) => new Date(NOON_MS - milliseconds));

type Period = "hour" | "day";

async function reported(period: Period = "hour"): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const groups = [period, "workspace", "app", "key", "purpose", "model", "capability"] as const;
  const rows = await readUsage(database.db, ALL, RANGE, groups, 100_000);
  return new Map(
    rows.map((row) => [
      [...groups.map((group) => row[group] ?? ""), row.billing_class].join(" "),
      AMOUNT_NAMES.map((name) => row[name]),
    ]),
  );
}

function expected(attempts: readonly Attempt[], period: Period = "hour"): ReadonlyMap<string, readonly bigint[]> {
  const counted = countOneByOne(attempts, (each) =>
    [
      period === "day" ? each.settledAt.slice(0, 10) : `${each.settledAt.slice(0, 13)}:00:00.000Z`,
      each.workspaceId,
      each.appId,
      each.keyId ?? "",
      each.purpose ?? "",
      each.model,
      each.isChat ? "chat" : "audio_input",
      each.billingClass,
    ].join(" "),
  );
  return new Map([...counted].map(([name, sums]) => [name, AMOUNT_NAMES.map((amount) => sums[amount])]));
}

const sorted = <Value>(map: ReadonlyMap<string, Value>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
const rolled = async (): Promise<number> =>
  Number(
    (await sql<{ n: bigint }>`select coalesce(sum(attempts), 0)::bigint as n from usage_hours`.execute(database.db))
      .rows[0]?.n,
  );
async function rollAll(of: OpenDatabase = database): Promise<void> {
  while (await rollUsage(of));
}
/** Transactions of other test files on the same server hold the roll-up up, too: until all before `time` is in the hours. */
async function rollUntil(time: string): Promise<void> {
  for (;;) {
    await rollUsage(database);
    const { rows } = await sql<{ done: boolean }>`
      select not exists (select from attempts where settled_at >= rolled_until
        and settled_at < ${time}::timestamptz - interval '60 seconds') as done from usage_progress`.execute(
      database.db,
    );
    if (rows[0]?.done === true) return;
  }
}

test("usage.exact, usage.final, usage.unresolved: whatever is settled and rolled up when, the sums are those of the attempts, exactly, at every moment", async () => {
  const places = somePlaces(3);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(someAttempt(places, beforeNoon), { maxLength: 12 }), { minLength: 1, maxLength: 6 }),
      async (batches) => {
        await sql`delete from attempts`.execute(database.db);
        await sql`truncate usage_hours, usage_days`.execute(database.db);
        await sql`update usage_progress set rolled_until = '-infinity', barrier_at = null, barrier_xid = null`.execute(
          database.db,
        );
        const settled: Attempt[] = [];
        for (const [turn, batch] of batches.entries()) {
          // Time advances: what is settled now is settled after what was rolled up before.
          const moved = batch.map((each) => ({
            ...each,
            settledAt: new Date(Date.parse(each.settledAt) + turn * 6 * 3_600_000).toISOString(),
          }));
          await setClock(database, new Date(NOON_MS + turn * 6 * 3_600_000).toISOString());
          await insertAttempts(database, moved);
          settled.push(...moved);
          assert.deepEqual(sorted(await reported()), sorted(expected(settled)), "before it is rolled up");
          await rollAll();
          for (const period of ["hour", "day"] as const)
            assert.deepEqual(
              sorted(await reported(period)),
              sorted(expected(settled, period)),
              `after it, by the ${period}`,
            );
        }
        const end = new Date(NOON_MS + batches.length * 6 * 3_600_000 + 120_000).toISOString();
        await setClock(database, end);
        await rollUntil(end);
        assert.equal(await rolled(), settled.length, "all of them are in the hours");
        assert.deepEqual(sorted(await reported()), sorted(expected(settled)));
      },
    ),
    { numRuns: 15 },
  );
});

test("usage.once: however many processes roll up at once, each attempt counts once", async () => {
  const second = await database.openSecond();
  const attempts = fc.sample(someAttempt(somePlaces(3), beforeNoon), 200);
  await insertAttempts(database, attempts);
  await rollAll();
  await setClock(database, "2026-11-20T12:05:00Z");
  await Promise.all([rollAll(), rollAll(second), rollAll(), rollUntil(NOON)]);
  assert.equal(await rolled(), 200);
  assert.deepEqual(sorted(await reported()), sorted(expected(attempts)));
  await second.close();
});

test("usage.once: a process that dies while it rolls up leaves nothing behind, and the next one does all of it", async () => {
  const attempts = fc.sample(someAttempt(somePlaces(2), beforeNoon), 50);
  await insertAttempts(database, attempts);
  await rollAll();
  const dying = withSystemAccess(database, {
    transaction: (work) =>
      database.transaction(async (tx) => {
        await work(tx);
        throw new Error("the process is gone");
      }),
  });
  await assert.rejects(rollUsage(dying), /the process is gone/);
  assert.equal(await rolled(), 0);
  assert.deepEqual(sorted(await reported()), sorted(expected(attempts)));
  await rollUntil(NOON);
  assert.equal(await rolled(), 50);
  assert.deepEqual(sorted(await reported()), sorted(expected(attempts)));
});

test("usage.roll-up-batches: more attempts than one transaction takes are rolled up in several, those of one moment together", async () => {
  await sql`insert into attempts (id, request_id, workspace_id, app_id, endpoint, connection, provider, model, position, billing_class,
      audio_ms, reserved_nano_usd, state, deadline_at, settled_at, outcome, billable_audio_ms, charge_nano_usd)
    select 'att_' || n, 'req', 'ws', 'app', 'e', 'dg', 'deepgram', 'nova-3', 1, 'metered', 1000, 0, 'settled', patchbay_now(),
      '2026-11-20T08:00:00Z'::timestamptz + (n / 6000) * interval '1 minute', 'succeeded', 1000, 0
    from generate_series(0, 24999) as n`.execute(database.db);
  await rollAll();
  const steps = new Set<number>();
  while ((await rolled()) < 25_000) {
    await rollUsage(database);
    steps.add(await rolled());
  }
  assert.deepEqual(
    [...steps].filter((step) => step > 0),
    [12_000, 24_000, 25_000],
  );
});

test("usage.late-commit: a settlement that is committed long after its moment is counted", async () => {
  const [late, early] = fc.sample(someAttempt(somePlaces(1), fc.constant(new Date("2026-11-20T11:30:00Z"))), 2) as [
    Attempt,
    Attempt,
  ];
  const second = await database.openSecond();
  const opened = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const settling = second.transaction(async (tx) => {
    await insertAttempts({ db: tx }, [late]);
    opened.resolve();
    await released.promise;
  });
  await opened.promise;
  await insertAttempts(database, [early]);
  await rollAll();
  await setClock(database, "2026-11-20T12:10:00Z");
  await rollAll();
  await rollAll();
  assert.equal(await rolled(), 0, "nothing is rolled up while a transaction may still settle there");
  assert.deepEqual(sorted(await reported()), sorted(expected([early])));
  released.resolve();
  await settling;
  assert.deepEqual(sorted(await reported()), sorted(expected([early, late])));
  await rollUntil(NOON);
  assert.equal(await rolled(), 2);
  assert.deepEqual(sorted(await reported()), sorted(expected([early, late])));
  await second.close();
});

test("usage.moved-database: a database that was moved to another server continues to roll up", async () => {
  await insertAttempts(database, fc.sample(someAttempt(somePlaces(1), beforeNoon), 3));
  await rollAll();
  await sql`update usage_progress set barrier_xid = '9000000000000'`.execute(database.db);
  await rollUntil(NOON);
  assert.equal(await rolled(), 3);
});

test("usage.retention: attempts go with the request log, but none that is not in the hours; hours go after theirs", async () => {
  const attempts = fc.sample(someAttempt(somePlaces(2), beforeNoon), 40);
  await insertAttempts(database, attempts);
  await setClock(database, "2026-12-25T12:00:00Z");
  assert.equal(await purgeAttempts(database.db, 30, 100), 0, "they are not rolled up");
  await rollUntil("2026-12-25T12:00:00Z");
  const sums = sorted(expected(attempts));
  assert.equal(await purgeAttempts(database.db, 30, 15), 15);
  assert.equal(await purgeAttempts(database.db, 30, 100), 25);
  assert.deepEqual(sorted(await reported()), sums);
  assert.equal(await purgeUsage(database.db, 400, 100_000), 0);
  await setClock(database, "2027-12-26T12:00:00Z");
  assert((await purgeUsage(database.db, 400, 100_000)) > 0);
  assert.deepEqual(sorted(await reported()), []);
});
