// What leases hold and do not use: no request is refused because of it, or charged credits while the allowance has it, and it is never
// counted twice.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { createLeaseReclaimer } from "../../src/metering/lease-reclaimer.ts";
import { createLeases, type Leases } from "../../src/metering/leases.ts";
import { createLedger, type Ledger } from "../../src/metering/ledger.ts";
import { type Reservation } from "../../src/metering/ledger-entries.ts";
import { listenForChanges } from "../../src/storage/connection/changes.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { makeTenant, openTestDatabase, type TestDatabase, withSystemAccess } from "../harness/postgres/database.ts";
import { chatReservation, chatSettlement } from "./chat-reservation.ts";

type Tenant = Awaited<ReturnType<typeof makeTenant>>;

const seal = createSeal({ keys: [randomBytes(32)] });
let database: TestDatabase;
let tenant: Tenant;
/** A second app of the same workspace. */
let neighbour: Tenant;
let leases: Leases;
let ledger: Ledger;
let nowMs: number;
const opened: Leases[] = [];

before(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  tenant = await makeTenant(database);
  neighbour = { ...tenant, appId: newId("app") };
  const app = { id: neighbour.appId, workspace_id: tenant.workspaceId, slug: "second", name: "B", managed_by: "test" };
  await database.db.insertInto("apps").values(app).execute();
  nowMs = 0;
  leases = open();
  ledger = createLedger({ database, seal, reclaimer: leases.reclaimer });
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});
after(() => database.close());

function open(waitForOthers?: () => Promise<unknown>): Leases {
  const made = createLeases({
    database,
    nowMs: () => nowMs,
    ...(waitForOthers === undefined ? {} : { waitForOthers }),
  });
  opened.push(made);
  return made;
}

interface Limits {
  readonly kind?: "budget" | "allowance" | "credits";
  readonly tokens?: bigint;
  readonly nanoUsd?: bigint;
}

async function budget({ kind = "budget", tokens, nanoUsd }: Limits): Promise<string> {
  const { workspaceId, appId } = tenant;
  const id = `${appId}/${kind}`;
  await database.db
    .insertInto("budgets")
    .values({
      id,
      workspace_id: workspaceId,
      app_id: kind === "budget" ? appId : null,
      kind,
      period: "month",
      limit_tokens: tokens ?? null,
      limit_nano_usd: nanoUsd ?? null,
      managed_by: "test",
    })
    .execute();
  return id;
}

async function windowOf(id: string) {
  const row = await database.db
    .selectFrom("budget_windows")
    .selectAll()
    .where("budget_id", "=", id)
    .executeTakeFirstOrThrow();
  return {
    tokens: [row.spent_tokens, row.reserved_tokens],
    nanoUsd: [row.spent_nano_usd, row.reserved_nano_usd],
  };
}

async function granted(): Promise<readonly number[]> {
  const rows = await database.db
    .selectFrom("budget_leases")
    .select("granted_tokens")
    .where("workspace_id", "=", tenant.workspaceId)
    .orderBy("id")
    .execute();
  return rows.map((row) => Number(row.granted_tokens));
}

const chat = (tokens: number, rest: Partial<Reservation> = {}) => chatReservation(tenant, tokens, 0n, rest);

/** Has been paid from a lease, which is idle now. */
async function served(item: Reservation, used: number, own = leases, chargeNanoUsd = 0n): Promise<void> {
  assert.deepEqual(await own.reserve(item), { ok: true });
  own.settle(chatSettlement(item, used, chargeNanoUsd));
}

test("metering.lease-reclaim: what a lease whose time is over holds is available to the next chat", async () => {
  const id = await budget({ tokens: 1_000n });
  await served(chat(600), 10);
  nowMs = 60_000;
  await served(chat(600), 10);
  await leases.close();
  assert.deepEqual((await windowOf(id)).tokens, [20n, 0n]);
});

