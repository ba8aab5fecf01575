// The figures of the ledger, each by itself: what a row keeps, what each window of a budget counts, and what is due at which moment.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { type AppId, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { createLedger, type Ledger } from "../../src/metering/ledger.ts";
import type { Reservation, Settlement } from "../../src/metering/ledger-entries.ts";
import { BUILT_IN_PRICES } from "../../src/metering/price.ts";
import { leasedAttempt, settleLeased } from "../../src/metering/settle-leased.ts";
import { lockOverdueAttempts } from "../../src/metering/store/attempts.ts";
import { insertLease, lockLeases, renewLeases } from "../../src/metering/store/budget-leases.ts";
import { purgeWindows, readWindows } from "../../src/metering/store/budget-windows.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import {
  makeTenant,
  openTestDatabase,
  setClock,
  type TestDatabase,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { withSequentialStatements } from "../harness/postgres/sequential-statements.ts";
import { sessionCut } from "../harness/session-cut.ts";
import { until } from "../harness/until.ts";
import { audioReservation } from "./audio-reservation.ts";
import { chatReservation, chatSettlement } from "./chat-reservation.ts";

const NOW = "2026-03-01T12:00:00.000Z";
const at = (seconds: number): string => new Date(Date.parse(NOW) + seconds * 1_000).toISOString();

let database: TestDatabase;
let ledger: Ledger;
let tenant: { workspaceId: WorkspaceId; appId: AppId };
before(async () => {
  database = await openTestDatabase();
  const seal = createSeal({ keys: [randomBytes(32)] });
  ledger = createLedger({ database: withSequentialStatements(database), seal, nowMs: () => Date.parse(NOW) });
});
after(() => database.close());
beforeEach(async () => {
  await sql`truncate attempts, budgets, budget_windows, budget_leases cascade`.execute(database.db);
  await setClock(database, NOW);
  tenant = await makeTenant(database);
});

interface Budget {
  readonly id?: string;
  readonly kind?: "budget" | "allowance" | "credits";
  readonly period?: "day" | "month" | "total";
  readonly nanoUsd?: bigint;
  readonly tokens?: bigint;
}

async function addBudget({
  id = newId("budget"),
  kind = "budget",
  period = "total",
  nanoUsd,
  tokens,
}: Budget): Promise<string> {
  await database.db
    .insertInto("budgets")
    .values({
      id,
      workspace_id: tenant.workspaceId,
      app_id: kind === "budget" ? tenant.appId : null,
      kind,
      period,
      limit_nano_usd: nanoUsd ?? null,
      limit_tokens: tokens ?? null,
      managed_by: "test",
    })
    .execute();
  return id;
}

const reservation = (changes: Partial<Reservation> = {}): Reservation =>
  audioReservation(tenant, new Date(at(60)), changes);

const settlement = ({ attemptId }: Reservation, changes: Partial<Settlement> = {}): Settlement => ({
  attemptId,
  outcome: "succeeded",
  providerMs: null,
  billableAudioMs: 0,
  chargeNanoUsd: 0n,
  providerRequestId: null,
  receipts: [],
  ...changes,
});

const rowOf = ({ attemptId }: Reservation) =>
  database.db.selectFrom("attempts").selectAll().where("id", "=", attemptId).executeTakeFirstOrThrow();

/** Spent and reserved of each meter: money, audio, tokens. */
async function windowsOf(id: string) {
  const rows = await database.db
    .selectFrom("budget_windows")
    .selectAll()
    .where("budget_id", "=", id)
    .orderBy("window_start")
    .execute();
  return rows.map((row) => [
    [row.spent_nano_usd, row.reserved_nano_usd],
    [row.spent_audio_ms, row.reserved_audio_ms],
    [row.spent_tokens, row.reserved_tokens],
  ]);
}

