// A request under its key, and what its calls record, against a real database: whatever the work does, the slot, the ledger's row and the
// deletion at the provider are left as its outcome requires.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { type AppId, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { GatewayError } from "../../src/contract/errors.ts";
import { createIdempotency, type Idempotency, type SlotRef } from "../../src/gateway/idempotency/idempotency.ts";
import type { GatewayReply } from "../../src/gateway/reply.ts";
import { createSlotJournal } from "../../src/gateway/idempotency/slot-journal.ts";
import { type ClaimedSlot, withSlot } from "../../src/gateway/idempotency/with-slot.ts";
import { createLedger, type Ledger } from "../../src/metering/ledger.ts";
import { type Reservation, type Settlement } from "../../src/metering/ledger-entries.ts";
import { insertDeletion, releaseDeletions } from "../../src/gateway/store/provider-deletions.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { makeTenant, openTestDatabase, setClock, shiftClock, type TestDatabase } from "../harness/postgres/database.ts";
import { speechTarget } from "../routing/routing-fixtures.ts";

const seal = createSeal({ keys: [randomBytes(32)] });
const REPLY: GatewayReply = { status: 201, headers: { "content-type": "text/plain" }, body: Buffer.from("the answer") };
const BROKEN = new Error("broken");
const DISCONNECTED = Object.assign(new Error("terminating connection"), { code: "57P01" });
let database: TestDatabase;
let idempotency: Idempotency;
let ledger: Ledger;
let tenant: { workspaceId: WorkspaceId; appId: AppId };
let uses: string[];
let deletionsFail: Error | null = null;
/** Of the requests, by their own clock. */
const DEADLINE_MS = 1_000;
let nowMs = 0;
const now = () => new Date(nowMs);

before(async () => {
  database = await openTestDatabase();
  idempotency = createIdempotency({ database, seal, ttlSeconds: 86_400 });
  ledger = createLedger({ database, seal });
});
after(async () => {
  idempotency.close();
  await database.close();
});
beforeEach(async () => {
  await shiftClock(database, 0);
  tenant = await makeTenant(database);
  uses = [];
  deletionsFail = null;
  nowMs = 0;
});

const request = (changes: { key?: string; fingerprint?: Buffer } = {}) => ({
  ...tenant,
  key: "key-1",
  endpoint: "POST /v1/transcription",
  fingerprint: Buffer.alloc(32, 1),
  ...changes,
});

function ask(
  work: (slot: ClaimedSlot) => Promise<GatewayReply>,
  changes: Parameters<typeof request>[0] = {},
  by: Partial<Idempotency> = {},
): Promise<GatewayReply> {
  return withSlot(
    { idempotency: { ...idempotency, ...by } },
    request(changes),
    { keyUsed: (use) => uses.push(use) },
    async (slot) => work(slot ?? assert.fail("there is a key, and no slot")),
  );
}

const neverRuns = async (): Promise<GatewayReply> => assert.fail("the work ran a second time");

async function stateOf(key = "key-1"): Promise<string | undefined> {
  const rows = await database.db
    .selectFrom("idempotency_slots")
    .select(["state", "key_sha256"])
    .where("app_id", "=", tenant.appId)
    .execute();
  const hash = createHash("sha256").update(key).digest();
  return rows.find((row) => row.key_sha256.equals(hash))?.state;
}

function reservation(changes: Partial<Reservation> = {}): Reservation {
  return {
    attemptId: newId("attempt"),
    requestId: newId("request"),
    ...tenant,
    keyId: newId("key"),
    endpoint: "POST /v1/transcription",
    connection: "dg",
    provider: "deepgram",
    model: "nova-3",
    position: 1,
    billingClass: "metered",
    audioMs: 10_000,
    reserveNanoUsd: 1_000n,
    estimateNanoUsd: 1_000n,
    price: null,
    deadlineAt: new Date(Date.now() + 60_000),
    ...changes,
  };
}

function settlement({ attemptId }: Pick<Reservation, "attemptId">): Settlement {
  return {
    attemptId,
    outcome: "succeeded",
    providerMs: null,
    billableAudioMs: 10_000,
    chargeNanoUsd: 1_000n,
    providerRequestId: null,
    receipts: [],
  };
}