test("metering.lease-idle-return: a replaced lease holds what its calls may use, and what they did not use is returned with the next renewal", async () => {
  const id = await budget({ tokens: 100_000n });
  const streams: Reservation[] = [];
  for (let minute = 0; minute < 12; minute += 1) {
    nowMs = minute * 60_000;
    const [stream, brief] = [chat(100), chat(50)];
    for (const item of [stream, brief]) assert((await leases.reserve(item)).ok);
    streams.push(stream);
    nowMs += 59_999;
    if (minute < 11) {
      nowMs += 1;
      // Another takes its place while both run.
      assert((await leases.reserve(chat(0))).ok);
    }
    leases.settle(chatSettlement(brief, 0));
    await leases.renew();
  }
  assert.deepEqual(new Set((await granted()).slice(0, -1)), new Set([100]), "what is under way, and no more");
  await leases.giveBack(null);
  assert.deepEqual((await windowOf(id)).tokens, [0n, 1_200n]);
  for (const item of streams) leases.settle(chatSettlement(item, 100));
  await leases.renew();
  await leases.flush();
  assert.equal((await windowOf(id)).tokens[0], 1_200n);
});

test("metering.lease-reclaim: what calls of a replaced lease did not use is available before a chat is refused", async () => {
  await budget({ tokens: 1_000n });
  const [long, brief] = [chat(100), chat(600)];
  for (const item of [long, brief]) assert((await leases.reserve(item)).ok);
  nowMs = 60_000;
  assert((await leases.reserve(chat(10))).ok);
  leases.settle(chatSettlement(brief, 0));
  assert.deepEqual(await leases.reserve(chat(800)), { ok: true });
});

test("metering.lease-reclaim-shared: of many that are refused together for what a lease holds none is refused once it is back", async () => {
  await budget({ kind: "credits", nanoUsd: 10_000n });
  const costing = (whose: Tenant, nanoUsd: bigint) => chatReservation(whose, 0, nanoUsd, { funding: "credits" });
  await served(costing(tenant, 9_000n), 0);
  const items = Array.from({ length: 5 }, () => costing(neighbour, 950n));
  const answers = await Promise.all([
    ...items.map((item) => ledger.reserve(item)),
    ...items.map((item) => leases.reserve({ ...item, attemptId: newId("attempt") })),
  ]);
  assert.deepEqual(new Set(answers.map(({ ok }) => ok)), new Set([true]));
});

test("metering.lease-reclaim-late: what leases return to a refused reservation is not taken in advance by another app's lease", async () => {
  await budget({ kind: "credits", nanoUsd: 10_000n });
  const costing = (whose: Tenant, nanoUsd: bigint) => chatReservation(whose, 0, nanoUsd, { funding: "credits" });
  await served(costing(tenant, 9_000n), 0);
  const plain = createLedger({ database, seal });
  const large = costing(neighbour, 9_900n);
  let tries = 0;
  const answer = await leases.reclaimer.reserve(large, async () => {
    tries += 1;
    // Its lease would hold an eighth of what was returned.
    if (tries === 2) assert.deepEqual(await leases.reserve(costing(neighbour, 10n)), { ok: true });
    return plain.reserve(large);
  });
  assert.deepEqual([answer, tries], [{ ok: true }, 2]);
});

test("metering.lease-reclaim-late: a reservation is retried for what a call returned after the first reclaim", async () => {
  await budget({ tokens: 1_000n });
  await served(chat(200), 0);
  const running = chat(400);
  assert.deepEqual(await leases.reserve(running), { ok: true });
  const plain = createLedger({ database, seal });
  const large = chat(550);
  let tries = 0;
  const answer = await leases.reclaimer.reserve(large, async () => {
    tries += 1;
    // Takes from what the first reclaim gave back, and leaves too little.
    if (tries === 2) assert.deepEqual(await plain.reserve(chat(100)), { ok: true });
    const tried = await plain.reserve(large);
    if (tries === 2) leases.settle(chatSettlement(running, 0));
    return tried;
  });
  assert.deepEqual([answer, tries], [{ ok: true }, 3]);
});

test("metering.lease-reclaim-late: what was returned while a reservation was being refused is tried for, although no process holds it any more", async () => {
  await budget({ tokens: 1_000n });
  await served(chat(600), 0);
  const plain = createLedger({ database, seal });
  const item = chat(900);
  let tries = 0;
  const answer = await leases.reclaimer.reserve(item, async () => {
    tries += 1;
    const tried = await plain.reserve(item);
    if (tries === 1) await leases.giveBack(null);
    return tried;
  });
  assert.deepEqual([answer, tries], [{ ok: true }, 2]);
});