test("metering.reserve-before-call, metering.price-fixed: a row keeps what was reserved, and nothing for what was not given", async () => {
  const [price = null] = BUILT_IN_PRICES;
  const [full, bare] = [
    reservation({ purpose: "notes", tokens: 7, estimateNanoUsd: 900n, price, deadlineAt: new Date(at(61)) }),
    reservation({ deadlineAt: new Date(at(-5)) }),
  ];
  for (const item of [full, bare]) assert.deepEqual(await ledger.reserve(item), { ok: true });
  const kept = async (item: Reservation) => {
    const row = await rowOf(item);
    return [row.purpose, row.reserved_tokens, row.estimate_nano_usd, row.price === null, row.deadline_at.toISOString()];
  };
  assert.deepEqual(await kept(full), ["notes", 7n, 900n, false, at(61)]);
  assert.deepEqual(await kept(bare), [null, 0n, null, true, NOW], "a deadline that has passed is now");
});

test("metering.settle-atomic: a row keeps the outcome that it was settled with", async () => {
  const [full, bare] = [reservation({ tokens: 50 }), reservation()];
  for (const item of [full, bare]) await ledger.reserve(item);
  const usage = { inputTokens: 11, outputTokens: 12, cachedInputTokens: 3, source: "reported" } as const;
  const failure = { code: "OTHER" };
  await ledger.settle(settlement(full, { audioMs: 4_000, usage, providerFailure: failure }));
  await ledger.settle(settlement(bare));
  const kept = async (item: Reservation) => {
    const row = await rowOf(item);
    const tokens = [row.input_tokens, row.output_tokens, row.cached_input_tokens, row.usage_source];
    return [row.audio_ms, row.provider_failure, ...tokens];
  };
  assert.deepEqual(await kept(full), [4_000n, failure, 11n, 12n, 3n, "reported"]);
  assert.deepEqual(await kept(bare), [10_000n, null, null, null, null, null]);
});

test("metering.charge-delivered: a budget counts the audio that arrived and the tokens that were used, at most what was reserved, of what was delivered or ran", async () => {
  const id = await addBudget({ tokens: 1_000n });
  const usage = (outputTokens: number) =>
    ({ inputTokens: 1, outputTokens, cachedInputTokens: 0, source: "reported" }) as const;
  const cases: readonly (readonly [changes: Partial<Settlement>, audioMs: bigint, tokens: bigint])[] = [
    [{ audioMs: 4_000, usage: usage(9) }, 4_000n, 10n],
    [{ usage: usage(18) }, 10_000n, 19n],
    [{ usage: usage(19) }, 10_000n, 20n],
    [{ usage: usage(40) }, 10_000n, 20n],
    [{}, 10_000n, 0n],
    [{ outcome: "aborted", audioMs: 0, usage: usage(9) }, 0n, 10n],
    [{ outcome: "failed:rejected", usage: usage(9) }, 0n, 0n],
    [{ outcome: "unknown", audioMs: 4_000, usage: usage(9) }, 0n, 0n],
  ];
  let [audio, tokens] = [0n, 0n];
  for (const [changes, audioMs, used] of cases) {
    const item = reservation({ tokens: 20 });
    assert.deepEqual(await ledger.reserve(item), { ok: true });
    assert.deepEqual(
      (await windowsOf(id))[0]?.map(([, reserved]) => reserved),
      [1_000n, 10_000n, 20n],
    );
    await ledger.settle(settlement(item, { chargeNanoUsd: 1n, ...changes }));
    audio += audioMs;
    tokens += used;
    const money = BigInt(cases.findIndex(([each]) => each === changes) + 1);
    assert.deepEqual(
      await windowsOf(id),
      [
        [
          [money, 0n],
          [audio, 0n],
          [tokens, 0n],
        ],
      ],
      JSON.stringify(changes),
    );
  }
});

test("metering.budget-zero-request: a reservation without tokens asks a budget of tokens for none", async () => {
  const id = await addBudget({ tokens: 0n });
  assert.deepEqual(await ledger.reserve(reservation()), { ok: true });
  assert.deepEqual((await windowsOf(id))[0]?.[2], [0n, 0n]);
  const [more, less] = [reservation({ tokens: 1 }), reservation({ tokens: 0 })];
  assert.deepEqual([(await ledger.reserve(more)).ok, (await ledger.reserve(less)).ok], [false, true]);
});