const attemptState = async ({ attemptId }: Pick<Reservation, "attemptId">) =>
  (await database.db.selectFrom("attempts").select("state").where("id", "=", attemptId).executeTakeFirst())?.state;

function keeperFor(slot: ClaimedSlot | null, by: Partial<Ledger> = {}) {
  const requestId = newId("request");
  const payer = { ...tenant, requestId, endpoint: "e", keyId: null, purpose: null, testMode: true, hasPlan: false };
  const released: string[] = [];
  const deletions = {
    owe: async (duty: Parameters<typeof insertDeletion>[1]) => {
      if (deletionsFail !== null) throw deletionsFail;
      await insertDeletion(database.db, duty);
    },
    release: async (workspaceId: WorkspaceId, subject: string) => {
      if (deletionsFail !== null) throw deletionsFail;
      released.push(subject);
      await releaseDeletions(database.db, [{ workspaceId, subject }]);
    },
    releaseIn: () => assert.fail(),
    state: () => assert.fail(),
    report: () => assert.fail(),
    sweep: () => assert.fail(),
    close: () => assert.fail(),
  };
  const limits = {
    maxAudioDurationSeconds: 1,
    maxAudioUrlBytes: 1,
    maxKeyterms: 1,
    maxAttemptsPerRequest: 5,
    syncTimeoutSeconds: 300,
  };
  const services = { ledger: { ...ledger, ...by }, deletions, limits, now };
  return { journal: createSlotJournal(services, payer, slot, DEADLINE_MS), requestId, released };
}

const RUN = { id: "run-1", details: { region: "eu" } };
const candidate = {
  target: speechTarget(1),
  verdict: { missing: [], language: { kind: "auto" }, emulated: [], cut: null },
  rest: null,
  settings: {},
} as const;

async function dueOf(subject: string) {
  const rows = await database.db.selectFrom("provider_deletions").selectAll().where("subject", "=", subject).execute();
  assert.ok(rows.length <= 1);
  return rows[0];
}

test("idempotency.optional: a request without a key runs without a slot, and no use of a key is reported", async () => {
  const reply = await withSlot({ idempotency }, null, { keyUsed: (use) => uses.push(use) }, async (slot) => {
    assert.equal(slot, null);
    return REPLY;
  });
  assert.deepEqual([reply, uses], [REPLY, []]);
});

test("idempotency.replay: the first request runs, once; the next gets its answer, its status and its headers, marked as a replay", async () => {
  const first = await ask(async (slot) => {
    const { journal } = keeperFor(slot);
    const item = reservation();
    assert.equal(await journal.reserve(item), item.attemptId);
    assert.equal(await stateOf(), "dispatched");
    await journal.finish(settlement(item), REPLY);
    assert.deepEqual([await attemptState(item), await stateOf()], ["settled", "completed"]);
    return REPLY;
  });
  assert.deepEqual(first, REPLY);
  assert.deepEqual(await ask(neverRuns), {
    ...REPLY,
    headers: { "content-type": "text/plain", "x-svc-idempotent-replay": "true" },
  });
  assert.deepEqual(uses, ["first", "replayed"]);
});

test("idempotency.reused, idempotency.in-progress, idempotency.burned: another payload, a running twin and an unknown outcome are refused, and the work does not run", async () => {
  const refusal = (code: string, changes: Parameters<typeof request>[0] = {}) =>
    assert.rejects(ask(neverRuns, changes), (error) => error instanceof GatewayError && error.code === code);
  const reply = await ask(async (slot) => {
    await refusal("IDEMPOTENCY_KEY_REUSED", { fingerprint: Buffer.alloc(32, 2) });
    await assert.rejects(ask(neverRuns), { code: "IDEMPOTENCY_REPLAY_IN_PROGRESS", retryAfterSeconds: 2 });
    await slot.burn();
    await refusal("IDEMPOTENT_RESULT_UNAVAILABLE");
    return REPLY;
  });
  assert.deepEqual(reply, REPLY);
  assert.deepEqual(uses, ["first", "reused", "in_progress", "unavailable"]);
});

