// The life of an idempotency slot against a real database.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, mock, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type KyselyPlugin, sql } from "kysely";
import type { AppId, WorkspaceId } from "../../src/contract/ids.ts";
import {
  type Claim,
  createIdempotency,
  type Idempotency,
  type SlotRef,
} from "../../src/gateway/idempotency/idempotency.ts";
import {
  burnLapsedSlot,
  burnSlots,
  completeReservedSlots,
  completeSlot,
  dispatchSlots,
  insertSlot,
  MAX_STORED_BODY_BYTES,
  readSlot,
  releaseSlots,
  renewSlots,
  type SlotClaim,
  sweepSlots,
} from "../../src/storage/idempotency-slots.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import {
  makeTenant,
  type OpenDatabase,
  openTestDatabase,
  setClock,
  shiftClock,
  stopClock,
  type TestDatabase,
  withPlugin,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";

const DAY = 86_400;
const seal = createSeal({ keys: [randomBytes(32)] });
let database: TestDatabase;
let second: OpenDatabase;
let here: Idempotency;
let there: Idempotency;
let tenant: { workspaceId: WorkspaceId; appId: AppId };

before(async () => {
  database = await openTestDatabase();
  second = await database.openSecond();
  here = createIdempotency({ database, seal, ttlSeconds: DAY });
  there = createIdempotency({ database: second, seal, ttlSeconds: DAY });
});
after(async () => {
  here.close();
  there.close();
  await second.close();
  await database.close();
});
beforeEach(async () => {
  await shiftClock(database, 0);
  tenant = await makeTenant(database);
});

const request = (changes: { key?: string; endpoint?: string; fingerprint?: Buffer } = {}) => ({
  ...tenant,
  key: "key-1",
  endpoint: "POST /v1/transcription",
  fingerprint: Buffer.alloc(32, 1),
  ...changes,
});

function owned(claim: Claim): SlotRef {
  assert.equal(claim.kind, "owned");
  return claim.kind === "owned" ? claim.slot : assert.fail();
}

const reply = (body: Buffer) => ({
  status: 200,
  headers: { "content-type": "application/json; charset=utf-8", "x-svc-simulated": "true" },
  body,
});
const rowOf = async (slot: SlotRef) =>
  database.db
    .selectFrom("idempotency_slots")
    .selectAll()
    .where("app_id", "=", slot.appId)
    .where("key_sha256", "=", slot.keySha256)
    .executeTakeFirst();

async function complete(slot: SlotRef, body: Buffer): Promise<boolean> {
  await dispatchSlots(database.db, [slot]);
  return completeSlot(database.db, seal, slot, reply(body));
}

test("idempotency.single-call: R1, of 200 concurrent claims of one key, from two processes, exactly one owns it", async () => {
  const claims = await Promise.all(
    Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? here : there).claim(request())),
  );
  assert.equal(claims.filter((claim) => claim.kind === "owned").length, 1);
  assert.equal(claims.filter((claim) => claim.kind === "in_progress").length, 199);
});

test("idempotency.replay: R2, a replay is the stored status, headers and body, byte for byte", async () => {
  const body = randomBytes(100_000);
  const slot = owned(await here.claim(request()));
  assert.equal(await complete(slot, body), true);
  const replay = await there.claim(request());
  assert.equal(replay.kind, "replay");
  if (replay.kind !== "replay") return;
  assert.deepEqual(replay.reply.headers, reply(body).headers);
  assert.equal(replay.reply.status, 200);
  assert.ok(replay.reply.body.equals(body));
});

test("idempotency.reused: another payload or endpoint is refused as reused, also while the key is in progress, burned or completed", async () => {
  const other = { fingerprint: Buffer.alloc(32, 2) };
  const slot = owned(await here.claim(request()));
  for (const changes of [other, { endpoint: "POST /v1/translation" }])
    assert.deepEqual(await there.claim(request(changes)), { kind: "reused" });
  await dispatchSlots(database.db, [slot]);
  assert.deepEqual(await there.claim(request(other)), { kind: "reused" });
  assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
  await here.burn(slot);
  assert.deepEqual(await there.claim(request(other)), { kind: "reused" });
  assert.deepEqual(await there.claim(request()), { kind: "unavailable" });
});