test("metering.budget-tightest: of two limits that a request exceeds the first is reported", async () => {
  const [first, second] = [
    await addBudget({ id: "budget_1", nanoUsd: 10n }),
    await addBudget({ id: "budget_2", nanoUsd: 5n }),
  ];
  const verdict = await ledger.reserve(reservation());
  assert.ok(!verdict.ok && "exceeded" in verdict);
  assert.equal(verdict.exceeded.budgetId, first);
  assert.deepEqual([await windowsOf(first), await windowsOf(second)], [[], []]);
});

test("metering.budget-own-app: a reservation counts against its app's budgets and what pays for it, in one batch with others too", async () => {
  const own = await addBudget({ id: "budget_own" });
  const allowance = await addBudget({ id: "budget_allowance", kind: "allowance" });
  const credits = await addBudget({ id: "budget_credits", kind: "credits" });
  const reservedOf = async () =>
    Promise.all([own, allowance, credits].map(async (id) => (await windowsOf(id))[0]?.[0]?.[1] ?? null));
  const items = [
    reservation({ reserveNanoUsd: 1n }),
    reservation({ reserveNanoUsd: 10n, funding: "allowance" }),
    reservation({ reserveNanoUsd: 100n, funding: "credits" }),
    reservation({ reserveNanoUsd: 1_000n, funding: "none" }),
  ];
  // Twice: the first batch makes the windows.
  for (const times of [1n, 2n]) {
    const batch = items.map((item) => ({ ...item, attemptId: newId("attempt") }));
    await Promise.all(batch.map((item) => ledger.reserve(item)));
    assert.deepEqual(await reservedOf(), [1_111n * times, 10n * times, 100n * times]);
  }
});

test("metering.settle-same-window, budgets.windows: windows that exist and windows that begin are changed together", async () => {
  const [day, month, total] = [
    await addBudget({ period: "day" }),
    await addBudget({ period: "month" }),
    await addBudget({ period: "total" }),
  ];
  const reserved = async () =>
    Promise.all([day, month, total].map(async (id) => (await windowsOf(id)).map(([money]) => money?.[1])));
  const first = reservation();
  await ledger.reserve(first);
  assert.deepEqual(await reserved(), [[1_000n], [1_000n], [1_000n]]);
  await setClock(database, "2026-03-02T00:00:00Z");
  await ledger.reserve(reservation());
  assert.deepEqual(await reserved(), [[1_000n, 1_000n], [2_000n], [2_000n]]);
  await setClock(database, "2026-04-01T00:00:00Z");
  await ledger.reserve(reservation());
  assert.deepEqual(await reserved(), [[1_000n, 1_000n, 1_000n], [2_000n, 1_000n], [3_000n]]);
  await ledger.settle(settlement(first));
  assert.deepEqual(await reserved(), [[0n, 1_000n, 1_000n], [1_000n, 1_000n], [2_000n]]);
});

test("metering.freed-in-batch: what a settlement frees is available in its own budget and window alone", async () => {
  await addBudget({ period: "day", nanoUsd: 1_000n });
  const yesterday = reservation();
  assert.deepEqual(await ledger.reserve(yesterday), { ok: true });
  await setClock(database, "2026-03-02T12:00:00Z");
  assert.deepEqual(await ledger.reserve(reservation({ reserveNanoUsd: 600n })), { ok: true });
  const inOneBatch = async (settled: Reservation, reserved: Reservation) => {
    const [, verdict] = await Promise.all([ledger.settle(settlement(settled)), ledger.reserve(reserved)]);
    return verdict.ok;
  };
  assert.equal(await inOneBatch(yesterday, reservation({ reserveNanoUsd: 401n })), false);
  const first = tenant;
  tenant = await makeTenant(database);
  await addBudget({ period: "day", nanoUsd: 1_000n });
  const others = reservation();
  assert.deepEqual(await ledger.reserve(others), { ok: true });
  assert.equal(await inOneBatch(others, reservation({ ...first, reserveNanoUsd: 401n })), false);
  assert.deepEqual(await ledger.reserve(reservation({ ...first, reserveNanoUsd: 400n })), { ok: true });
});

