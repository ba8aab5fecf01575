// Leases: a budget is never exceeded, nothing is charged twice, and what a crash left open is visible.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, mock, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { createLeases, type Leases } from "../../src/metering/leases.ts";
import type { Reservation } from "../../src/metering/ledger-entries.ts";
import { purgeLeases } from "../../src/metering/store/budget-leases.ts";
import { upsertBudget } from "../../src/metering/store/upsert-budget.ts";
import { purgeWindows } from "../../src/metering/store/budget-windows.ts";
import { listAttempts } from "../../src/requests/store/request-list.ts";
import { readAttempts } from "../../src/requests/store/requests.ts";
import { listenForChanges } from "../../src/storage/connection/changes.ts";
import {
  makeTenant,
  openTestDatabase,
  setClock,
  shiftClock,
  stopClock,
  type TestDatabase,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { withSequentialStatements } from "../harness/postgres/sequential-statements.ts";
import { sessionCut } from "../harness/session-cut.ts";
import { until } from "../harness/until.ts";
import { afterSettlements } from "./after-settlements.ts";
import { chatReservation, chatSettlement } from "./chat-reservation.ts";

let database: TestDatabase;
let leases: Leases;
let tenant: Awaited<ReturnType<typeof makeTenant>>;
const opened: Leases[] = [];

before(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  await shiftClock(database, 0);
  tenant = await makeTenant(database);
  leases = open();
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});
after(() => database.close());

/** When the others have given back what they were asked for. */
let returned = Promise.withResolvers<void>();

function open(nowMs?: () => number): Leases {
  const waitForOthers = () => returned.promise;
  const made = createLeases({
    database: withSequentialStatements(database),
    waitForOthers,
    ...(nowMs === undefined ? {} : { nowMs }),
  });
  opened.push(made);
  return made;
}

async function budget(limits: {
  tokens?: bigint;
  nanoUsd?: bigint;
  period?: "day" | "month" | "total";
}): Promise<string> {
  const id = `${tenant.appId}/${limits.period ?? "month"}`;
  await database.db
    .insertInto("budgets")
    .values({
      id,
      workspace_id: tenant.workspaceId,
      app_id: tenant.appId,
      period: limits.period ?? "month",
      limit_tokens: limits.tokens ?? null,
      limit_nano_usd: limits.nanoUsd ?? null,
      managed_by: "test",
    })
    .execute();
  return id;
}

function reservation(tokens: number, nanoUsd = 0n, rest: Partial<Reservation> = {}): Reservation {
  return chatReservation(tenant, tokens, nanoUsd, rest);
}

async function windows(id: string) {
  const rows = await database.db.selectFrom("budget_windows").selectAll().where("budget_id", "=", id).execute();
  return rows.map((row) => ({
    tokens: [row.spent_tokens, row.reserved_tokens],
    nanoUsd: [row.spent_nano_usd, row.reserved_nano_usd],
  }));
}

async function attempts() {
  return database.db.selectFrom("attempts").selectAll().where("app_id", "=", tenant.appId).orderBy("id").execute();
}

async function ownLeases() {
  return database.db.selectFrom("budget_leases").selectAll().where("app_id", "=", tenant.appId).orderBy("id").execute();
}

test("metering.lease-budget-change: a budget removed and created again counts what a lease holds of it, spends from that, and gets the remainder back", async () => {
  const id = await budget({ tokens: 1_000n });
  const item = reservation(10);
  assert.equal((await leases.reserve(item)).ok, true);
  const [before] = await windows(id);
  await database.db.deleteFrom("budgets").where("id", "=", id).execute();
  const { workspaceId, appId } = tenant;
  const name = { id, workspace_id: workspaceId, app_id: appId, period: "month" as const };
  await database.transaction((tx) =>
    upsertBudget(tx, { ...name, limit_tokens: 1_000n, managed_by: "test" }, { limit_tokens: 1_000n }),
  );
  assert.deepEqual(await windows(id), [before]);
  leases.settle(chatSettlement(item, 5));
  await leases.close();
  assert.deepEqual(await windows(id), [{ tokens: [5n, 0n], nanoUsd: [0n, 0n] }]);
});