test("idempotency.app-scope: one key space per app: the same key of another app is another key", async () => {
  owned(await here.claim(request()));
  const other = await makeTenant(database);
  owned(await here.claim({ ...request(), ...other }));
});

test("idempotency.release-refused, idempotency.release-definite: a released key is free again, also for another payload; release works before and after dispatch", async () => {
  const first = owned(await here.claim(request()));
  await here.release(first);
  const next = owned(await there.claim(request({ fingerprint: Buffer.alloc(32, 3) })));
  await dispatchSlots(database.db, [next]);
  await there.release(next);
  assert.equal(await rowOf(next), undefined);
});

test("idempotency.complete: a completed or burned key can be neither released, burned nor completed again", async () => {
  const slot = owned(await here.claim(request()));
  await complete(slot, Buffer.from("first"));
  await here.release(slot);
  await here.burn(slot);
  assert.equal(await completeSlot(database.db, seal, slot, reply(Buffer.from("second"))), false);
  const replay = await here.claim(request());
  assert.ok(replay.kind === "replay" && replay.reply.body.toString() === "first");
  const burned = owned(await here.claim(request({ key: "burned" })));
  await here.burn(burned);
  await here.release(burned);
  assert.equal((await rowOf(burned))?.state, "burned");
  assert.equal((await dispatchSlots(database.db, [burned])).size, 0);
});

test("idempotency.write-ahead: only a dispatched slot can be completed", async () => {
  const slot = owned(await here.claim(request()));
  assert.equal(await completeSlot(database.db, seal, slot, reply(Buffer.from("x"))), false);
});

test("idempotency.fencing: R5, an owner whose lapsed reservation was taken over can no longer change the slot", async () => {
  const old = owned(await here.claim(request()));
  await shiftClock(database, 31);
  const taken = owned(await there.claim(request()));
  assert.notEqual(taken.owner, old.owner);
  assert.equal((await dispatchSlots(database.db, [old])).size, 0);
  await here.burn(old);
  await here.release(old);
  assert.equal(await completeSlot(database.db, seal, old, reply(Buffer.from("late"))), false);
  assert.equal((await rowOf(taken))?.owner, taken.owner);
});

test("idempotency.crash: a lapsed dispatched slot is burned by the next claim, and never taken over", async () => {
  const setSeconds = await stopClock(database);
  const slot = owned(await here.claim(request()));
  await dispatchSlots(database.db, [slot]);
  await setSeconds(29);
  assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
  await setSeconds(31);
  assert.deepEqual(await there.claim(request({ fingerprint: Buffer.alloc(32, 9) })), { kind: "reused" });
  assert.deepEqual(await there.claim(request()), { kind: "unavailable" });
  assert.equal((await rowOf(slot))?.state, "burned");
});

test("idempotency.lease: a renewed lease keeps the slot; ended slots are no longer renewed", async () => {
  const slot = owned(await here.claim(request()));
  await shiftClock(database, 25);
  await here.renew();
  await shiftClock(database, 50);
  assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
  await complete(slot, Buffer.from("done"));
  const before = (await rowOf(slot))?.lease_until.getTime();
  await shiftClock(database, 60);
  await here.renew();
  assert.equal((await rowOf(slot))?.lease_until.getTime(), before);
});

