// Reserve and settle against a real database: nothing is exceeded, nothing charged twice, nothing lost in a crash.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { type AppId, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { createIdempotency, type Idempotency, type SlotRef } from "../../src/gateway/idempotency/idempotency.ts";
import { createLedger, type Ledger } from "../../src/metering/ledger.ts";
import { type Reservation, type SettlementResult, type Settlement } from "../../src/metering/ledger-entries.ts";
import { BUILT_IN_PRICES } from "../../src/metering/price.ts";
import { upsertBudget } from "../../src/metering/store/upsert-budget.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import {
  makeTenant,
  type OpenDatabase,
  openTestDatabase,
  setClock,
  shiftClock,
  stopClock,
  type TestDatabase,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { withSequentialStatements } from "../harness/postgres/sequential-statements.ts";
import { audioReservation } from "./audio-reservation.ts";

const seal = createSeal({ keys: [randomBytes(32)] });
let database: TestDatabase;
let second: OpenDatabase;
let ledger: Ledger;
let elsewhere: Ledger;
let slots: Idempotency;
let tenant: { workspaceId: WorkspaceId; appId: AppId };

before(async () => {
  database = await openTestDatabase();
  second = await database.openSecond();
  ledger = createLedger({ database: withSequentialStatements(database), seal });
  elsewhere = createLedger({ database: second, seal });
  slots = createIdempotency({ database, seal, ttlSeconds: 86_400 });
});
after(async () => {
  slots.close();
  await second.close();
  await database.close();
});
beforeEach(async () => {
  await shiftClock(database, 0);
  tenant = await makeTenant(database);
});

function reservation(changes: Partial<Reservation> = {}): Reservation {
  const priced = { estimateNanoUsd: 1_000n, price: BUILT_IN_PRICES[0] ?? null };
  return audioReservation(tenant, new Date(Date.now() + 60_000), { ...priced, ...changes });
}

function settlement(reserved: Reservation, changes: Partial<Settlement> = {}): Settlement {
  const charge = { billableAudioMs: reserved.audioMs, chargeNanoUsd: reserved.reserveNanoUsd };
  return {
    attemptId: reserved.attemptId,
    outcome: "succeeded",
    providerMs: null,
    ...charge,
    providerRequestId: null,
    receipts: [],
    ...changes,
  };
}

const free = { billableAudioMs: 0, chargeNanoUsd: 0n } as const;

async function addBudget(limits: {
  usd?: bigint;
  audioSeconds?: string;
  period?: "day" | "month" | "total";
}): Promise<string> {
  const id = newId("budget");
  const { workspaceId, appId } = tenant;
  await database.db
    .insertInto("budgets")
    .values({
      id,
      workspace_id: workspaceId,
      app_id: appId,
      period: limits.period ?? "total",
      limit_nano_usd: limits.usd ?? null,
      limit_audio_seconds: limits.audioSeconds ?? null,
      managed_by: "test",
    })
    .execute();
  return id;
}

const attemptRow = (reserved: Reservation) =>
  database.db.selectFrom("attempts").selectAll().where("id", "=", reserved.attemptId).executeTakeFirstOrThrow();
const attemptCount = async () =>
  (await database.db.selectFrom("attempts").select("id").where("app_id", "=", tenant.appId).execute()).length;

async function spending() {
  const [budget] = await ledger.budgetsOf(tenant.workspaceId, tenant.appId);
  assert.ok(budget !== undefined);
  const { spentNanoUsd, reservedNanoUsd, spentAudioMs, reservedAudioMs } = budget;
  return { spentNanoUsd, reservedNanoUsd, spentAudioMs, reservedAudioMs };
}

async function claimSlot(key: string): Promise<SlotRef> {
  const claim = await slots.claim({
    ...tenant,
    key,
    endpoint: "POST /v1/transcription",
    fingerprint: Buffer.alloc(32, 1),
  });
  return claim.kind === "owned" ? claim.slot : assert.fail(claim.kind);
}
const claimAgain = (key: string) =>
  slots.claim({ ...tenant, key, endpoint: "POST /v1/transcription", fingerprint: Buffer.alloc(32, 1) });