test("metering.budget-recreated: a settlement that waits while the budget is created again counts in it", async () => {
  const id = await budget({ tokens: 1_000n });
  const item = reservation(10);
  assert((await leases.reserve(item)).ok);
  await database.db.deleteFrom("budgets").where("id", "=", id).execute();
  leases.settle(chatSettlement(item, 5));
  let flushed: Promise<void> | undefined;
  await database.transaction(async (tx) => {
    const { workspaceId, appId } = tenant;
    const name = { id, workspace_id: workspaceId, app_id: appId, period: "month" as const };
    // Locks the lease and counts what it holds, before the settlement takes effect and unseen by its snapshot.
    await upsertBudget(tx, { ...name, limit_tokens: 1_000n, managed_by: "test" }, { limit_tokens: 1_000n });
    flushed = leases.flush();
    await until(async () => (await waitingForLocks()) > 0);
  });
  await flushed;
  await leases.close();
  assert.deepEqual(await windows(id), [{ tokens: [5n, 0n], nanoUsd: [0n, 0n] }]);
});

test("metering.lease-accounting: what fits exactly is granted, what could exceed is refused with the figures, what is returned fits again", async () => {
  await budget({ tokens: 1_000n });
  const first = reservation(600);
  assert.deepEqual(await leases.reserve(first), { ok: true });
  const refused = await leases.reserve(reservation(401));
  assert(!refused.ok && "exceeded" in refused);
  const { kind, limit, spent, reserved, requested } = refused.exceeded;
  assert.deepEqual([kind, limit, spent, reserved, requested], ["tokens", 1_000n, 0n, 600n, 401n]);
  assert.deepEqual(await leases.reserve(reservation(400)), { ok: true });
  leases.settle(chatSettlement(first, 100));
  assert.equal((await leases.reserve(reservation(501))).ok, false);
  assert.deepEqual(await leases.reserve(reservation(500)), { ok: true });
});

test("metering.lease-shared: many reservations of one app share one durable slice, and each is settled into a row and the budget once", async () => {
  const id = await budget({ tokens: 1_000_000n, nanoUsd: 1_000_000n });
  const items = Array.from({ length: 50 }, () => reservation(10, 20n));
  const answers = items.map((item) => leases.reserve(item));
  for (const answer of answers) assert((await answer).ok);
  assert.equal((await ownLeases()).length, 1);
  for (const item of items) {
    assert.equal(leases.settle(chatSettlement(item, 7, 15n)).changed, true);
    assert.equal(leases.settle(chatSettlement(item, 7, 15n)).changed, false);
  }
  await leases.flush();
  const rows = await attempts();
  assert.equal(rows.length, 50);
  assert(rows.every((row) => row.state === "settled" && row.charge_nano_usd === 15n && row.input_tokens === 7n));
  const [lease] = await ownLeases();
  assert.deepEqual([lease?.settled_tokens, lease?.settled_nano_usd], [350n, 750n]);
  await leases.close();
  // Everything unspent is given back.
  assert.deepEqual(await windows(id), [{ tokens: [350n, 0n], nanoUsd: [750n, 0n] }]);
  assert.deepEqual(
    (await ownLeases()).map((row) => [row.state, row.unresolved]),
    [["closed", false]],
  );
});

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db);
  return rows[0]?.waiting ?? 0;
}