test("idempotency.ttl, idempotency.ttl-clock: the answer is kept for 23:59:59 and gone at 24:00:01, by the database's clock alone", async () => {
  const slot = owned(await here.claim(request()));
  await complete(slot, Buffer.from("kept"));
  await shiftClock(database, DAY - 1);
  assert.equal((await there.claim(request())).kind, "replay");
  await shiftClock(database, DAY + 1);
  const again = await Promise.all(
    Array.from({ length: 50 }, () => there.claim(request({ fingerprint: Buffer.alloc(32, 5) }))),
  );
  assert.equal(again.filter((claim) => claim.kind === "owned").length, 1);
  assert.equal(again.filter((claim) => claim.kind === "in_progress").length, 49);
});

test("idempotency.ttl-running: a request that outlasts the life of its key is still in progress, and its key is free when it ends", async () => {
  const brief = createIdempotency({ database, seal, ttlSeconds: 60 });
  const [reserved, dispatched] = await Promise.all(
    ["r", "d"].map(async (key) => owned(await brief.claim(request({ key })))),
  );
  assert.ok(reserved !== undefined && dispatched !== undefined);
  await dispatchSlots(database.db, [dispatched]);
  for (const seconds of [25, 50, 75]) {
    await shiftClock(database, seconds);
    await brief.renew();
  }
  await there.sweep();
  for (const key of ["r", "d"]) {
    assert.deepEqual(await there.claim(request({ key })), { kind: "in_progress" });
    assert.deepEqual(await there.claim(request({ key, fingerprint: Buffer.alloc(32, 5) })), { kind: "reused" });
  }
  assert.equal(await complete(dispatched, Buffer.from("late")), true);
  owned(await there.claim(request({ key: "d" })));
  await shiftClock(database, 106);
  owned(await there.claim(request({ key: "r" })));
  brief.close();
});

test("idempotency.sweep: the sweep burns lapsed dispatched slots, deletes lapsed reserved ones, and purges what expired", async () => {
  await shiftClock(database, 10 * DAY);
  await here.sweep();
  await shiftClock(database, 0);
  const [reserved, dispatched, completed, burned] = await Promise.all(
    ["r", "d", "c", "b"].map(async (key) => owned(await here.claim(request({ key })))),
  );
  assert.ok(reserved !== undefined && dispatched !== undefined && completed !== undefined && burned !== undefined);
  await dispatchSlots(database.db, [dispatched]);
  await complete(completed, Buffer.from("answer"));
  await here.burn(burned);
  assert.deepEqual(await here.sweep(), { burned: 0, released: 0, purged: 0 });
  await shiftClock(database, 31);
  assert.deepEqual(await here.sweep(), { burned: 1, released: 1, purged: 0 });
  assert.equal(await rowOf(reserved), undefined);
  assert.equal((await rowOf(dispatched))?.state, "burned");
  assert.equal((await rowOf(completed))?.state, "completed");
  await shiftClock(database, DAY + 1);
  assert.deepEqual(await here.sweep(), { burned: 0, released: 0, purged: 3 });
});

test("idempotency.sealed: the row contains nothing of the stored body, and moved to another key the body does not open", async () => {
  const canary = "canary transcript that must not be readable";
  const slot = owned(await here.claim(request()));
  await complete(slot, Buffer.from(canary));
  const row = await rowOf(slot);
  assert.ok(row?.body !== undefined && row.body !== null);
  assert.ok(!row.body.includes(canary) && !row.body.includes(canary.slice(0, 8)));
  const moved = owned(await here.claim(request({ key: "moved" })));
  await complete(moved, Buffer.from("other"));
  await database.db
    .updateTable("idempotency_slots")
    .set({ body: row.body })
    .where("key_sha256", "=", moved.keySha256)
    .where("app_id", "=", moved.appId)
    .execute();
  await assert.rejects(here.claim(request({ key: "moved" })));
});

/** Every slot of the installation, whatever its state, with what a verb could change of it. */
async function allSlots(): Promise<readonly unknown[]> {
  return database.db
    .selectFrom("idempotency_slots")
    .select(["app_id", "key_sha256", "owner", "state", "status", "lease_until", "expires_at"])
    .orderBy("app_id")
    .orderBy("key_sha256")
    .execute();
}