test("idempotency.release-refused, idempotency.release-definite, idempotency.burn-unknown: a failed request leaves its key free before dispatch, free after a definite refusal, and burned after an internal error", async () => {
  const fault = new Error("an internal error");
  const refused = new GatewayError("NO_HEALTHY_PROVIDER", { message: "every target failed definitely" });
  const cases: readonly (readonly [
    key: string,
    error: Error,
    did: "nothing" | "reserved" | "dispatched",
    left: string | undefined,
  ])[] = [
    ["a fault before a reservation", fault, "nothing", undefined],
    ["a fault before dispatch", fault, "reserved", undefined],
    ["a refusal before dispatch", refused, "reserved", undefined],
    ["a refusal after dispatch", refused, "dispatched", undefined],
    ["a fault after dispatch", fault, "dispatched", "burned"],
  ];
  for (const [key, error, did, left] of cases) {
    const failing = ask(
      async (slot) => {
        const { journal } = keeperFor(slot);
        if (did !== "nothing") await journal.reserve(reservation());
        // Marked for a crash, before it is known whether a byte will leave.
        assert.equal(await stateOf(key), did === "nothing" ? "reserved" : "dispatched");
        if (did === "dispatched") journal.dispatched?.();
        throw error;
      },
      { key },
    );
    await assert.rejects(failing, error);
    assert.equal(await stateOf(key), left, key);
  }
});

test("idempotency.burned: a burned key stays burned, whatever the request ends with, and is not changed again", async () => {
  const refused = new GatewayError("NO_HEALTHY_PROVIDER", { message: "unknown" });
  let left = 0;
  const failing = ask(
    async (slot) => {
      await slot.burn();
      throw refused;
    },
    {},
    {
      release: async (slot) => {
        left += 1;
        await idempotency.release(slot);
      },
      burn: async (slot) => {
        left += 1;
        await idempotency.burn(slot);
      },
    },
  );
  await assert.rejects(failing, refused);
  assert.equal(await stateOf(), "burned");
  assert.equal(left, 1);
});

test("idempotency.database-errors: while the database is unavailable a failed request keeps its own error; a broken database is reported", async () => {
  const refused = new GatewayError("NO_HEALTHY_PROVIDER", { message: "every target failed definitely" });
  const failWith = (reason: Error) => {
    const fail = async () => {
      throw reason;
    };
    return { release: fail, burn: fail };
  };
  const refuse = async () => {
    throw refused;
  };
  await assert.rejects(ask(refuse, { key: "disconnected" }, failWith(DISCONNECTED)), refused);
  assert.equal(await stateOf("disconnected"), "reserved");
  await assert.rejects(ask(refuse, { key: "broken" }, failWith(BROKEN)), BROKEN);
  const burning = async (slot: ClaimedSlot) => {
    await slot.burn();
    return REPLY;
  };
  await assert.rejects(ask(burning, { key: "burn" }, failWith(BROKEN)), BROKEN);
  const faulty = async (slot: ClaimedSlot) => {
    slot.markDispatched();
    throw new Error("an internal error");
  };
  await assert.rejects(ask(faulty, { key: "leave" }, failWith(BROKEN)), BROKEN);
});

test("idempotency.outage-refusal: a claim or a reservation that finds no database is retryable, and began nothing", async () => {
  const fails = () => Promise.reject(DISCONNECTED);
  await assert.rejects(ask(neverRuns, {}, { claim: fails }), { code: "OVERLOADED", retryAfterSeconds: 2 });
  assert.deepEqual(uses, []);
  const failing = ask(async (slot) => {
    await keeperFor(slot, { reserve: fails }).journal.reserve(reservation());
    return REPLY;
  });
  await assert.rejects(failing, { code: "OVERLOADED" });
  assert.equal(await stateOf(), undefined);
});

test("idempotency.release-refused, metering.refusal-keeps-slot: a reservation beyond the budget is refused, and leaves the key free", async () => {
  await database.db
    .insertInto("budgets")
    .values({
      id: newId("budget"),
      workspace_id: tenant.workspaceId,
      app_id: tenant.appId,
      period: "total",
      limit_nano_usd: 1n,
      managed_by: "test",
    })
    .execute();
  const failing = ask(async (slot) => {
    await keeperFor(slot).journal.reserve(reservation());
    return REPLY;
  });
  await assert.rejects(failing, { code: "BUDGET_EXCEEDED" });
  assert.equal(await stateOf(), undefined);
});