/** How often others were asked for what they hold, while `work` ran; they return it in a moment. */
async function asksDuring(others: Leases, work: () => Promise<void>): Promise<readonly (string | null)[]> {
  const asked: (string | null)[] = [];
  returned = Promise.withResolvers();
  // They are asked once a second at most: here no second passes.
  const clock = mock.method(performance, "now", () => 0);
  const changes = await listenForChanges(database, { onError: (error) => assert.fail(String(error)), keyIds: [] });
  changes.onChange("leases", (workspaceId) => {
    asked.push(workspaceId);
    void (async () => {
      for (let looks = 0; looks < 5; looks += 1) await ownLeases();
      await others.giveBack(workspaceId);
    })().then(returned.resolve, returned.reject);
  });
  try {
    await work();
  } finally {
    clock.mock.restore();
    await changes.close();
  }
  return asked;
}

test("metering.lease-reclaim, metering.lease-reclaim-unused: what another process holds and does not use is reclaimed before a chat is refused, and what it uses is not", async () => {
  const id = await budget({ tokens: 1_000n });
  const there = open();
  const asked = await asksDuring(there, async () => {
    const used = reservation(100);
    assert((await there.reserve(used)).ok);
    const [held] = await ownLeases();
    assert((held?.granted_tokens ?? 0n) > 100n, "some of it in advance");
    const rest = reservation(900);
    assert.deepEqual(await leases.reserve(rest), { ok: true });
    assert.equal((await leases.reserve(reservation(1))).ok, false);
    assert.deepEqual(await windows(id), [{ tokens: [0n, 1_000n], nanoUsd: [0n, 0n] }]);
    there.settle(chatSettlement(used, 60));
    leases.settle(chatSettlement(rest, 900));
    await there.close();
    await leases.close();
    assert.deepEqual(await windows(id), [{ tokens: [960n, 0n], nanoUsd: [0n, 0n] }]);
    assert((await ownLeases()).every((row) => row.state === "closed" && !row.unresolved));
  });
  assert.deepEqual(asked, [tenant.workspaceId], "once a second at most, however many are refused");
});

test("metering.lease-reclaim-needless: a chat that others hold nothing for is refused at once, and no process is asked", async () => {
  await budget({ tokens: 1_000n });
  const there = open();
  const asked = await asksDuring(there, async () => {
    assert((await leases.reserve(reservation(600))).ok);
    assert.equal((await leases.reserve(reservation(500))).ok, false);
    assert((await there.reserve(reservation(10))).ok, "and others find something");
  });
  assert.deepEqual(asked, []);
});

test("metering.lease-reclaim-needless: a refill in advance asks no other process", async () => {
  const id = await budget({ tokens: 1_000n });
  let now = 0;
  const [own, there] = [open(() => now), open()];
  const asked = await asksDuring(there, async () => {
    assert((await own.reserve(reservation(10))).ok);
    const [first] = await ownLeases();
    assert((await there.reserve(reservation(1_000 - Number(first?.granted_tokens)))).ok);
    // The next lease is due, and there is nothing left for it.
    now = 54_000;
    assert((await own.reserve(reservation(10))).ok);
    await own.giveBack(null);
    for (let looks = 0; looks < 5; looks += 1) await windows(id);
  });
  assert.deepEqual(asked, []);
});

test("metering.lease-reclaim-shared: chats that are refused together wait together for what others return", async () => {
  await budget({ tokens: 10_000n });
  const there = open();
  assert((await there.reserve(reservation(1_000))).ok);
  assert((await leases.reserve(reservation(7_500))).ok);
  const asked = await asksDuring(there, async () => {
    const answers = await Promise.all([leases.reserve(reservation(400)), leases.reserve(reservation(400))]);
    assert.deepEqual(answers, [{ ok: true }, { ok: true }], "of either only 375 were left");
  });
  assert.equal(asked.length, 1);
});

test("metering.charge-delivered: failed attempts cost the app nothing; more than was reserved is never counted", async () => {
  const id = await budget({ tokens: 10_000n });
  const [failed, greedy] = [reservation(100), reservation(100)];
  await leases.reserve(failed);
  await leases.reserve(greedy);
  leases.settle(chatSettlement(failed, 60, 0n, "failed:server_error"));
  leases.settle(chatSettlement(greedy, 5_000));
  await leases.close();
  assert.deepEqual(await windows(id), [{ tokens: [100n, 0n], nanoUsd: [0n, 0n] }]);
  assert.deepEqual(
    (await attempts()).map((row) => Number(row.input_tokens)).toSorted((a, b) => a - b),
    [60, 5_000],
  );
});