test("metering.settle-same-window: a window is read by its budget and its start", async () => {
  const [one, other] = [await addBudget({ period: "day" }), await addBudget({ period: "day" })];
  await ledger.reserve(reservation());
  await setClock(database, "2026-03-02T00:00:00Z");
  await ledger.reserve(reservation());
  const key = (budgetId: string, day: string) => ({ budgetId, windowStart: new Date(`2026-03-${day}T00:00:00Z`) });
  const read = async (keys: Parameters<typeof readWindows>[1]) =>
    (await readWindows(database.db, keys)).map((row) => [row.budget_id, row.reserved_nano_usd]);
  assert.deepEqual(await read([key(one, "01")]), [[one, 1_000n]]);
  assert.deepEqual(new Map((await read([key(one, "02"), key(other, "01")])) as [string, bigint][]).size, 2);
  assert.deepEqual(await read([key(one, "03")]), []);
  assert.deepEqual(await read([]), []);
});

test("metering.reserve-with-slot: nothing to reserve or to settle is answered with nothing", async () => {
  await database.transaction(async (tx) => {
    assert.deepEqual(await ledger.reserveAllIn(tx, []), []);
    assert.deepEqual(await ledger.settleAllIn(tx, []), []);
    const [one, other] = [reservation(), reservation()];
    assert.deepEqual(await ledger.reserveAllIn(tx, [one]), [{ ok: true }]);
    assert.deepEqual(await ledger.reserveAllIn(tx, [other]), [{ ok: true }]);
    const answer = { changed: true, slotEnded: false };
    assert.deepEqual(await ledger.settleAllIn(tx, [settlement(one)]), [answer]);
    assert.deepEqual(await ledger.settleAllIn(tx, [settlement(other), settlement(one)]), [
      answer,
      { changed: false, slotEnded: false },
    ]);
  });
});

test("metering.reserve-no-retry-when-away, metering.settle-retry: in a lost session reservations are tried once, and settlements three times", async () => {
  let transactions = 0;
  const lost = withSystemAccess(database, {
    transaction: () => {
      transactions += 1;
      return Promise.reject(sessionCut());
    },
  });
  const own = createLedger({ database: lost, seal: createSeal({ keys: [randomBytes(32)] }) });
  const item = reservation();
  await assert.rejects(own.reserve(item), { code: "ECONNRESET" });
  assert.equal(transactions, 1);
  transactions = 0;
  await assert.rejects(own.settle(settlement(item)), { code: "ECONNRESET" });
  assert.equal(transactions, 3);
});

test("metering.reserve-before-call: a reservation of a transaction is committed with it", async () => {
  const item = reservation();
  await database.transaction(async (tx) => {
    assert.deepEqual(await ledger.reserveIn(tx, item), { ok: true });
    assert.deepEqual(await ledger.settleIn(tx, settlement(item)), { changed: true, slotEnded: false });
  });
  assert.equal((await rowOf(item)).state, "settled");
});

test("metering.batch-isolation: at most 200 reservations share a transaction, so that budgets are locked briefly", async () => {
  for (const [count, transactions] of [
    [200, 1],
    [201, 2],
  ] as const) {
    const items = Array.from({ length: count }, () => reservation());
    await Promise.all(items.map((item) => ledger.reserve(item)));
    const { rows } = await sql<{ count: number }>`select count(distinct xmin::text)::int as count from attempts
      where id = any(${items.map(({ attemptId }) => attemptId)}::text[])`.execute(database.db);
    assert.deepEqual(rows, [{ count: transactions }]);
  }
});

