// How attempts are looked up when they are settled, while their table grows (docs/decisions/0031-plans-expire.md).
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { createLedger } from "../../src/metering/ledger.ts";
import { type Reservation } from "../../src/metering/ledger-entries.ts";
import type { DatabaseTransaction } from "../../src/storage/database.ts";
import { PLAN_LIFETIME_MS } from "../../src/storage/connection/prepared.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";

const GROWN = 20_000;
/** The server plans a named statement at each of its first five executions, and may keep the plan of the sixth. */
const UNTIL_KEPT = 7;

/** The server's default. */
const JIT_ABOVE_COST = 100_000;

let now = 0;
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase({ nowMs: () => now, poolSize: 1, isNew: true });
  await setAutovacuum("set (autovacuum_enabled = false)");
});
after(async () => {
  await setAutovacuum("reset (autovacuum_enabled)");
  await database.close();
});

/** As in a new database: tables that another test filled and emptied keep their pages, and get other plans. */
async function empty(): Promise<void> {
  await sql`truncate ${sql.join(GROWING.map((table) => sql.table(table)))} cascade`.execute(database.db);
}

/** An automatic `analyze` in the middle would end every kept plan. */
async function setAutovacuum(setting: string): Promise<void> {
  for (const table of GROWING) await sql`alter table ${sql.table(table)} ${sql.raw(setting)}`.execute(database.db);
}

const GROWING = ["attempts", "budgets", "budget_windows"];

/** Rows that scans of whole tables read, while a budgeted call is reserved and settled. */
async function rowsScanned(): Promise<number> {
  const ledger = createLedger({ database, seal: createSeal({ keys: [randomBytes(32)] }) });
  const tenant = await makeTenant(database);
  const { workspaceId, appId } = tenant;
  await database.db
    .insertInto("budgets")
    .values({ id: newId("budget"), workspace_id: workspaceId, app_id: appId, period: "month", managed_by: "test" })
    .execute();
  // The first of a month takes the longer way, which makes the window.
  await ledger.reserve(reservationOf(tenant));
  const reserved = reservationOf(tenant);
  return database.transaction(async (tx) => {
    const before = await readSoFar(tx);
    assert.deepEqual(await ledger.reserveIn(tx, reserved), { ok: true });
    const { changed } = await ledger.settleIn(tx, {
      attemptId: reserved.attemptId,
      outcome: "succeeded",
      providerMs: null,
      billableAudioMs: 1_000,
      chargeNanoUsd: 0n,
      providerRequestId: null,
      receipts: [],
    });
    assert.equal(changed, true);
    return (await readSoFar(tx)) - before;
  });
}

function reservationOf(tenant: Awaited<ReturnType<typeof makeTenant>>): Reservation {
  return {
    attemptId: newId("attempt"),
    requestId: newId("request"),
    ...tenant,
    keyId: null,
    endpoint: "POST /v1/transcription",
    connection: "el",
    provider: "elevenlabs",
    model: "scribe_v2",
    position: 1,
    billingClass: "metered",
    audioMs: 1_000,
    reserveNanoUsd: 0n,
    estimateNanoUsd: 0n,
    price: null,
    deadlineAt: new Date(Date.now() + 60_000),
  };
}

async function readSoFar(tx: DatabaseTransaction): Promise<number> {
  const { rows } = await sql<{ read: bigint }>`select sum(seq_tup_read)::bigint as read from pg_stat_xact_user_tables
    where relname = any(${GROWING}::text[])`.execute(tx);
  return Number(rows[0]?.read);
}

async function grow(): Promise<void> {
  const { workspaceId } = await makeTenant(database);
  const { db } = database;
  await sql`insert into attempts (id, request_id, workspace_id, app_id, endpoint, connection, provider, model, position, billing_class,
      audio_ms, reserved_nano_usd, windows, state, settled_at, outcome, billable_audio_ms, charge_nano_usd, receipts, deadline_at)
    select 'att_' || n, 'req_' || n, 'ws', 'app', 'POST /v1/transcription', 'el', 'elevenlabs', 'scribe_v2', 1, 'metered',
      1000, 0, '[]', 'settled', now(), 'succeeded', 1000, 0, '[]', now() from generate_series(1, ${GROWN}::int) as n`.execute(
    db,
  );
  await sql`insert into budgets (id, workspace_id, kind, period, managed_by)
    select 'bud_' || n, ${workspaceId}, 'allowance', 'month', 'test' from generate_series(1, ${GROWN}::int) as n`.execute(
    db,
  );
  await sql`insert into budget_windows (budget_id, window_start)
    select 'bud_' || n, date_trunc('month', now()) from generate_series(1, ${GROWN}::int) as n`.execute(db);
}