test("metering.lease-crash: after a crash the unsettled remainder is spent and unresolved, and a late settlement counts nothing twice", async () => {
  const id = await budget({ tokens: 1_000n });
  const setSeconds = await stopClock(database);
  const [done, lost, late] = [reservation(100), reservation(100), reservation(100)];
  for (const item of [done, lost, late]) assert((await leases.reserve(item)).ok);
  leases.settle(chatSettlement(done, 40));
  await leases.flush();
  const granted = (await ownLeases())[0]?.granted_tokens ?? 0n;
  const other = open();
  // It lasts 30 s, and a live holder has 10 more to renew it. No holder mistakes its own lease for an expired holder's.
  for (const [seconds, sweeper] of [
    [39, other],
    [41, leases],
  ] as const) {
    await setSeconds(seconds);
    await sweeper.sweep();
    assert.equal((await ownLeases())[0]?.state, "open", `${seconds} s`);
  }
  assert((await other.sweep()) > 0);
  assert.equal(await other.sweep(), 0);
  const [lease] = await ownLeases();
  assert.deepEqual([lease?.state, lease?.unresolved], ["closed", true]);
  assert.deepEqual(await windows(id), [{ tokens: [granted, 0n], nanoUsd: [0n, 0n] }]);
  // The process was only frozen.
  leases.settle(chatSettlement(late, 30));
  await leases.flush();
  assert.deepEqual(await windows(id), [{ tokens: [granted, 0n], nanoUsd: [0n, 0n] }]);
  assert.equal((await attempts()).length, 2);
  await leases.renew();
  assert((await leases.reserve(reservation(1))).ok);
  assert.equal((await ownLeases()).length, 2);
});

test("metering.lease-retention: a returned lease goes with the request log, one that a dead process left goes with usage", async () => {
  await budget({ tokens: 1_000n });
  const [item, died] = [reservation(1), open()];
  assert((await leases.reserve(item)).ok && (await died.reserve(reservation(1))).ok);
  const DAY = 86_400;
  const keptAfter = async (seconds: number) => {
    await shiftClock(database, seconds);
    while ((await purgeLeases(database.db, { requestDays: 30, usageDays: 400 }, 1)) > 0);
    return (await ownLeases()).map(({ unresolved }) => unresolved);
  };
  assert.deepEqual(await keptAfter(500 * DAY), [false, false], "in use");
  await shiftClock(database, 0);
  leases.settle(chatSettlement(item, 1));
  await leases.close();
  await shiftClock(database, 41);
  await open().sweep();
  assert.deepEqual(new Set(await keptAfter(29 * DAY)), new Set([false, true]));
  assert.deepEqual(await keptAfter(31 * DAY), [true]);
  assert.deepEqual(await keptAfter(399 * DAY), [true]);
  assert.deepEqual(await keptAfter(401 * DAY), []);
});

test("budgets.retention: an ended window of a budget goes with usage; one that holds a reservation, and that of a budget without a period, stay", async () => {
  for (const period of ["day", "month", "total"] as const) await budget({ tokens: 1_000n, period });
  const item = reservation(1);
  assert((await leases.reserve(item)).ok);
  const DAY = 86_400;
  const keptAfter = async (seconds: number) => {
    await shiftClock(database, seconds);
    while ((await purgeWindows(database.db, 400, 1)) > 0);
    const rows = await database.db
      .selectFrom("budget_windows")
      .select("budget_id")
      .where("budget_id", "like", `${tenant.appId}/%`)
      .orderBy("budget_id")
      .execute();
    return rows.map((row) => row.budget_id.slice(tenant.appId.length + 1));
  };
  assert.deepEqual(await keptAfter(500 * DAY), ["day", "month", "total"], "a reservation is open in each");
  await shiftClock(database, 0);
  leases.settle(chatSettlement(item, 1));
  await leases.close();
  assert.deepEqual(await keptAfter(400 * DAY), ["day", "month", "total"]);
  assert.deepEqual(await keptAfter(463 * DAY), ["total"]);
});