test("metering.settle-atomic, metering.reserve-slot-lost: a settlement ends no slot that another owner has by now, and reports that", async () => {
  const keySha256 = Buffer.alloc(32, 7);
  await sql`insert into idempotency_slots (app_id, workspace_id, key_sha256, endpoint, fingerprint, state, owner, lease_until, expires_at)
    values (${tenant.appId}, ${tenant.workspaceId}, ${keySha256}, 'POST /v1/transcription', '\\x01', 'reserved', 'another', ${at(60)}, ${at(60)})`.execute(
    database.db,
  );
  const ref = { ...tenant, keySha256, owner: "own" };
  const reply = { status: 200, headers: {}, body: Buffer.from("late") };
  for (const slot of [
    { kind: "burn", ref },
    { kind: "release", ref },
    { kind: "complete", ref, reply },
  ] as const) {
    const item = reservation();
    await ledger.reserve(item);
    assert.deepEqual(await ledger.settle(settlement(item, { slot })), { changed: true, slotEnded: false });
    const { rows } = await sql`select state, owner from idempotency_slots where app_id = ${tenant.appId}`.execute(
      database.db,
    );
    assert.deepEqual(rows, [{ state: "reserved", owner: "another" }], slot.kind);
  }
});

test("metering.crash-unresolved: an open attempt is swept 30 seconds after its deadline, and no other with it", async () => {
  const [due, later, settled] = [reservation(), reservation({ deadlineAt: new Date(at(61)) }), reservation()];
  for (const item of [due, later, settled]) await ledger.reserve(item);
  await ledger.settle(settlement(settled));
  await setClock(database, at(89));
  assert.equal(await ledger.sweepReservations(), 0);
  await setClock(database, at(90));
  // One that another process sweeps is left to it.
  await database.transaction(async (tx) => {
    await sql`select from attempts where id = ${due.attemptId} for update`.execute(tx);
    await database.transaction(async (own) => {
      await sql`set local lock_timeout = '1s'`.execute(own);
      assert.deepEqual(await lockOverdueAttempts(own, 30, 10), []);
    });
  });
  assert.equal(await ledger.sweepReservations(), 1);
  const row = await rowOf(due);
  assert.deepEqual(
    [row.state, row.outcome, row.unresolved, row.charge_nano_usd, row.billable_audio_ms],
    ["settled", "unknown", true, 0n, 0n],
  );
  assert.equal((await rowOf(later)).state, "open");
  assert.equal((await rowOf(settled)).unresolved, false);
});

test("budgets.retention: a window goes a month after the usage of its budget, unless something is reserved in it", async () => {
  const DAY = 86_400;
  const columns = ["nano_usd", "audio_ms", "tokens"] as const;
  const add = async (
    name: string,
    days: number,
    period: "day" | "total" = "day",
    column?: (typeof columns)[number],
  ) => {
    await addBudget({ id: name, period });
    const start = period === "total" ? new Date(0) : new Date(at(-days * DAY));
    await database.db.insertInto("budget_windows").values({ budget_id: name, window_start: start }).execute();
    if (column !== undefined)
      await sql`update budget_windows set ${sql.ref(`reserved_${column}`)} = 1 where budget_id = ${name}`.execute(
        database.db,
      );
  };
  await add("due", 431);
  await add("overdue", 500);
  await add("young", 430.999);
  await add("total", 500, "total");
  for (const column of columns) await add(column, 500, "day", column);
  const left = async () =>
    (await database.db.selectFrom("budget_windows").select("budget_id").orderBy("budget_id").execute()).map(
      (row) => row.budget_id,
    );
  assert.equal(await purgeWindows(database.db, 400, 1), 1);
  assert.equal(await purgeWindows(database.db, 400, 10), 1);
  assert.deepEqual(await left(), ["audio_ms", "nano_usd", "tokens", "total", "young"]);
  assert.equal(await purgeWindows(database.db, 400, 10), 0);
});