const stateOf = async (slot: SlotRef) =>
  (
    await database.db
      .selectFrom("idempotency_slots")
      .select("state")
      .where("app_id", "=", slot.appId)
      .where("key_sha256", "=", slot.keySha256)
      .executeTakeFirst()
  )?.state;

test("metering.reserve-before-call, metering.price-fixed: what is reserved is on disk as an open attempt with its price, and settles to the charge", async () => {
  await addBudget({ usd: 5_000n });
  const item = reservation();
  assert.deepEqual(await ledger.reserve(item), { ok: true });
  const open = await attemptRow(item);
  assert.equal(open.state, "open");
  assert.equal(open.audio_ms, 10_000n);
  assert.deepEqual((open.price as { nano_usd_per_audio_hour: string }).nano_usd_per_audio_hour, "220000000");
  assert.deepEqual(await spending(), {
    spentNanoUsd: 0n,
    reservedNanoUsd: 1_000n,
    spentAudioMs: 0n,
    reservedAudioMs: 10_000n,
  });
  const receipts = [{ feature: "diarization", grade: "shown", delivered: true }];
  assert.deepEqual(await ledger.settle(settlement(item, { providerRequestId: "p-1", receipts })), {
    changed: true,
    slotEnded: false,
  });
  const settled = await attemptRow(item);
  assert.equal(settled.state, "settled");
  assert.equal(settled.outcome, "succeeded");
  assert.equal(settled.charge_nano_usd, 1_000n);
  assert.equal(settled.provider_request_id, "p-1");
  assert.deepEqual(settled.receipts, receipts);
  assert.ok(settled.settled_at !== null);
  assert.deepEqual(await spending(), {
    spentNanoUsd: 1_000n,
    reservedNanoUsd: 0n,
    spentAudioMs: 10_000n,
    reservedAudioMs: 0n,
  });
});

test("metering.budget-hard-limit: 500 concurrent requests from two processes against a budget for 100: exactly 100 pass, the limit holds", async () => {
  await addBudget({ usd: 100_000n });
  const items = Array.from({ length: 500 }, () => reservation());
  const answers = await Promise.all(items.map((item, index) => (index % 2 === 0 ? ledger : elsewhere).reserve(item)));
  const passed = items.filter((_, index) => answers[index]?.ok === true);
  assert.equal(passed.length, 100);
  assert.equal(await attemptCount(), 100);
  assert.equal((await spending()).reservedNanoUsd, 100_000n);
  const settled = await Promise.all(
    passed.map((item, index) => (index % 2 === 0 ? ledger : elsewhere).settle(settlement(item))),
  );
  assert.ok(settled.every((answer) => answer.changed));
  assert.deepEqual(await spending(), {
    spentNanoUsd: 100_000n,
    reservedNanoUsd: 0n,
    spentAudioMs: 1_000_000n,
    reservedAudioMs: 0n,
  });
  assert.equal((await ledger.reserve(reservation({ reserveNanoUsd: 1n }))).ok, false);
});

test("metering.refusal-figures: a refusal reports which limit, what is spent, reserved, requested, and when it resets", async () => {
  await setClock(database, "2026-03-31T12:00:00Z");
  const budgetId = await addBudget({ audioSeconds: "25", period: "month" });
  await ledger.settle(settlement(await reserved()));
  await reserved();
  assert.deepEqual(await ledger.reserve(reservation()), {
    ok: false,
    exceeded: {
      budgetId,
      budgetKind: "budget",
      kind: "audio_seconds",
      period: "month",
      limit: 25_000n,
      spent: 10_000n,
      reserved: 10_000n,
      requested: 10_000n,
      resetsAt: new Date("2026-04-01T00:00:00Z"),
    },
  });
  assert.equal(await attemptCount(), 2);
  async function reserved(): Promise<Reservation> {
    const item = reservation();
    assert.deepEqual(await ledger.reserve(item), { ok: true });
    return item;
  }
});

test("metering.budget-tightest: the tightest of several budgets decides, and a refused request takes from none of them", async () => {
  await addBudget({ usd: 1_000_000n, period: "day" });
  await addBudget({ audioSeconds: "10" });
  assert.equal((await ledger.reserve(reservation())).ok, true);
  assert.equal((await ledger.reserve(reservation())).ok, false);
  for (const budget of await ledger.budgetsOf(tenant.workspaceId, tenant.appId))
    assert.equal(budget.reservedNanoUsd, 1_000n);
});