test("metering.lease-settle-isolation: a settlement that the database refuses delays no other", async () => {
  const errors: unknown[] = [];
  const own = createLeases({ database, onError: (error) => errors.push(error) });
  opened.push(own);
  const items = Array.from({ length: 9 }, () => reservation(10));
  for (const item of items) await own.reserve(item);
  for (const [index, item] of items.entries()) {
    const usage = {
      inputTokens: index === 4 ? -1 : 1,
      outputTokens: 0,
      cachedInputTokens: 0,
      source: "reported",
    } as const;
    own.settle({ ...chatSettlement(item, 1, 0n, "failed:server_error"), usage });
  }
  await own.flush();
  assert.equal((await attempts()).length, 8);
  assert.equal(errors.length, 1);
});

test("metering.lease-settle-isolation: settlements whose commit reply was lost are written again, and count once", async () => {
  const id = await budget({ tokens: 1_000_000n });
  let isLost = false;
  const db = afterSettlements(database, () => {
    if (!isLost) return;
    isLost = false;
    throw sessionCut();
  });
  const own = createLeases({ database: withSystemAccess(database, { db }), onError: () => undefined });
  opened.push(own);
  const items = Array.from({ length: 7 }, () => reservation(10));
  for (const item of items) assert((await own.reserve(item)).ok);
  for (const item of items.slice(0, 5)) own.settle(chatSettlement(item, 7));
  isLost = true;
  await assert.rejects(own.flush(), { code: "ECONNRESET" });
  assert.equal((await attempts()).length, 5);
  // What is settled meanwhile is written behind them.
  for (const item of items.slice(5)) own.settle(chatSettlement(item, 7));
  await own.flush();
  assert.equal((await attempts()).length, 7);
  await own.close();
  assert.deepEqual(await windows(id), [{ tokens: [49n, 0n], nanoUsd: [0n, 0n] }]);
});

test("metering.lease-batching: what is settled during a write is written behind it, together, without a further request", async () => {
  const batches: number[] = [];
  const began = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  let rows = 0;
  const db = afterSettlements(database, async () => {
    began.resolve();
    await mayEnd.promise;
    const now = (await attempts()).length;
    batches.push(now - rows);
    rows = now;
  });
  const items = Array.from({ length: 7 }, () => reservation(10));
  const own = createLeases({ database: withSystemAccess(database, { db }) });
  opened.push(own);
  for (const item of items) assert((await own.reserve(item)).ok);
  own.settle(chatSettlement(items[0] as Reservation, 7));
  await began.promise;
  for (const item of items.slice(1)) own.settle(chatSettlement(item, 7));
  mayEnd.resolve();
  await until(() => batches.length === 2);
  assert.deepEqual(batches, [1, 6]);
});

test("metering.lease-batching: fewer than 32 settlements wait for others for 200 ms, more for 50 ms", async (t) => {
  const stored: number[] = [];
  const db = afterSettlements(database, async () => {
    stored.push((await attempts()).length);
  });
  const own = createLeases({ database: withSystemAccess(database, { db }) });
  opened.push(own);
  const items = Array.from({ length: 34 }, () => reservation(10));
  for (const item of items) assert((await own.reserve(item)).ok);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const [first, second, ...others] = items;
  assert(first && second);
  own.settle(chatSettlement(first, 7));
  for (const _ of [50, 100, 150]) t.mock.timers.tick(50);
  own.settle(chatSettlement(second, 7));
  t.mock.timers.tick(50);
  await until(() => stored.length === 1);
  for (const item of others) own.settle(chatSettlement(item, 7));
  t.mock.timers.tick(50);
  await until(() => stored.length === 2);
  assert.deepEqual(stored, [2, 34]);
});