test("metering.lease-renewal: a renewal locks its leases in the order in which settlements and returns do", async () => {
  const ids = Array.from({ length: 12 }, () => newId("lease")).toSorted();
  const lease = { ...tenant, funding: "none", holder: "own", windows: [] } as const;
  await database.transaction(async (tx) => {
    for (const id of ids.toReversed()) await insertLease(tx, { ...lease, id });
  });
  const [first = "", ...others] = ids;
  const renewing = await database.transaction(async (tx) => {
    await lockLeases(tx, [first]);
    const renewed = renewLeases(database.db, "own", ids.toReversed());
    await until(async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db);
      return rows.length > 0;
    });
    await lockLeases(tx, others);
    return { renewed };
  });
  assert.equal((await renewing.renewed).size, ids.length);
});

test("metering.lease-settle-isolation: a batch whose commit may have been lost counts what it had not stored, once", async () => {
  const id = await addBudget({ nanoUsd: 1_000n });
  const windows = [{ budgetId: id, windowStart: new Date(0) }];
  const [leaseId, lapsedId] = [newId("lease"), newId("lease")];
  await database.transaction(async (tx) => {
    for (const lease of [leaseId, lapsedId])
      await insertLease(tx, { ...tenant, id: lease, funding: "none", holder: "own", windows });
    await sql`update budget_leases set granted_nano_usd = 500, granted_tokens = 500`.execute(tx);
    await sql`update budget_leases set state = 'closed', closed_at = ${NOW} where id = ${lapsedId}`.execute(tx);
    await sql`insert into budget_windows (budget_id, window_start, reserved_nano_usd, reserved_tokens) values (${id}, 'epoch', 500, 500)`.execute(
      tx,
    );
  });
  const [price = null] = BUILT_IN_PRICES;
  const make = (lease: typeof leaseId, changes: Partial<Reservation> = {}, usage?: Settlement["usage"]) => {
    const reserved = chatReservation(tenant, 20, 50n, changes);
    const { usage: used, ...rest } = chatSettlement(reserved, 10, 40n);
    const settled = { ...rest, ...(usage === undefined ? {} : { usage: usage ?? used }) };
    return {
      reserved,
      leased: leasedAttempt(reserved, settled, { leaseId: lease, tokens: 10n, reservedAtMs: 0 }, JSON.stringify),
    };
  };
  const usage = { inputTokens: 6, outputTokens: 4, cachedInputTokens: 2, source: "reported" } as const;
  const [stored, fresh, lapsed] = [make(leaseId), make(leaseId, { purpose: "notes", price }, usage), make(lapsedId)];
  const settle = (batch: readonly ReturnType<typeof make>[], mayBeThere: boolean) =>
    settleLeased(
      withSequentialStatements(database),
      batch.map(({ leased }) => leased),
      { nowMs: 0, mayBeThere },
    );
  const counted = async () => {
    const { settled_nano_usd: money, settled_tokens: tokens } = await database.db
      .selectFrom("budget_leases")
      .selectAll()
      .where("id", "=", leaseId)
      .executeTakeFirstOrThrow();
    return [money, tokens, ...((await windowsOf(id))[0] ?? [])];
  };
  await settle([stored], false);
  assert.deepEqual(await counted(), [40n, 10n, [40n, 460n], [0n, 0n], [10n, 490n]]);
  await assert.rejects(settle([stored], false), { code: "23505" });
  await settle([stored, fresh, lapsed], true);
  assert.deepEqual(await counted(), [80n, 20n, [80n, 420n], [0n, 0n], [20n, 480n]]);
  const row = await rowOf(fresh.reserved);
  assert.deepEqual(
    [row.audio_ms, row.billable_audio_ms, row.purpose, row.price === null, row.reserved_tokens, row.usage_source],
    [0n, 0n, "notes", false, 20n, "reported"],
  );
  assert.deepEqual([row.input_tokens, row.output_tokens, row.cached_input_tokens], [6n, 4n, 2n]);
  const bare = await rowOf(stored.reserved);
  assert.deepEqual([bare.purpose, bare.price, bare.usage_source, bare.input_tokens], [null, null, null, null]);
  assert.equal((await rowOf(lapsed.reserved)).lease_id, lapsedId, "recorded, and not counted again");
});