test("metering.budget-own-app: another app's budget is neither read nor changed, also in one batch", async () => {
  await addBudget({ usd: 1_000n });
  const other = await makeTenant(database);
  const answers = await Promise.all([
    ledger.reserve(reservation()),
    ledger.reserve(reservation({ ...other, reserveNanoUsd: 9_999n })),
    ledger.reserve(reservation()),
  ]);
  assert.deepEqual(
    answers.map((answer) => answer.ok),
    [true, true, false],
  );
  assert.deepEqual(await ledger.budgetsOf(other.workspaceId, other.appId), []);
});

test("metering.charge-delivered, metering.charge-cancelled: a failed attempt costs nothing and returns everything; one whose caller left is charged as run", async () => {
  await addBudget({ usd: 10_000n, audioSeconds: "100" });
  const [failed, unknown, aborted] = [reservation(), reservation(), reservation()];
  await Promise.all([failed, unknown, aborted].map((item) => ledger.reserve(item)));
  await ledger.settle(settlement(failed, { outcome: "failed:rate_limited", ...free }));
  await ledger.settle(settlement(unknown, { outcome: "unknown", ...free }));
  assert.deepEqual(await spending(), {
    spentNanoUsd: 0n,
    reservedNanoUsd: 1_000n,
    spentAudioMs: 0n,
    reservedAudioMs: 10_000n,
  });
  await ledger.settle(settlement(aborted, { outcome: "aborted" }));
  assert.deepEqual(await spending(), {
    spentNanoUsd: 1_000n,
    reservedNanoUsd: 0n,
    spentAudioMs: 10_000n,
    reservedAudioMs: 0n,
  });
});

test("metering.settle-once: settling twice, in one batch or later, changes nothing the second time", async () => {
  await addBudget({ usd: 10_000n });
  const item = reservation();
  await ledger.reserve(item);
  const both = await Promise.all([
    ledger.settle(settlement(item)),
    ledger.settle(settlement(item, { outcome: "unknown", ...free })),
    elsewhere.settle(settlement(item)),
  ]);
  assert.equal(both.filter((answer) => answer.changed).length, 1);
  const before = [await spending(), await attemptRow(item)];
  assert.deepEqual(await ledger.settle(settlement(item, { outcome: "failed:rejected", ...free })), {
    changed: false,
    slotEnded: false,
  });
  assert.deepEqual([await spending(), await attemptRow(item)], before);
  assert.equal((await ledger.settle(settlement(reservation()))).changed, false);
});

test("metering.reserve-with-slot, metering.settle-atomic: reserving marks the slot dispatched, settling completes it: the replay is the answer", async () => {
  const slot = await claimSlot("k");
  const item = reservation({ slot });
  await ledger.reserve(item);
  assert.equal(await stateOf(slot), "dispatched");
  const reply = { status: 200, headers: { "content-type": "application/json" }, body: randomBytes(5_000) };
  assert.deepEqual(await ledger.settle(settlement(item, { slot: { kind: "complete", ref: slot, reply } })), {
    changed: true,
    slotEnded: true,
  });
  assert.deepEqual(await claimAgain("k"), { kind: "replay", reply });
  await ledger.settle(settlement(item, { slot: { kind: "burn", ref: slot } }));
  assert.equal(await stateOf(slot), "completed");
});