/** The same key of a neighbour, and other keys of this app, in every state; leases of all of them are over after 30 s. */
async function makeBystanders(): Promise<void> {
  const neighbour = await makeTenant(database);
  for (const whose of [tenant, neighbour])
    for (const key of whose === neighbour ? ["key-1", "aside"] : ["aside"]) {
      owned(await here.claim({ ...request({ key }), ...whose }));
      await dispatchSlots(database.db, [
        owned(await here.claim({ ...request({ key: `${key} dispatched` }), ...whose })),
      ]);
      await complete(owned(await here.claim({ ...request({ key: `${key} completed` }), ...whose })), Buffer.from(key));
    }
  await dispatchSlots(database.db, [owned(await here.claim({ ...request(), ...(await makeTenant(database)) }))]);
}

test("idempotency.isolated-slots: R1, an operation on one slot changes that slot alone, whichever app owns the others and whatever state they are in", async () => {
  const verbs: readonly (readonly [
    name: string,
    state: string | undefined,
    work: (slot: SlotRef) => Promise<unknown>,
  ])[] = [
    ["dispatch", "dispatched", (slot) => dispatchSlots(database.db, [slot])],
    ["burn", "burned", (slot) => burnSlots(database.db, [slot])],
    ["release", undefined, (slot) => releaseSlots(database.db, [slot])],
    ["renew", "reserved", (slot) => renewSlots(database.db, [slot])],
    ["complete", "completed", (slot) => complete(slot, Buffer.from("one"))],
    ["complete a reserved one", "completed", (slot) => completeReserved(slot, new Date("2030-01-01T00:00:00Z"))],
    [
      "burn a lapsed one",
      "burned",
      async (slot) => {
        await dispatchSlots(database.db, [slot]);
        await shiftClock(database, 3_600);
        await burnLapsedSlot(database.db, slot);
      },
    ],
  ];
  await makeBystanders();
  for (const [name, state, work] of verbs) {
    await shiftClock(database, 0);
    const before = await allSlots();
    const slot = owned(await here.claim(request({ key: `one to ${name}` })));
    await work(slot);
    assert.equal((await rowOf(slot))?.state, state, name);
    await database.db.deleteFrom("idempotency_slots").where("owner", "=", slot.owner).execute();
    assert.deepEqual(await allSlots(), before, name);
  }
});

test("idempotency.isolated-slots: R2, a claim is judged by its own slot, whatever its neighbours hold", async () => {
  await makeBystanders();
  const slot = owned(await here.claim(request()));
  assert.deepEqual(await here.claim(request()), { kind: "in_progress" });
  await complete(slot, Buffer.from("mine"));
  const replay = await here.claim(request());
  assert.ok(replay.kind === "replay" && replay.reply.body.toString() === "mine");
  const other = await here.claim(request({ key: "aside completed" }));
  assert.ok(other.kind === "replay" && other.reply.body.toString() === "aside");
});

const completeReserved = async (slot: SlotRef, expiresAt: Date) => {
  const completion = { ref: slot, reply: reply(Buffer.from("job")), expiresAt };
  return (await database.transaction((tx) => completeReservedSlots(tx, seal, [completion]))).has(slot.owner);
};

test("idempotency.job-completion, idempotency.job-ttl: a job's submission completes a slot that was only reserved, and its key lives as long as its result", async () => {
  const slot = owned(await here.claim(request()));
  const expiresAt = new Date(Date.now() + 10 * DAY * 1_000);
  assert.equal(await completeReserved(slot, expiresAt), true);
  assert.deepEqual((await rowOf(slot))?.expires_at, expiresAt);
  await shiftClock(database, 9 * DAY);
  const replay = await there.claim(request());
  assert.ok(replay.kind === "replay" && replay.reply.body.toString() === "job");
});