test("metering.lease-batching: a provider's request id is stored to the letter, and each row keeps its own in addition to what rows share", async () => {
  const ids = ["NULL", "null", '"', "\\", '\\"', "a,b", "{}", "'", "$1", null];
  const items = ids.map((_id, index) => reservation(10 + index, BigInt(index), { position: 1 + (index % 2) }));
  for (const item of items) assert((await leases.reserve(item)).ok);
  for (const [index, item] of items.entries())
    leases.settle({ ...chatSettlement(item, index), providerRequestId: ids[index] ?? null });
  await leases.flush();
  const rows = new Map((await attempts()).map((row) => [row.id, row]));
  assert.deepEqual(
    items.map(({ attemptId }) => {
      const row = rows.get(attemptId);
      return [row?.provider_request_id, row?.reserved_tokens, row?.estimate_nano_usd, row?.input_tokens, row?.position];
    }),
    ids.map((id, index) => [id, BigInt(10 + index), BigInt(index), BigInt(index), 1 + (index % 2)]),
  );
  assert(items.every((item) => rows.get(item.attemptId)?.request_id === item.requestId));
});

test("metering.lease-renewal, metering.lease-idle-return: leases in use are renewed, idle ones returned", async () => {
  const id = await budget({ tokens: 1_000n });
  let now = 0;
  const own = open(() => now);
  const item = reservation(100);
  await own.reserve(item);
  await shiftClock(database, 20);
  await own.renew();
  await shiftClock(database, 40);
  assert.equal(await own.sweep(), 0);
  own.settle(chatSettlement(item, 50));
  now = 10_000;
  await own.renew();
  assert.deepEqual(await windows(id), [{ tokens: [50n, 0n], nanoUsd: [0n, 0n] }]);
  assert.equal((await ownLeases())[0]?.state, "closed");
});

test("metering.lease-renewal: leases are renewed first: a failing settlement or return does not make the process count as dead", async () => {
  await budget({ tokens: 1_000n });
  let now = 0;
  let isStuck = false;
  const transaction: TestDatabase["transaction"] = (work) =>
    isStuck ? Promise.reject(sessionCut()) : database.transaction(work);
  const db = afterSettlements(database, () => {
    if (isStuck) throw sessionCut();
  });
  const own = createLeases({
    database: withSystemAccess(database, { db, transaction }),
    nowMs: () => now,
    onError: () => undefined,
  });
  opened.push(own);
  const [streams, ended] = [reservation(100), reservation(100)];
  assert((await own.reserve(streams)).ok);
  now = 60_000;
  assert((await own.reserve(ended)).ok);
  own.settle(chatSettlement(ended, 10));
  now = 70_000;
  isStuck = true;
  await shiftClock(database, 25);
  await assert.rejects(own.renew(), { code: "ECONNRESET" });
  await shiftClock(database, 50);
  await open().sweep();
  assert.deepEqual(new Set((await ownLeases()).map(({ state }) => state)), new Set(["open"]));
  isStuck = false;
});

test("metering.lease-orphan: a lease that was granted but whose reply was lost is swept, although its holder lives", async () => {
  const id = await budget({ tokens: 1_000n });
  let isLost = true;
  const transaction: TestDatabase["transaction"] = async (work) => {
    const result = await database.transaction(work);
    if (!isLost) return result;
    isLost = false;
    throw sessionCut();
  };
  const own = createLeases({ database: withSystemAccess(database, { transaction }) });
  opened.push(own);
  await assert.rejects(async () => own.reserve(reservation(100)), { code: "ECONNRESET" });
  await shiftClock(database, 41);
  await own.sweep();
  assert.equal((await windows(id))[0]?.tokens[1], 0n);
});