const WAYS: readonly (readonly [string, (own: Ledger, item: Settlement) => Promise<SettlementResult | undefined>])[] = [
  ["a settlement", (own, item) => own.settle(item)],
  ["settlements that go together", async (own, item) => (await own.settleTogether([item]))[0]],
];
for (const [what, settle] of WAYS)
  for (const [moment, isKept] of [
    ["before", false],
    ["after", true],
  ] as const) {
    test(`metering.settle-retry: a session cut ${moment} the commit of ${what} loses no answer: it is settled on another, once`, async () => {
      await addBudget({ usd: 5_000n });
      let cuts = 0;
      const cutOnce = withSystemAccess(database, {
        transaction: async (work) => {
          if (cuts > 0) return database.transaction(work);
          cuts += 1;
          // As the server says it: what was done is rolled back, or it is committed and the reply was lost.
          const cut = Object.assign(new Error("terminating connection due to administrator command"), {
            code: "57P01",
          });
          await database.transaction(async (tx) => {
            await work(tx);
            if (!isKept) throw cut;
          });
          throw cut;
        },
      });
      const slot = await claimSlot(`${what} cut ${moment}`);
      const item = reservation({ slot });
      await ledger.reserve(item);
      const reply = { status: 200, headers: {}, body: Buffer.from("paid") };
      const own = createLedger({ database: cutOnce, seal });
      const settled = await settle(own, settlement(item, { slot: { kind: "complete", ref: slot, reply } }));
      assert.deepEqual([cuts, settled?.changed], [1, !isKept]);
      assert.deepEqual(await claimAgain(`${what} cut ${moment}`), { kind: "replay", reply });
      const row = await attemptRow(item);
      assert.deepEqual([row.state, row.outcome, row.charge_nano_usd], ["settled", "succeeded", 1_000n]);
      const { spentNanoUsd, reservedNanoUsd } = await spending();
      assert.deepEqual([spentNanoUsd, reservedNanoUsd], [1_000n, 0n]);
    });
  }

test("metering.freed-in-batch: what a settlement frees is available to a reservation in the same batch, and no more than that", async () => {
  await addBudget({ usd: 1_000n });
  const first = reservation();
  await ledger.reserve(first);
  const [, fits, exceeds] = await Promise.all([
    ledger.settle(settlement(first, { chargeNanoUsd: 400n })),
    ledger.reserve(reservation({ reserveNanoUsd: 600n })),
    ledger.reserve(reservation({ reserveNanoUsd: 1n })),
  ]);
  assert.deepEqual([fits.ok, exceeds.ok], [true, false]);
  const { spentNanoUsd, reservedNanoUsd } = await spending();
  assert.deepEqual([spentNanoUsd, reservedNanoUsd], [400n, 600n]);
});

test("metering.reserve-no-retry-when-away: a session cut under both settles what was paid on another, and refuses what was to be reserved", async () => {
  await addBudget({ usd: 5_000n });
  const paid = reservation();
  await ledger.reserve(paid);
  let cuts = 0;
  const cut = Object.assign(new Error("terminating connection due to administrator command"), { code: "57P01" });
  const cutOnce = withSystemAccess(database, {
    transaction: (work) => {
      cuts += 1;
      return cuts > 1
        ? database.transaction(work)
        : database.transaction((tx) => work(tx).then(() => Promise.reject(cut)));
    },
  });
  const both = createLedger({ database: cutOnce, seal });
  const [settled, refused] = await Promise.allSettled([both.settle(settlement(paid)), both.reserve(reservation())]);
  assert.deepEqual(settled, { status: "fulfilled", value: { changed: true, slotEnded: false } });
  assert.deepEqual(refused, { status: "rejected", reason: cut });
  const { spentNanoUsd, reservedNanoUsd } = await spending();
  assert.deepEqual([cuts, spentNanoUsd, reservedNanoUsd], [2, 1_000n, 0n]);
});

test("metering.settle-atomic: what is settled together is committed or rolled back together, the slot with it", async () => {
  const slot = await claimSlot("both");
  const [heard, spoken] = [reservation({ slot }), reservation({ slot })];
  await ledger.reserve(heard);
  await ledger.reserve(spoken);
  const end = { kind: "complete", ref: slot, reply: { status: 200, headers: {}, body: Buffer.from("both") } } as const;
  await assert.rejects(
    ledger.settleTogether([settlement(heard), settlement(spoken, { chargeNanoUsd: 1_001n, slot: end })]),
  );
  assert.deepEqual([(await attemptRow(heard)).state, (await attemptRow(spoken)).state], ["open", "open"]);
  assert.equal(await stateOf(slot), "dispatched");
  const settled = await ledger.settleTogether([settlement(heard), settlement(spoken, { slot: end })]);
  assert.deepEqual(
    settled.map(({ changed, slotEnded }) => [changed, slotEnded]),
    [
      [true, false],
      [true, true],
    ],
  );
  assert.equal(await stateOf(slot), "completed");
});