test("idempotency.fencing: an owner that lost the key while measuring is refused as in progress, calls no provider and takes nothing from the new owner", async () => {
  let taken: SlotRef | null = null;
  const item = reservation();
  const failing = ask(async (slot) => {
    await shiftClock(database, 31);
    const claim = await idempotency.claim(request());
    taken = claim.kind === "owned" ? claim.slot : assert.fail();
    await keeperFor(slot).journal.reserve(item);
    return REPLY;
  });
  await assert.rejects(failing, { code: "IDEMPOTENCY_REPLAY_IN_PROGRESS" });
  assert.notEqual(taken, null);
  assert.deepEqual([await stateOf(), await attemptState(item)], ["reserved", undefined]);
});

test("idempotency.optional: without a key attempts are recorded alike, and no slot is written", async () => {
  const { journal, released } = keeperFor(null);
  const [first, next] = [reservation(), reservation()];
  for (const item of [first, next]) assert.equal(await journal.reserve(item), item.attemptId);
  await journal.drop(settlement(first));
  await journal.finish(settlement(next), REPLY);
  assert.deepEqual([await attemptState(first), await attemptState(next)], ["settled", "settled"]);
  assert.deepEqual([await stateOf(), released], [undefined, []]);
});

test("jobs.deletion-due: what a provider keeps falls due once the end is stored, however the call ends, and without an end a minute after the last deadline", async () => {
  type Keeper = ReturnType<typeof keeperFor>["journal"];
  const ends: Readonly<Record<string, (journal: Keeper, item: Reservation) => Promise<unknown>>> = {
    settle: (journal, item) => journal.settle(settlement(item)),
    settleTogether: (journal, item) => journal.settleTogether([settlement(item)]),
    finish: (journal, item) => journal.finish(settlement(item), REPLY),
  };
  for (const [name, end] of Object.entries(ends)) {
    await setClock(database, "2031-01-01T00:00:00Z");
    const { journal, requestId, released } = keeperFor(null);
    const item = reservation({ requestId });
    await journal.reserve(item);
    await journal.recordRemoteRun(candidate, RUN, "whole");
    const due = await dueOf(requestId);
    assert.deepEqual(
      [due?.next_at, due?.account, due?.provider, due?.test_mode, due?.run],
      [new Date("2031-01-01T00:06:00Z"), "platform/c1", "deepgram", true, RUN],
    );
    assert.deepEqual([due?.workspace_id, due?.app_id], [tenant.workspaceId, tenant.appId]);
    await setClock(database, "2031-01-01T00:01:00Z");
    const answer = await end(journal, item);
    assert.deepEqual((await dueOf(requestId))?.next_at, new Date("2031-01-01T00:01:00Z"), name);
    assert.deepEqual([await attemptState(item), released], ["settled", [requestId]], name);
    if (name === "settleTogether") assert.deepEqual(answer, [{ changed: true, slotEnded: false }]);
  }
});

test("jobs.deletion-due: a run is released for deletion only by the end of its request", async () => {
  const { journal, released, requestId } = keeperFor(null);
  const [aside, other] = [reservation({ requestId }), reservation({ requestId })];
  await journal.reserve(aside);
  await journal.reserve(other);
  await journal.settle(settlement(other));
  assert.deepEqual(released, [], "no run is known yet");
  await journal.recordRemoteRun(candidate, RUN, "whole");
  await journal.setAside({ position: 1, kind: "rejected", retryAfterSeconds: null });
  await journal.drop(settlement(aside));
  assert.deepEqual(released, [], "another target may still be asked");
});