test("metering.lease-window: a lease of yesterday is not spent today", async () => {
  await setClock(database, "2026-03-31T23:59:50Z");
  await budget({ tokens: 1_000n, period: "day" });
  let now = 0;
  const own = open(() => now);
  const yesterday = reservation(900);
  await own.reserve(yesterday);
  now = 10_000;
  await setClock(database, "2026-04-01T00:00:00Z");
  assert((await own.reserve(reservation(900))).ok);
  own.settle(chatSettlement(yesterday, 900));
  await own.flush();
  const spent = await database.db
    .selectFrom("budget_windows")
    .select(["window_start", "spent_tokens"])
    .where("budget_id", "=", `${tenant.appId}/day`)
    .orderBy("window_start")
    .execute();
  assert.deepEqual(
    spent.map((row) => [row.window_start.toISOString().slice(0, 10), row.spent_tokens]),
    [
      ["2026-03-31", 900n],
      ["2026-04-01", 0n],
    ],
  );
});

test("metering.lease-hard-limit: whatever two processes do at once, the sum of what is spent and under way never exceeds the budget", async () => {
  const id = await budget({ tokens: 5_000n });
  const processes = [leases, open()];
  let underWay = 0;
  let spent = 0;
  let refused = 0;
  let seed = 20_261_121;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const worker = async (own: Leases) => {
    for (let turn = 0; turn < 40; turn += 1) {
      const tokens = 50 + random(200);
      const item = reservation(tokens);
      const answer = await own.reserve(item);
      if (!answer.ok) {
        refused += 1;
        continue;
      }
      underWay += tokens;
      assert(underWay + spent <= 5_000, `${underWay} under way and ${spent} spent`);
      await new Promise((resolve) => setImmediate(resolve));
      const used = random(tokens + 1);
      underWay -= tokens;
      spent += used;
      own.settle(chatSettlement(item, used));
      if (random(8) === 0) await processes[random(2)]?.giveBack(null);
    }
  };
  await Promise.all(processes.flatMap((own) => [worker(own), worker(own), worker(own)]));
  for (const own of processes) await own.close();
  assert(refused > 0, "the budget was never the limit");
  assert.deepEqual(await windows(id), [{ tokens: [BigInt(spent), 0n], nanoUsd: [0n, 0n] }]);
});

test("metering.lease-record: what a lease pays for is on record from its reservation on, although it is written when it has ended", async () => {
  let nowMs = 1_000_000;
  const timed = open(() => nowMs);
  const item = reservation(10);
  await timed.reserve(item);
  nowMs += 5_000;
  timed.settle(chatSettlement(item, 10));
  await timed.flush();
  const { created_at: createdAt, settled_at: settledAt } = await database.db
    .selectFrom("attempts")
    .select(["created_at", "settled_at"])
    .where("id", "=", item.attemptId)
    .executeTakeFirstOrThrow();
  assert.equal((settledAt?.getTime() ?? 0) - createdAt.getTime(), 5_000);
});

test("metering.lease-record: the attempts of one request are read in the order they were made, whenever each was written", async () => {
  let nowMs = Date.now();
  const held = open(() => nowMs);
  const requestId = newId("request");
  const ids: string[] = [];
  for (const waitedMs of [0, 60_000]) {
    const item = reservation(10, 0n, { requestId });
    ids.push(item.attemptId);
    assert.deepEqual(await held.reserve(item), { ok: true });
    held.settle(chatSettlement(item, 10));
    // The longer it waits for its turn, the less is known of when it began.
    nowMs += waitedMs;
    await held.flush();
  }
  const read = await readAttempts(database.db, tenant, requestId);
  assert.deepEqual(
    read.map(({ id }) => id),
    ids,
  );
  assert((read[0]?.created_at ?? 0) > (read[1]?.created_at ?? 0), "or the order would prove nothing");
  assert.equal((await listAttempts(database.db, [requestId])).length, 2);
});