test("metering.settle-atomic: a settlement can burn or release the slot of its attempt", async () => {
  const [burned, released] = [await claimSlot("b"), await claimSlot("r")];
  const [first, next] = [reservation({ slot: burned }), reservation({ slot: released })];
  await Promise.all([ledger.reserve(first), ledger.reserve(next)]);
  await ledger.settle(settlement(first, { outcome: "unknown", ...free, slot: { kind: "burn", ref: burned } }));
  await ledger.settle(
    settlement(next, { outcome: "failed:rejected", ...free, slot: { kind: "release", ref: released } }),
  );
  assert.equal(await stateOf(burned), "burned");
  assert.equal(await stateOf(released), undefined);
});

test("metering.reserve-slot-lost: a slot lost to another owner reserves nothing, and leaves its share to those behind it", async () => {
  await addBudget({ usd: 1_000n });
  const lost = await claimSlot("lost");
  await shiftClock(database, 31);
  await claimSlot("lost");
  const kept = await claimSlot("kept");
  const answers = await Promise.all([
    ledger.reserve(reservation({ slot: lost })),
    ledger.reserve(reservation({ slot: kept })),
  ]);
  assert.deepEqual(answers, [{ ok: false, slotLost: true }, { ok: true }]);
  assert.equal(await stateOf(kept), "dispatched");
  assert.equal(await attemptCount(), 1);
});

test("metering.refusal-keeps-slot: a refused budget leaves the slot reserved, to be released", async () => {
  await addBudget({ usd: 1n });
  const slot = await claimSlot("refused");
  assert.equal((await ledger.reserve(reservation({ slot }))).ok, false);
  assert.equal(await stateOf(slot), "reserved");
});

test("metering.crash-unresolved: after a crash an open attempt is settled once as unknown, free of charge, and marked unresolved", async () => {
  await shiftClock(database, 1_000_000);
  await ledger.sweepReservations();
  await shiftClock(database, 0);
  const setSeconds = await stopClock(database);
  await addBudget({ usd: 10_000n, audioSeconds: "100" });
  const slot = await claimSlot("crash");
  const item = reservation({ slot });
  await ledger.reserve(item);
  assert.equal(await ledger.sweepReservations(), 0);
  await setSeconds(89);
  assert.equal(await ledger.sweepReservations(), 0);
  await setSeconds(100);
  const swept = await Promise.all([ledger.sweepReservations(), elsewhere.sweepReservations()]);
  assert.equal(swept[0] + swept[1], 1);
  const row = await attemptRow(item);
  assert.deepEqual([row.state, row.outcome, row.unresolved, row.charge_nano_usd], ["settled", "unknown", true, 0n]);
  assert.deepEqual(await spending(), { spentNanoUsd: 0n, reservedNanoUsd: 0n, spentAudioMs: 0n, reservedAudioMs: 0n });
  const late = { status: 200, headers: {}, body: Buffer.from("late") };
  assert.deepEqual(await ledger.settle(settlement(item, { slot: { kind: "complete", ref: slot, reply: late } })), {
    changed: false,
    slotEnded: false,
  });
  assert.equal(await stateOf(slot), "burned");
});

test("metering.settle-same-window, budgets.windows: a new day opens a new window, and what was reserved before settles in its own window", async () => {
  await setClock(database, "2026-02-28T23:59:59Z");
  await addBudget({ usd: 1_000n, period: "day" });
  const item = reservation();
  assert.equal((await ledger.reserve(item)).ok, true);
  assert.equal((await ledger.reserve(reservation())).ok, false);
  await setClock(database, "2026-03-01T00:00:00Z");
  assert.equal((await ledger.reserve(reservation())).ok, true);
  await ledger.settle(settlement(item));
  assert.deepEqual(await spending(), {
    spentNanoUsd: 0n,
    reservedNanoUsd: 1_000n,
    spentAudioMs: 0n,
    reservedAudioMs: 10_000n,
  });
  const windows = await database.db
    .selectFrom("budget_windows")
    .innerJoin("budgets", "budgets.id", "budget_id")
    .select(["window_start", "spent_nano_usd"])
    .where("app_id", "=", tenant.appId)
    .orderBy("window_start")
    .execute();
  assert.deepEqual(windows, [
    { window_start: new Date("2026-02-28T00:00:00Z"), spent_nano_usd: 1_000n },
    { window_start: new Date("2026-03-01T00:00:00Z"), spent_nano_usd: 0n },
  ]);
});