test("idempotency.job-completion: a submission whose slot was taken over completes nothing", async () => {
  const far = new Date(Date.now() + 10 * DAY * 1_000);
  const old = owned(await here.claim(request()));
  await shiftClock(database, 31);
  const taken = owned(await there.claim(request()));
  assert.equal(await completeReserved(old, far), false);
  assert.equal((await rowOf(taken))?.state, "reserved");
});

test("idempotency.lease, idempotency.ttl: a lease and a key's life end at their very second, for every operation alike", async () => {
  const at = (seconds: number) => setClock(database, new Date(Date.UTC(2031, 0, 1) + seconds * 1_000).toISOString());
  await at(0);
  const reserved = owned(await here.claim(request({ key: "reserved" })));
  const [dispatched, swept, ended] = await Promise.all(
    ["dispatched", "swept", "ended"].map(async (key) => owned(await here.claim(request({ key })))),
  );
  assert.ok(dispatched !== undefined && swept !== undefined && ended !== undefined);
  await dispatchSlots(database.db, [dispatched, swept]);
  await complete(ended, Buffer.from("x"));
  owned(await here.claim(request({ key: "lapsing" })));
  await at(29);
  assert.deepEqual(await here.claim(request({ key: "reserved" })), { kind: "in_progress" });
  await at(30);
  assert.notEqual(owned(await here.claim(request({ key: "reserved" }))).owner, reserved.owner);
  assert.deepEqual(await here.claim(request({ key: "dispatched" })), { kind: "unavailable" });
  assert.equal((await rowOf(dispatched))?.state, "burned");
  const round = await here.sweep();
  assert.deepEqual([round.burned >= 1, round.released >= 1], [true, true]);
  assert.equal((await rowOf(swept))?.state, "burned");
  assert.equal((await claimRow("lapsing")).length, 0);
  await at(DAY - 1);
  assert.equal((await here.claim(request({ key: "ended" }))).kind, "replay");
  await at(DAY);
  const claim: SlotClaim = { ref: ended, endpoint: "e", fingerprint: Buffer.alloc(32), ttlSeconds: DAY };
  assert.equal(await readSlot(database.db, claim), null);
  owned(await here.claim(request({ key: "ended" })));
  await here.sweep();
  assert.equal(await rowOf(dispatched), undefined);
});

async function claimRow(key: string): Promise<readonly unknown[]> {
  const { rows } = await sql`select 1 from idempotency_slots
    where app_id = ${tenant.appId} and key_sha256 = sha256(convert_to(${key}, 'UTF8'))`.execute(database.db);
  return rows;
}

test("idempotency.lease: a renewal keeps reserved and dispatched slots, and returns exactly those that are still held", async () => {
  const slots = await Promise.all(
    ["reserved", "dispatched", "completed", "burned"].map(async (key) => owned(await here.claim(request({ key })))),
  );
  const [reserved, dispatched, completed, burned] = slots;
  assert.ok(reserved !== undefined && dispatched !== undefined && completed !== undefined && burned !== undefined);
  await dispatchSlots(database.db, [dispatched]);
  await complete(completed, Buffer.from("x"));
  await burnSlots(database.db, [burned]);
  await shiftClock(database, 25);
  assert.deepEqual(await renewSlots(database.db, slots), new Set([reserved.owner, dispatched.owner]));
  await shiftClock(database, 50);
  assert.deepEqual(await here.sweep(), { burned: 0, released: 0, purged: 0 });
  for (const key of ["reserved", "dispatched"])
    assert.deepEqual(await here.claim(request({ key })), { kind: "in_progress" });
});

test("idempotency.lease: a held slot is renewed again and again, for as long as it is held", async () => {
  owned(await here.claim(request()));
  for (const seconds of [25, 50, 75, 100]) {
    await shiftClock(database, seconds);
    await here.renew();
  }
  await shiftClock(database, 125);
  assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
});

/** A handle that reports each statement once it has run, and how many rows it returned. */
function watched(onStatement: (rows: number) => Promise<void> | void): OpenDatabase["db"] {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      await onStatement(result.rows.length);
      return result;
    },
  };
  return withPlugin(database, plugin);
}