async function rowsScannedAfterGrowth(): Promise<number> {
  await empty();
  for (let runs = 0; runs < UNTIL_KEPT; runs += 1) await rowsScanned();
  for (const table of GROWING) await sql`analyze ${sql.table(table)}`.execute(database.db);
  for (let runs = 0; runs < UNTIL_KEPT; runs += 1) await rowsScanned();
  await grow();
  return rowsScanned();
}

test("metering.plan-no-scan: a call is reserved and settled without a table scan within a plan's lifetime of its growth, without new statistics", async (t) => {
  // The check of a foreign key has a kept plan too, by which 20,000 rows would read the whole table each.
  await sql`alter table budget_windows disable trigger all`.execute(database.db);
  // The plan of the small tables is kept: this is what its lifetime ends. The oldest server keeps none at times while other tests run, and then has nothing to end.
  const hasKept = (await rowsScannedAfterGrowth()) >= GROWN;
  if (!hasKept) t.diagnostic("the server kept no plan: only new plans were tested");
  now += PLAN_LIFETIME_MS;
  assert.equal(await rowsScanned(), 0);
});

test("metering.plan-no-scan: the same holds with the statistics of the large tables", async () => {
  for (const table of GROWING) await sql`analyze ${sql.table(table)}`.execute(database.db);
  for (let runs = 0; runs < UNTIL_KEPT; runs += 1) assert.equal(await rowsScanned(), 0);
});

test("metering.plan-no-scan: bound to a workspace of many apps, a reservation reads its own app's budgets and windows only", async () => {
  const tenant = await makeTenant(database);
  const { db } = database;
  const { workspaceId } = tenant;
  await sql`insert into budgets (id, workspace_id, app_id, period, managed_by)
    values (${workspaceId}, ${workspaceId}, ${tenant.appId}, 'total', 'test')`.execute(db);
  await sql`insert into budgets (id, workspace_id, kind, period, managed_by)
    select 'other_' || n, ${workspaceId}, 'allowance', 'total', 'test' from generate_series(1, ${GROWN}::int) as n`.execute(
    db,
  );
  for (const table of GROWING) await sql`analyze ${sql.table(table)}`.execute(db);
  const ledger = createLedger({ database, seal: createSeal({ keys: [randomBytes(32)] }) });
  for (let runs = 0; runs < UNTIL_KEPT; runs += 1) {
    const read = await database.inWorkspace(workspaceId, async (tx) => {
      const before = await readSoFar(tx);
      assert.deepEqual(await ledger.reserveIn(tx, reservationOf(tenant)), { ok: true });
      return (await readSoFar(tx)) - before;
    });
    assert.equal(read, 0);
  }
});

test("metering.plan-no-scan: nothing is compiled: the plan of a settlement costs less than JIT begins at, and JIT is off in our sessions", async () => {
  const { rows } = await sql<{ jit: string }>`select current_setting('jit') as jit`.execute(database.db);
  assert.deepEqual(rows, [{ jit: "off" }]);
  await rowsScanned();
  await database.transaction(async (tx) => {
    const prepared = await sql<{ name: string; values: bigint }>`
      select name, cardinality(parameter_types)::int8 as values from pg_prepared_statements
      where statement like '%update attempts set state%'`.execute(tx);
    assert.ok(prepared.rows.length > 0);
    await sql`set local plan_cache_mode = force_generic_plan`.execute(tx);
    for (const { name, values } of prepared.rows) {
      const nulls = Array.from({ length: Number(values) }, () => "null").join(", ");
      const plan = await sql<{ "QUERY PLAN": string }>`explain execute ${sql.raw(`${name}(${nulls})`)}`.execute(tx);
      const cost = Number(/\.\.(\d+)/u.exec(plan.rows[0]?.["QUERY PLAN"] ?? "")?.[1]);
      assert.ok(cost < JIT_ABOVE_COST, `${cost}`);
    }
  });
});