test("metering.lease-reclaim-all-payers: credits that the idle lease of one app holds are available to the other app of its workspace", async () => {
  const id = await budget({ kind: "credits", nanoUsd: 1_000n });
  await served(chatReservation(tenant, 10, 600n, { funding: "credits" }), 1, leases, 10n);
  const other = chatReservation(neighbour, 10, 900n, { funding: "credits" });
  await served(other, 1, leases, 900n);
  await leases.close();
  assert.deepEqual((await windowOf(id)).nanoUsd, [910n, 0n]);
});

test("metering.lease-reclaim-all-payers: a chat reserved by a row draws on the allowance that an idle lease holds, and a recording on its money", async () => {
  await budget({ kind: "allowance", tokens: 1_000n });
  await budget({ nanoUsd: 1_000n });
  await served(chat(600, { funding: "allowance" }), 10);
  const keyed = chat(600, { funding: "allowance" });
  assert.deepEqual(await ledger.reserve(keyed), { ok: true });
  const { workspaceId, appId } = tenant;
  await served(chatReservation(tenant, 10, 600n), 1);
  const recording = { ...chatReservation(tenant, 0, 900n), audioMs: 1_000 };
  const owner = { workspaceId, appId };
  assert.equal(await ledger.judge({ owner, amounts: { nanoUsd: 900n, audioMs: 1_000n, tokens: 0n } }), null);
  assert.deepEqual(await ledger.reserve(recording), { ok: true }, "as the dry run said");
  assert.equal((await ledger.reserve({ ...chatReservation(tenant, 0, 900n), audioMs: 1_000 })).ok, false);
});

test("metering.lease-reclaim-all-payers: a reservation by a row asks other processes for what they hold before it is refused, once for all of them", async (t) => {
  // Others are asked once a second at most: here no second passes.
  t.mock.method(performance, "now", () => 0);
  const id = await budget({ tokens: 1_000n });
  const there = open();
  const back = Promise.withResolvers<void>();
  const here = open(() => back.promise);
  const own = createLedger({ database, seal, reclaimer: here.reclaimer });
  const asked: (string | null)[] = [];
  const changes = await listenForChanges(database, { onError: (error) => assert.fail(String(error)), keyIds: [] });
  changes.onChange("leases", (workspaceId) => {
    asked.push(workspaceId);
    void there.giveBack(workspaceId).then(back.resolve);
  });
  try {
    await served(chat(600), 10, there);
    const answers = await Promise.all([own.reserve(chat(480)), own.reserve(chat(480))]);
    assert.deepEqual(answers, [{ ok: true }, { ok: true }]);
    assert.equal((await own.reserve(chat(100))).ok, false);
    await there.flush();
    assert.deepEqual((await windowOf(id)).tokens, [10n, 960n]);
    assert.deepEqual(asked, [tenant.workspaceId]);
  } finally {
    await changes.close();
  }
});

test("metering.lease-reclaim-needless: nothing is taken from a lease for what would be refused all the same, or is paid from elsewhere", async () => {
  await budget({ tokens: 1_000n });
  await budget({ kind: "credits", nanoUsd: 1_000n });
  await budget({ kind: "allowance", tokens: 10_000n });
  await served(chatReservation(tenant, 100, 100n, { funding: "credits" }), 10);
  await served(chatReservation(neighbour, 100, 0n, { funding: "allowance" }), 10);
  const before = await granted();
  assert(
    before.every((tokens) => tokens > 100),
    "some of it in advance",
  );
  for (const [item, kind] of [
    [chat(1_001), "budget"],
    [{ ...chat(0), audioMs: 1 }, null],
    [chatReservation(neighbour, 0, 1_001n, { funding: "credits" }), "credits"],
    [chatReservation(neighbour, 10_001, 0n, { funding: "allowance" }), "allowance"],
  ] as const) {
    for (const payer of [ledger, leases]) {
      const answer = await payer.reserve({ ...item, attemptId: newId("attempt") });
      if (kind !== null) assert(!answer.ok && "exceeded" in answer && answer.exceeded.budgetKind === kind);
    }
    assert.deepEqual((await granted()).slice(0, 2), before, kind ?? "audio");
  }
});