/** A handle whose statements fail as a server fails them that is being replaced. */
function failingDatabase(code: string) {
  const failure = () => Object.assign(new Error("the server is being replaced"), { code });
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (failing.mode === "refuses") throw failure();
      return node;
    },
    transformResult: async ({ result }) => {
      if (failing.mode === "commits without an answer") throw failure();
      return result;
    },
  };
  const failing = {
    db: withPlugin(database, plugin),
    mode: "works" as "works" | "refuses" | "commits without an answer",
  };
  return failing;
}

test("idempotency.lease, idempotency.lease-idle: held slots are renewed every 10 s by a timer, and a gateway that holds none sends no query", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  let statements = 0;
  let queried = Promise.withResolvers<void>();
  const db = watched(() => {
    statements += 1;
    if (statements === 2) queried.resolve();
  });
  const own = createIdempotency({ database: withSystemAccess(database, { db }), seal, ttlSeconds: DAY });
  const round = async (seconds: number) => {
    statements = 0;
    queried = Promise.withResolvers<void>();
    mock.timers.tick(seconds * 1_000);
    return queried.promise;
  };
  const silent = async () => {
    void round(10);
    await nextTurn();
    await own.release({ ...slot, owner: "nobody" });
    assert.equal(statements, 1, "the release, and nothing before it");
  };
  let slot = owned(await own.claim(request()));
  try {
    await shiftClock(database, 25);
    void round(9.999);
    await nextTurn();
    assert.equal(statements, 0);
    await round(0.001);
    await shiftClock(database, 50);
    assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
    await own.release(slot);
    await silent();
    slot = owned(await own.claim(request({ key: "to burn" })));
    await own.burn(slot);
    await silent();
    slot = owned(await own.claim(request({ key: "to complete" })));
    await complete(slot, Buffer.from("x"));
    // Completing is the ledger's: the next renewal finds it out, and then nothing is left to renew.
    await own.renew();
    await silent();
    owned(await own.claim(request({ key: "left" })));
    own.close();
    await silent();
  } finally {
    own.close();
    mock.timers.reset();
  }
});

test("idempotency.lease-idle: a failed renewal is logged", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  const failed = Promise.withResolvers<unknown>();
  let isUnavailable = false;
  const db = watched(() => {
    if (isUnavailable) throw new Error("unavailable");
  });
  const own = createIdempotency({
    database: withSystemAccess(database, { db }),
    seal,
    ttlSeconds: DAY,
    renewEveryMs: 500,
    onRenewalError: failed.resolve,
  });
  try {
    owned(await own.claim(request()));
    isUnavailable = true;
    mock.timers.tick(500);
    assert.equal(String(await failed.promise), "Error: unavailable");
  } finally {
    own.close();
    mock.timers.reset();
  }
});

test("idempotency.contention: a slot that is freed between a lost claim and its reading is claimed after all", async () => {
  const other = owned(await there.claim(request()));
  let lost = 0;
  const db = watched(async (rows) => {
    if (rows > 0) return;
    lost += 1;
    if (lost === 1) await there.release(other);
  });
  const own = createIdempotency({ database: withSystemAccess(database, { db }), seal, ttlSeconds: DAY });
  owned(await own.claim(request()));
  own.close();
  assert.equal(lost, 2, "the insert that lost, and the look that found nothing");
});

test("idempotency.contention: a key that others claim and free all the time is in progress after five tries", async () => {
  let other = owned(await there.claim(request()));
  let lost = 0;
  const db = watched(async (rows) => {
    if (rows > 0) return;
    lost += 1;
    if (lost % 2 === 1) await there.release(other);
    else other = owned(await there.claim(request()));
  });
  const own = createIdempotency({ database: withSystemAccess(database, { db }), seal, ttlSeconds: DAY });
  assert.deepEqual(await own.claim(request()), { kind: "in_progress" });
  own.close();
  assert.equal(lost, 10);
});

