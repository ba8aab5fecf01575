// Slices that are taken ahead of need (contract 9): no call waits while there is something left, however fast it is spent.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLeases, type Leases } from "../../src/metering/leases.ts";
import type { Reservation } from "../../src/metering/ledger.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/database.ts";
import { until } from "../harness/until.ts";
import { chatReservation, chatSettlement } from "./chat-reservation.ts";

let database: TestDatabase;
let tenant: Awaited<ReturnType<typeof makeTenant>>;
let leases: Leases;
let nowMs = 0;
/** Every transaction of the leases passes here first. */
let beforeEachTransaction: () => Promise<void> | void;
let transactions = 0;
let ended = 0;
const made: Reservation[] = [];

before(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  tenant = await makeTenant(database);
  nowMs = 0;
  transactions = 0;
  ended = 0;
  made.length = 0;
  beforeEachTransaction = () => undefined;
  const transaction: TestDatabase["transaction"] = async (work) => {
    transactions += 1;
    await beforeEachTransaction();
    const result = await database.transaction(work);
    ended += 1;
    return result;
  };
  leases = createLeases({ database: { ...database, transaction }, nowMs: () => nowMs });
});
afterEach(() => leases.close());
after(() => database.close());

const TOKENS = 10;
/** Of the first slice: the call's own, and 256 in advance. */
const FIRST = TOKENS + 256 * TOKENS;
/** So many calls leave half of what was taken in advance. */
const TO_HALF = 1 + 128;

async function reserve(tokens = TOKENS): Promise<boolean> {
  const item = chatReservation(tenant, tokens);
  made.push(item);
  return (await leases.reserve(item)).ok;
}

async function reserveMany(count: number): Promise<void> {
  for (let call = 0; call < count; call += 1) assert(await reserve());
}

async function granted(): Promise<readonly number[]> {
  const rows = await database.db
    .selectFrom("budget_leases")
    .select("granted_tokens")
    .where("app_id", "=", tenant.appId)
    .orderBy("id")
    .execute();
  return rows.map((row) => Number(row.granted_tokens));
}

async function budget(limit: bigint): Promise<string> {
  const id = `${tenant.appId}/total`;
  const { workspaceId, appId } = tenant;
  const name = { id, workspace_id: workspaceId, app_id: appId, period: "total" as const };
  await database.db
    .insertInto("budgets")
    .values({ ...name, limit_tokens: limit, managed_by: "test" })
    .execute();
  return id;
}

function windowsOf(id: string) {
  const rows = database.db.selectFrom("budget_windows").select(["spent_tokens", "reserved_tokens"]);
  return rows.where("budget_id", "=", id).execute();
}

/** So many transactions, and the leases have heard of it. */
async function untilEnded(count: number): Promise<void> {
  await until(() => ended === count);
  await turn();
}

/** Transactions from now on wait until it is opened. */
function shutGate(): { readonly open: () => void } {
  const gate = Promise.withResolvers<void>();
  beforeEachTransaction = () => gate.promise;
  return { open: gate.resolve };
}

test("contract 9: while half of a slice is left the next is taken, and calls go on meanwhile", async () => {
  await reserveMany(TO_HALF);
  assert.deepEqual([await granted(), transactions], [[FIRST], 1]);
  const gate = shutGate();
  await reserveMany(128);
  assert.equal(transactions, 2, "asked for once, however many came");
  gate.open();
  await untilEnded(2);
  assert.deepEqual(await granted(), [FIRST + 512 * TOKENS]);
});

test("contract 9: a slice that is spent within a second is followed by one twice as large; after a calm they are small again", async () => {
  await reserveMany(TO_HALF + 1);
  await untilEnded(2);
  assert.deepEqual(await granted(), [FIRST + 512 * TOKENS]);
  nowMs = 9_000;
  await reserveMany(325);
  await untilEnded(3);
  assert.deepEqual(await granted(), [FIRST + (512 + 256) * TOKENS]);
});

test("contract 9: where a budget has no room for another call in advance, nothing is asked for before it is needed", async () => {
  await budget(1_000n);
  assert(await reserve(600));
  assert(await reserve(50));
  assert.equal(transactions, 1);
  assert(await reserve(100));
  assert.equal(transactions, 2);
});

test("contract 9: a lease near its end is replaced while it is spent", async () => {
  await reserveMany(1);
  nowMs = 54_000;
  const gate = shutGate();
  await reserveMany(10);
  gate.open();
  await untilEnded(2);
  assert.equal((await granted()).length, 2);
  nowMs = 60_000;
  await reserveMany(10);
  assert.equal(transactions, 2, "the new one serves when the old one may not");
});

test("contract 9: what is taken ahead while the process ends goes back too", async () => {
  const id = await budget(1_000_000n);
  await reserveMany(TO_HALF - 1);
  const gate = shutGate();
  await reserveMany(2);
  beforeEachTransaction = () => undefined;
  for (const item of made) await leases.settle(chatSettlement(item, 0, 0n, "failed:provider_error"));
  const closed = leases.close();
  // Whatever does not wait for the slice is done in this time.
  for (let look = 0; look < 10; look += 1) await windowsOf(id);
  gate.open();
  await closed;
  assert.deepEqual(await windowsOf(id), [{ spent_tokens: 0n, reserved_tokens: 0n }]);
});

test("contract 9: a slice that could not be taken ahead fails no call that finds enough, and is asked for again when one does not", async () => {
  await reserveMany(TO_HALF);
  beforeEachTransaction = () => Promise.reject(new Error("the database is away"));
  await reserveMany(128);
  assert.equal(transactions, 2, "not again for every call");
  await assert.rejects(reserve(), /the database is away/u);
  beforeEachTransaction = () => undefined;
  assert(await reserve());
});

test("contract 9: with 20,000 settlements unwritten a call waits for a batch of them, and not for all", async () => {
  await reserveMany(20_000);
  const waiting: (() => void)[] = [];
  beforeEachTransaction = () => new Promise((resolve) => waiting.push(resolve));
  for (const item of made.splice(0)) await leases.settle(chatSettlement(item, 0, 0n, "failed:provider_error"));
  let isReserved = false;
  const reserved = reserve().finally(() => {
    isReserved = true;
  });
  await until(() => waiting.length > 0);
  assert.equal(isReserved, false);
  // Another slice may have been on its way.
  for (const _ of ["a slice", "a batch"]) {
    await until(() => isReserved || waiting.length > 0);
    waiting.shift()?.();
  }
  await reserved;
  beforeEachTransaction = () => undefined;
  for (const goOn of waiting) goOn();
});
