// Slices that are requested ahead of need: no call waits while there is something left, however fast it is spent.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLeases, type Leases } from "../../src/metering/leases.ts";
import type { Reservation } from "../../src/metering/ledger-entries.ts";
import {
  makeTenant,
  openTestDatabase,
  setClock,
  shiftClock,
  type TestDatabase,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { afterSettlements } from "./after-settlements.ts";
import { chatReservation, chatSettlement } from "./chat-reservation.ts";

let database: TestDatabase;
let tenant: Awaited<ReturnType<typeof makeTenant>>;
let leases: Leases;
let nowMs = 0;
/** Every transaction of the leases passes here first. */
let beforeEachTransaction: () => Promise<void> | void;
let afterEachSettlement: () => Promise<void> | void;
let transactions = 0;
let ended = 0;
const made: Reservation[] = [];
const errors: unknown[] = [];

before(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  await shiftClock(database, 0);
  tenant = await makeTenant(database);
  nowMs = 0;
  transactions = 0;
  ended = 0;
  made.length = 0;
  errors.length = 0;
  beforeEachTransaction = () => undefined;
  const transaction: TestDatabase["transaction"] = async (work) => {
    transactions += 1;
    await beforeEachTransaction();
    const result = await database.transaction(work);
    ended += 1;
    return result;
  };
  afterEachSettlement = () => undefined;
  const db = afterSettlements(database, () => afterEachSettlement());
  leases = createLeases({
    database: withSystemAccess(database, { db, transaction }),
    nowMs: () => nowMs,
    onError: (error) => errors.push(error),
  });
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

function ownLeases() {
  const rows = database.db.selectFrom("budget_leases").select(["granted_tokens", "state"]);
  return rows.where("app_id", "=", tenant.appId).orderBy("id").execute();
}

const granted = async () => (await ownLeases()).map((row) => Number(row.granted_tokens));
const states = async () => (await ownLeases()).map(({ state }) => state);

async function budget(limit: bigint, period: "day" | "month" | "total" = "total"): Promise<string> {
  const id = `${tenant.appId}/${period}`;
  const { workspaceId, appId } = tenant;
  const name = { id, workspace_id: workspaceId, app_id: appId, period };
  await database.db
    .insertInto("budgets")
    .values({ ...name, limit_tokens: limit, managed_by: "test" })
    .execute();
  return id;
}

function windowsOf(id: string) {
  const rows = database.db.selectFrom("budget_windows").select(["spent_tokens", "reserved_tokens"]);
  return rows.where("budget_id", "=", id).orderBy("window_start").execute();
}

/** So many transactions, and the leases have been notified. */
async function untilEnded(count: number): Promise<void> {
  await until(() => ended === count);
  await turn();
}

async function spendUntilAsked(): Promise<void> {
  const count = transactions;
  const isAsked = () => transactions > count;
  while (!isAsked()) assert(await reserve());
}

/** Answers how much the next slice is, in calls. */
async function spendUntilMore(): Promise<number> {
  const before = sum(await granted());
  await spendUntilAsked();
  await untilEnded(transactions);
  return (sum(await granted()) - before) / TOKENS;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Whose provider answered nothing: all that was reserved for them is free again. */
function endAll(): void {
  for (const item of made.splice(0)) leases.settle(chatSettlement(item, 0, 0n, "failed:provider_error"));
}

/** Transactions from now on wait until it is opened. */
function shutGate(): { readonly open: () => void } {
  const gate = Promise.withResolvers<void>();
  beforeEachTransaction = () => gate.promise;
  return { open: gate.resolve };
}

test("metering.lease-refill: when half of a slice is spent the next is requested, and calls continue in the meantime", async () => {
  await reserveMany(TO_HALF);
  assert.deepEqual([await granted(), transactions], [[FIRST], 1]);
  const gate = shutGate();
  await reserveMany(128);
  assert.equal(transactions, 2, "asked for once, however many came");
  gate.open();
  await untilEnded(2);
  assert.deepEqual(await granted(), [FIRST + 512 * TOKENS]);
});

test("metering.lease-size: a slice that is spent within a second is followed by one twice as large; after a calm they are small again", async () => {
  await reserveMany(1);
  for (const [afterMs, calls] of [
    [0, 512],
    [999, 1_024],
    [1_000, 1_024],
    [7_999, 1_024],
    [999, 2_048],
    [8_000, 256],
  ] as const) {
    nowMs += afterMs;
    assert.equal(await spendUntilMore(), calls, `after ${afterMs} ms`);
  }
});

test("metering.lease-size: however fast they are spent, slices are of 16,384 calls at most", async () => {
  await reserveMany(1);
  const sizes: number[] = [];
  for (let slices = 0; slices < 8; slices += 1) sizes.push(await spendUntilMore());
  assert.deepEqual(sizes, [512, 1_024, 2_048, 4_096, 8_192, 16_384, 16_384, 16_384]);
});

test("metering.lease-share: of several budgets the tightest bounds what a slice takes in advance, and the first that is exceeded refuses", async () => {
  await budget(1_000n, "month");
  await budget(100_000n);
  assert(await reserve());
  assert.deepEqual(await granted(), [TOKENS + Math.floor((1_000 - TOKENS) / 8)]);
  const refused = await leases.reserve(chatReservation(tenant, 200_000));
  assert(!refused.ok && "exceeded" in refused);
  assert.deepEqual([refused.exceeded.period, refused.exceeded.limit], ["month", 1_000n]);
});

test("metering.lease-refill: where a budget has no room for another call in advance, nothing is requested before it is needed", async () => {
  await budget(1_000n);
  assert(await reserve(600));
  assert(await reserve(50));
  assert.equal(transactions, 1);
  assert(await reserve(100));
  assert.equal(transactions, 2);
});

test("metering.lease-reclaim-needless: what no budget has room for is refused after one look at them, where no other process holds some", async () => {
  await budget(1_000n);
  assert(await reserve(600));
  assert.equal(await reserve(500), false);
  assert.equal(transactions, 2);
});

test("metering.lease-lifetime: a lease near its end is replaced while it is spent, and returned when its calls have ended", async () => {
  const id = await budget(1_000_000n);
  await reserveMany(1);
  nowMs = 54_000;
  const gate = shutGate();
  await reserveMany(10);
  gate.open();
  // What was left of the old one goes back, though its calls still run.
  await untilEnded(3);
  assert.deepEqual(await granted(), [11 * TOKENS, FIRST]);
  nowMs = 60_000;
  await reserveMany(10);
  assert.equal(transactions, 3, "the new one serves when the old one may not");
  endAll();
  await leases.renew();
  assert.deepEqual(await states(), ["closed", "open"]);
  await leases.close();
  assert.deepEqual(await windowsOf(id), [{ spent_tokens: 0n, reserved_tokens: 0n }]);
});

test("metering.lease-lifetime: a lease whose time is over is spent no more, although much of it is left, and that is returned", async () => {
  await budget(1_000n);
  assert(await reserve(600));
  nowMs = 59_999;
  assert(await reserve(25));
  assert.equal(transactions, 1);
  nowMs = 60_000;
  assert(await reserve(25));
  assert.equal(transactions, 3);
  assert.deepEqual(await granted(), [625, 25 + Math.floor((1_000 - 625 - 25) / 8)]);
});

test("metering.lease-lifetime: a lease is spent until the first window of its budgets ends", async () => {
  await setClock(database, "2026-03-30T23:59:50Z");
  for (const period of ["day", "month", "total"] as const) await budget(1_000_000n, period);
  await reserveMany(1);
  nowMs = 8_999;
  await reserveMany(1);
  assert.equal(transactions, 1);
  nowMs = 10_000;
  await reserveMany(1);
  assert.deepEqual([transactions, (await granted()).length], [3, 2]);
});

test("metering.lease-lifetime: where no window of its budgets ends, or there are none, a lease is spent for a minute", async () => {
  for (const isLimited of [false, true]) {
    if (isLimited) {
      tenant = await makeTenant(database);
      await budget(1_000_000n);
    }
    nowMs = 0;
    await reserveMany(1);
    nowMs = 53_999;
    await reserveMany(1);
    assert.equal((await granted()).length, 1);
    nowMs = 60_000;
    await reserveMany(1);
    assert.equal((await granted()).length, 2);
  }
});

test("metering.lease-window: what is left of another window is not counted for a call of this one", async () => {
  await setClock(database, "2026-03-30T23:59:50Z");
  const id = await budget(1_000n, "day");
  assert(await reserve(100));
  await setClock(database, "2026-03-31T00:00:00Z");
  assert(await reserve(900));
  await untilEnded(3);
  assert.deepEqual(await granted(), [100, 900 + 12]);
  endAll();
  await leases.close();
  assert.deepEqual(
    (await windowsOf(id)).map(({ reserved_tokens: reserved }) => reserved),
    [0n, 0n],
  );
});

test("metering.lease-idle-return: a lease in use stays while another is returned, and one that was just used is kept", async () => {
  const id = await budget(1_000_000n);
  assert(await reserve());
  const [running] = made.splice(0);
  nowMs = 60_000;
  assert(await reserve());
  endAll();
  nowMs = 69_999;
  await leases.renew();
  assert.deepEqual(await states(), ["open", "open"]);
  nowMs = 70_000;
  await leases.renew();
  assert.deepEqual(await states(), ["open", "closed"]);
  assert(running);
  leases.settle(chatSettlement(running, TOKENS));
  await leases.renew();
  assert.deepEqual(await states(), ["closed", "closed"]);
  const before = transactions;
  await leases.renew();
  assert.equal(transactions, before, "each goes back once");
  assert.deepEqual(await windowsOf(id), [{ spent_tokens: BigInt(TOKENS), reserved_tokens: 0n }]);
});

test("metering.lease-reclaim-unused: idle leases are returned on request, with what was being requested; those in use are not", async () => {
  const id = await budget(100_000n);
  const reserved = async () => (await windowsOf(id)).map(({ reserved_tokens: tokens }) => Number(tokens));
  await reserveMany(1);
  await leases.giveBack("another-workspace");
  assert.deepEqual(await reserved(), [FIRST]);
  await leases.giveBack(tenant.workspaceId);
  assert.deepEqual(await reserved(), [TOKENS]);
  const before = transactions;
  await leases.giveBack(null);
  assert.equal(transactions, before, "nothing is left");

  await reserveMany(1);
  const gate = shutGate();
  await spendUntilAsked();
  let isBack = false;
  const back = leases.giveBack(null).finally(() => {
    isBack = true;
  });
  for (let look = 0; look < 10; look += 1) await windowsOf(id);
  assert.equal(isBack, false, "it resolves when the slice is there");
  gate.open();
  await back;
  assert.deepEqual(await reserved(), [made.length * TOKENS]);
  assert(await reserve());
  endAll();
  nowMs = 10_000;
  await leases.renew();
  await leases.giveBack(null);
  assert.deepEqual([await reserved(), errors], [[0], []]);
});

test("metering.lease-shutdown: a slice that is requested while the process ends is returned too", async () => {
  const id = await budget(1_000_000n);
  await reserveMany(TO_HALF - 1);
  const gate = shutGate();
  await reserveMany(2);
  beforeEachTransaction = () => undefined;
  endAll();
  const closed = leases.close();
  // Whatever does not wait for the slice is done in this time.
  for (let look = 0; look < 10; look += 1) await windowsOf(id);
  gate.open();
  await closed;
  assert.deepEqual(await windowsOf(id), [{ spent_tokens: 0n, reserved_tokens: 0n }]);
});

test("metering.lease-refill-failure: a refill that fails fails no call that finds enough, and is requested again by the next call that does not", async () => {
  await reserveMany(TO_HALF);
  beforeEachTransaction = () => Promise.reject(new Error("the database is unavailable"));
  await reserveMany(128);
  assert.equal(transactions, 2, "not again for every call");
  await assert.rejects(reserve(), /the database is unavailable/u);
  beforeEachTransaction = () => undefined;
  assert(await reserve());
});

test("metering.lease-unwritten-bound: with 20,000 settlements unwritten a call waits for one batch of them, and not for all", async () => {
  await reserveMany(20_000);
  const waiting: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => waiting.push(resolve));
  beforeEachTransaction = wait;
  afterEachSettlement = wait;
  endAll();
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
  afterEachSettlement = () => undefined;
  for (const goOn of waiting) goOn();
});