for (const [verb, wanted] of [
  ["claim", undefined],
  ["release", undefined],
  ["burn", "burned"],
] as const) {
  test(`idempotency.outage-release, storage.failover-keys: a ${verb} that an unavailable database did not confirm leaves its key ${wanted ?? "free"} as soon as the database is back`, async () => {
    const failing = failingDatabase("25006");
    const { db } = failing;
    // A lease never lapses while this clock is stopped.
    await setClock(database, "2031-01-01T00:00:00Z");
    const own = createIdempotency({ database: withSystemAccess(database, { db }), seal, ttlSeconds: DAY });
    try {
      if (verb === "claim") {
        failing.mode = "commits without an answer";
        await assert.rejects(own.claim(request()), { code: "25006" });
      } else {
        const slot = owned(await own.claim(request()));
        failing.mode = "refuses";
        await own[verb](slot);
      }
      failing.mode = "refuses";
      assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
      await assert.rejects(own.claim(request()), { code: "25006" });
      failing.mode = "works";
      // In the background, for other processes.
      const seen = () => there.claim(request());
      let claim = await seen();
      await until(async () => {
        if (claim.kind === "in_progress") claim = await seen();
        return claim.kind !== "in_progress";
      });
      assert.equal(claim.kind, wanted === "burned" ? "unavailable" : "owned");
    } finally {
      own.close();
      await shiftClock(database, 0);
    }
  });
}

test("idempotency.outage-release: the process that could not free a key frees it at the next claim, without waiting for its own retry", async () => {
  const failing = failingDatabase("57P01");
  const { db } = failing;
  mock.timers.enable({ apis: ["setTimeout"] });
  const own = createIdempotency({ database: withSystemAccess(database, { db }), seal, ttlSeconds: DAY });
  try {
    const slot = owned(await own.claim(request()));
    failing.mode = "refuses";
    await own.release(slot);
    failing.mode = "works";
    owned(await own.claim(request()));
  } finally {
    own.close();
    mock.timers.reset();
  }
});

test("idempotency.database-errors: a database error fails the operation that met it, in every operation", async () => {
  const slot = owned(await here.claim(request()));
  const claim: SlotClaim = { ref: slot, endpoint: "e", fingerprint: Buffer.alloc(32), ttlSeconds: DAY };
  const undone = new Error("nothing of this is kept");
  const failing = database.transaction(async (tx) => {
    await assert.rejects(sql`select 1 / 0`.execute(tx));
    // From here on the server refuses whatever is asked in this transaction.
    const own = createIdempotency({ database: withSystemAccess(database, { db: tx }), seal, ttlSeconds: DAY });
    own.close();
    const verbs = {
      claim: () => own.claim(request()),
      release: () => own.release(slot),
      burn: () => own.burn(slot),
      sweep: () => own.sweep(),
      insertSlot: () => insertSlot(tx, claim),
      readSlot: () => readSlot(tx, claim),
      burnLapsedSlot: () => burnLapsedSlot(tx, slot),
      dispatchSlots: () => dispatchSlots(tx, [slot]),
      renewSlots: () => renewSlots(tx, [slot]),
      completeSlot: () => completeSlot(tx, seal, slot, reply(Buffer.from("x"))),
      completeLarge: () => completeSlot(tx, seal, slot, reply(Buffer.alloc(MAX_STORED_BODY_BYTES + 1))),
      completeReservedSlots: () =>
        completeReservedSlots(tx, seal, [{ ref: slot, reply: reply(Buffer.from("x")), expiresAt: new Date() }]),
      sweepSlots: () => sweepSlots(tx),
    };
    for (const [name, verb] of Object.entries(verbs)) await assert.rejects(verb(), /aborted/, name);
    throw undone;
  });
  await assert.rejects(failing, undone);
  assert.equal((await rowOf(slot))?.state, "reserved");
});