test("metering.provider-seconds, measuring.provider-difference: a provider's seconds are stored, and flagged when more than 2 % or 1 s off", async () => {
  const cases: readonly [number, number | null, boolean][] = [
    [10_000, null, false],
    [10_000, 10_200, false],
    [10_000, 10_201, true],
    [10_000, 9_799, true],
    [100_000, 101_000, false],
    [100_000, 101_001, true],
  ];
  for (const [audioMs, providerMs, flagged] of cases) {
    const item = reservation({ audioMs });
    await ledger.reserve(item);
    await ledger.settle(settlement(item, { providerMs }));
    const row = await attemptRow(item);
    assert.deepEqual(
      [row.provider_ms, row.provider_seconds_flag],
      [providerMs === null ? null : BigInt(providerMs), flagged],
      `${audioMs} ${providerMs}`,
    );
  }
});

test("metering.batch-isolation, metering.charge-at-most-reserved: one invalid item in a batch fails alone; a charge above its reservation is refused by the database", async () => {
  const [good, bad, other] = [reservation(), reservation(), reservation()];
  await ledger.reserve(good);
  const again = await Promise.allSettled([ledger.reserve(other), ledger.reserve(good), ledger.reserve(bad)]);
  assert.deepEqual(
    again.map((result) => result.status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  const settled = await Promise.allSettled([
    ledger.settle(settlement(good)),
    ledger.settle(settlement(bad, { chargeNanoUsd: 1_001n })),
    ledger.settle(settlement(other)),
  ]);
  assert.deepEqual(
    settled.map((result) => result.status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.equal((await attemptRow(bad)).state, "open");
});

test("metering.budget-removed: a budget removed while its attempt runs does not stop the settlement", async () => {
  const id = await addBudget({ usd: 10_000n });
  const item = reservation();
  await ledger.reserve(item);
  await database.db.deleteFrom("budgets").where("id", "=", id).execute();
  assert.equal((await ledger.settle(settlement(item))).changed, true);
});

test("metering.budget-recreated: a budget removed and created again while its attempt runs counts it as reserved, and then as spent", async () => {
  const { workspaceId, appId } = tenant;
  const limits = { limit_nano_usd: 10_000n };
  const name = { id: `${appId}/total`, workspace_id: workspaceId, app_id: appId, period: "total" as const };
  const make = () => database.transaction((tx) => upsertBudget(tx, { ...name, ...limits, managed_by: "test" }, limits));
  await make();
  const [settled, swept] = [reservation(), reservation()];
  for (const item of [settled, swept]) await ledger.reserve(item);
  await database.db.deleteFrom("budgets").where("app_id", "=", appId).execute();
  await make();
  const { reserveNanoUsd: each } = settled;
  assert.equal((await spending()).reservedNanoUsd, each * 2n);
  assert.equal((await ledger.settle(settlement(settled))).changed, true);
  await shiftClock(database, 3_600);
  assert.ok((await ledger.sweepReservations()) >= 1);
  await shiftClock(database, 0);
  const { spentNanoUsd, reservedNanoUsd, reservedAudioMs } = await spending();
  assert.deepEqual([spentNanoUsd, reservedNanoUsd, reservedAudioMs], [each, 0n, 0n]);
});

test("metering.settle-concurrent: of two transactions that settle an attempt at once the later one waits, and changes nothing", async () => {
  await addBudget({ usd: 1_000_000_000n });
  const reserved = reservation();
  await ledger.reserve(reserved);
  const later: ReturnType<Ledger["settle"]>[] = [];
  await database.transaction(async (tx) => {
    await ledger.settleIn(tx, settlement(reserved));
    later.push(elsewhere.settle(settlement(reserved)));
    let isWaiting = false;
    while (!isWaiting) {
      const { rows } = await sql`select 1 from pg_locks where not granted
        and transactionid = pg_current_xact_id()::xid`.execute(tx);
      isWaiting = rows.length > 0;
    }
  });
  assert.deepEqual(
    (await Promise.all(later)).map(({ changed }) => changed),
    [false],
  );
  assert.equal((await spending()).spentNanoUsd, reserved.reserveNanoUsd);
});