test("metering.lease-reclaim-needless: other processes are asked once a second at most, and a refusal in between is tried once", async (t) => {
  let clockMs = 0;
  t.mock.method(performance, "now", () => clockMs);
  await budget({ tokens: 1_000n });
  await served(chat(600), 10, open());
  const { workspaceId } = tenant;
  const waitForOthers = () => Promise.resolve();
  const reclaimer = createLeaseReclaimer({ database, workspaceId, process: "another", waitForOthers });
  const refusal = await ledger.reserve(chat(1_001));
  assert.ok(!refusal.ok && "exceeded" in refusal);
  const triesAt = async (ms: number): Promise<number> => {
    clockMs = ms;
    let tries = 0;
    const answer = await reclaimer.reserve(tenant, async () => {
      tries += 1;
      return refusal;
    });
    assert.equal(answer, refusal);
    return tries;
  };
  assert.deepEqual([await triesAt(0), await triesAt(999), await triesAt(1_000), await triesAt(1_500)], [2, 1, 2, 1]);
});

test("metering.lease-crash: of calls that outlive their process only what they may use is left to the sweeper", async () => {
  const id = await budget({ tokens: 10_000n });
  assert((await leases.reserve(chat(100))).ok);
  await leases.close();
  assert.deepEqual((await windowOf(id)).tokens, [0n, 100n]);
});

test("metering.lease-return-failure: a lease that could not be returned while the database was unavailable delays no chat, and returns with its end", async () => {
  const id = await budget({ tokens: 1_000n });
  let isUnavailable = false;
  const transaction: TestDatabase["transaction"] = (work) =>
    isUnavailable ? Promise.reject(new Error("the database is unavailable")) : database.transaction(work);
  const own = createLeases({ database: withSystemAccess(database, { transaction }), nowMs: () => nowMs });
  opened.push(own);
  await served(chat(600), 0, own);
  nowMs = 60_000;
  isUnavailable = true;
  await assert.rejects(async () => own.reserve(chat(600)), /the database is unavailable/u);
  isUnavailable = false;
  assert((await own.reserve(chat(300))).ok);
  await own.renew();
  assert((await own.reserve(chat(700))).ok);
  assert.equal((await windowOf(id)).tokens[1], 1_000n);
});

test("metering.lease-hard-limit: whatever two apps, their rows and two processes do at once, what is spent and under way never exceeds budget or credits", async () => {
  const ids = [await budget({ nanoUsd: 4_000n }), await budget({ kind: "credits", nanoUsd: 6_000n })];
  const processes = [leases, open()];
  const ledgers = processes.map(({ reclaimer }) => createLedger({ database, seal, reclaimer }));
  const sums = [
    { limit: 4_000, underWay: 0, spent: 0 },
    { limit: 6_000, underWay: 0, spent: 0 },
  ];
  let seed = 20_261_125;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const worker = async (index: number, whose: Tenant) => {
    for (let turn = 0; turn < 40; turn += 1) {
      const most = 50 + random(200);
      const item = chatReservation(whose, 0, BigInt(most), { funding: "credits" });
      const payer = random(4) === 0 ? ledgers[index] : processes[index];
      assert(payer !== undefined);
      if (!(await payer.reserve(item)).ok) continue;
      const counting = whose === tenant ? sums : sums.slice(1);
      for (const sum of counting) {
        sum.underWay += most;
        assert(sum.underWay + sum.spent <= sum.limit, `${sum.underWay} under way and ${sum.spent} spent`);
      }
      await new Promise((resolve) => setImmediate(resolve));
      const used = random(most + 1);
      for (const sum of counting) {
        sum.underWay -= most;
        sum.spent += used;
      }
      await payer.settle(chatSettlement(item, 0, BigInt(used)));
      nowMs += random(4_000);
      if (random(8) === 0) await processes[index]?.giveBack(null);
      if (random(16) === 0) await processes[index]?.renew();
    }
  };
  await Promise.all(
    [0, 1].flatMap((index) => [worker(index, tenant), worker(index, tenant), worker(index, neighbour)]),
  );
  for (const own of processes) await own.close();
  for (const [index, { spent }] of sums.entries())
    assert.deepEqual((await windowOf(ids[index] ?? "")).nanoUsd, [BigInt(spent), 0n]);
});