test("idempotency.database-errors: a claim that could not burn a lapsed slot fails", async () => {
  const slot = owned(await here.claim(request()));
  await dispatchSlots(database.db, [slot]);
  await shiftClock(database, 31);
  let statements = 0;
  const db = watched(() => {
    statements += 1;
    if (statements === 3) throw new Error("unavailable");
  });
  const own = createIdempotency({ database: withSystemAccess(database, { db }), seal, ttlSeconds: DAY });
  await assert.rejects(own.claim(request()), /^Error: unavailable$/);
  own.close();
});

test("idempotency.lease-idle: the renewal timer keeps no process alive", () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const own = createIdempotency({ database, seal, ttlSeconds: DAY });
  assert.equal(timers(), before);
  own.close();
});

test("idempotency.isolated-slots: an operation on no slots sends no query", async () => {
  let asked = 0;
  const db = watched(() => {
    asked += 1;
  });
  await releaseSlots(db, []);
  await burnSlots(db, []);
  assert.deepEqual([await dispatchSlots(db, []), await renewSlots(db, [])], [new Set(), new Set()]);
  assert.equal(asked, 0);
});

test("idempotency.sweep: the sweep ends all due slots, at most 1,000 per statement", async () => {
  await shiftClock(database, 20 * DAY);
  await here.sweep();
  await sql`
    insert into idempotency_slots (app_id, key_sha256, workspace_id, endpoint, fingerprint, state, owner, lease_until, expires_at)
    select ${tenant.appId}, sha256(convert_to('many ' || n, 'UTF8')), ${tenant.workspaceId}, 'e', ''::bytea, 'reserved', 'o', patchbay_now(),
      patchbay_now() + interval '1 day'
    from generate_series(1, 2001) as n`.execute(database.db);
  let asked = 0;
  const db = watched(() => {
    asked += 1;
  });
  assert.deepEqual(await sweepSlots(db), { burned: 0, released: 2_001, purged: 0 });
  assert.equal(asked, 1 + 3 + 1);
});

test("idempotency.no-lock-wait: neither a renewal nor a sweep waits for a slot that another transaction holds", async () => {
  const slot = owned(await here.claim(request()));
  await shiftClock(database, 31);
  await second.transaction(async (tx) => {
    await sql`select 1 from idempotency_slots where owner = ${slot.owner} for update`.execute(tx);
    // Were they to wait, it would be for this transaction, which waits for them.
    await here.sweep();
    await here.renew();
    assert.equal((await rowOf(slot))?.state, "reserved");
  });
  return undefined;
});

test("idempotency.redispatch: the owner of a dispatched slot dispatches it again for its next attempt, with a new lease", async () => {
  const slot = owned(await here.claim(request()));
  await dispatchSlots(database.db, [slot]);
  await shiftClock(database, 25);
  assert.deepEqual(await dispatchSlots(database.db, [slot]), new Set([slot.owner]));
  await shiftClock(database, 50);
  assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
});

test("idempotency.answer-size: an answer of 8 MiB is stored, a larger one burns its key", async () => {
  assert.equal(MAX_STORED_BODY_BYTES, 8_388_608);
  const fits = owned(await here.claim(request({ key: "fits" })));
  assert.equal(await complete(fits, Buffer.alloc(MAX_STORED_BODY_BYTES, 7)), true);
  const replay = await here.claim(request({ key: "fits" }));
  assert.ok(replay.kind === "replay" && replay.reply.body.length === MAX_STORED_BODY_BYTES);
  // It is stored in a few hundred bytes, and read in pieces all the same: within the bounds of large answers.
  assert.equal(replay.reply.isExclusive, true);
  const large = owned(await here.claim(request({ key: "large" })));
  assert.equal(await complete(large, Buffer.alloc(MAX_STORED_BODY_BYTES + 1)), false);
  assert.deepEqual(await here.claim(request({ key: "large" })), { kind: "unavailable" });
});