test("jobs.deletion-durable: a settlement that fails is reported, and nothing is released for deletion before it is stored", async () => {
  const fail = () => Promise.reject(BROKEN);
  const { journal, released } = keeperFor(null, { settle: fail, settleTogether: fail });
  const item = reservation();
  await journal.recordRemoteRun(candidate, RUN, "whole");
  await assert.rejects(journal.settle(settlement(item)), BROKEN);
  await assert.rejects(journal.drop(settlement(item)), BROKEN);
  await assert.rejects(journal.settleTogether([settlement(item)]), BROKEN);
  await assert.rejects(journal.finish(settlement(item), REPLY), BROKEN);
  assert.deepEqual(released, []);
});

test("jobs.deletion-errors: a deletion that cannot be recorded is an error of the call that makes it and of the end that releases it", async () => {
  const { journal } = keeperFor(null);
  await journal.recordRemoteRun(candidate, RUN, "whole");
  deletionsFail = BROKEN;
  await assert.rejects(journal.recordRemoteRun(candidate, RUN, "whole"), BROKEN);
  const ends = [
    (item: Reservation) => journal.settle(settlement(item)),
    (item: Reservation) => journal.settleTogether([settlement(item)]),
    (item: Reservation) => journal.finish(settlement(item), REPLY),
  ];
  for (const end of ends) {
    const item = reservation();
    await journal.reserve(item);
    await assert.rejects(end(item), BROKEN);
    assert.equal(await attemptState(item), "settled");
  }
});

test("jobs.deletion-errors: a stored answer is not lost because the database was unavailable when the run was released for deletion", async () => {
  const { journal, requestId } = keeperFor(null);
  const item = reservation();
  await journal.reserve(item);
  await journal.recordRemoteRun(candidate, RUN, "whole");
  deletionsFail = DISCONNECTED;
  await journal.finish(settlement(item), REPLY);
  assert.equal(await attemptState(item), "settled");
  assert.ok((await dueOf(requestId)) !== undefined, "its own time is unchanged");
});

test("idempotency.outage-answer: a paid answer waits for an unavailable database, and is then stored and returned", async () => {
  let tries = 0;
  const item = reservation();
  const settle: Ledger["settle"] = async (settlement) => {
    tries += 1;
    if (tries <= 2) throw DISCONNECTED;
    return ledger.settle(settlement);
  };
  const reply = await ask(async (slot) => {
    const { journal } = keeperFor(slot, { settle });
    await journal.reserve(item);
    journal.dispatched?.();
    await journal.finish(settlement(item), REPLY);
    return REPLY;
  });
  assert.deepEqual([reply, tries], [REPLY, 3]);
  assert.deepEqual([await attemptState(item), await stateOf()], ["settled", "completed"]);
});

test("idempotency.outage-unknown: a result that cannot be stored until the deadline has an unknown outcome, and its key never runs again", async () => {
  const settle = async () => {
    nowMs = DEADLINE_MS;
    throw DISCONNECTED;
  };
  const verbs = {
    settle: { settle },
    settleTogether: { settleTogether: settle },
    finish: { settle },
  } as const;
  for (const [name, by] of Object.entries(verbs)) {
    nowMs = 0;
    const item = reservation();
    const failing = ask(
      async (slot) => {
        const { journal } = keeperFor(slot, by);
        await journal.reserve(item);
        journal.dispatched?.();
        if (name === "finish") await journal.finish(settlement(item), REPLY);
        else if (name === "settle") await journal.settle(settlement(item));
        else await journal.settleTogether([settlement(item)]);
        return REPLY;
      },
      { key: name },
    );
    await assert.rejects(failing, { code: "PROVIDER_RESULT_UNKNOWN", retryable: false });
    assert.equal(await stateOf(name), "burned", name);
  }
});

test("idempotency.database-errors, storage.rolled-back: a database error that no step judged is a refusal before dispatch and an unknown outcome after it", async () => {
  const before = ask(async () => Promise.reject(DISCONNECTED), { key: "before" });
  await assert.rejects(before, { code: "OVERLOADED", retryable: true, retryAfterSeconds: 2 });
  assert.equal(await stateOf("before"), undefined);
  const behind = ask(
    async (slot) => {
      slot.markDispatched();
      throw DISCONNECTED;
    },
    { key: "behind" },
  );
  await assert.rejects(behind, { code: "PROVIDER_RESULT_UNKNOWN", retryable: false });
  assert.equal(await stateOf("behind"), "burned");
});
