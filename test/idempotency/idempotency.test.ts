// The life of an idempotency slot against a real database (spec 4.1.2, contract 3, reliability 1).
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import type { AppId, WorkspaceId } from "../../src/contract/ids.ts";
import { type Claim, createIdempotency, type Idempotency, type SlotRef } from "../../src/gateway/idempotency.ts";
import type { Database } from "../../src/storage/database.ts";
import { completeSlot, dispatchSlots, MAX_STORED_BODY_BYTES } from "../../src/storage/idempotency-slots.ts";
import { createSeal } from "../../src/storage/seal.ts";
import { makeTenant, openTestDatabase, shiftClock, type TestDatabase } from "../harness/database.ts";

const DAY = 86_400;
const seal = createSeal({ keys: [randomBytes(32)] });
let database: TestDatabase;
let second: Database;
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

test("R1: of 200 concurrent claims of one key, from two processes, exactly one owns it", async () => {
  const claims = await Promise.all(
    Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? here : there).claim(request())),
  );
  assert.equal(claims.filter((claim) => claim.kind === "owned").length, 1);
  assert.equal(claims.filter((claim) => claim.kind === "in_progress").length, 199);
});

test("R2: a replay is the stored status, headers and body, byte for byte", async () => {
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

test("contract 3: a mismatch of payload or endpoint is reused, and beats in-progress, burned and completed", async () => {
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

test("contract 3: one key space per app: another app's same key is its own", async () => {
  owned(await here.claim(request()));
  const other = await makeTenant(database);
  owned(await here.claim({ ...request(), ...other }));
});

test("reliability 1: a released key is free again, for another payload too; release works before and after dispatch", async () => {
  const first = owned(await here.claim(request()));
  await here.release(first);
  const next = owned(await there.claim(request({ fingerprint: Buffer.alloc(32, 3) })));
  await dispatchSlots(database.db, [next]);
  await there.release(next);
  assert.equal(await rowOf(next), undefined);
});

test("reliability 1: what is completed or burned can be neither released, burned, nor completed again", async () => {
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

test("contract 3: only a dispatched slot can be completed", async () => {
  const slot = owned(await here.claim(request()));
  assert.equal(await completeSlot(database.db, seal, slot, reply(Buffer.from("x"))), false);
});

test("R5: an owner whose lapsed reservation was taken over can no longer change the slot", async () => {
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

test("contract 3: a lapsed dispatched slot is burned by the next claim, and never taken over", async () => {
  const slot = owned(await here.claim(request()));
  await dispatchSlots(database.db, [slot]);
  await shiftClock(database, 29);
  assert.deepEqual(await there.claim(request()), { kind: "in_progress" });
  await shiftClock(database, 31);
  assert.deepEqual(await there.claim(request({ fingerprint: Buffer.alloc(32, 9) })), { kind: "reused" });
  assert.deepEqual(await there.claim(request()), { kind: "unavailable" });
  assert.equal((await rowOf(slot))?.state, "burned");
});

test("contract 3: a renewed lease keeps the slot; ended slots are no longer renewed", async () => {
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

test("I-07: the answer is kept for 23:59:59 and gone at 24:00:01, by the database's clock alone", async () => {
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

test("contract 3: the sweep burns lapsed dispatched slots, deletes lapsed reserved ones, and purges what expired", async () => {
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

test("reliability 1: the stored body is sealed: the row holds nothing of it, and moved to another key it does not open", async () => {
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

test("reliability 1: an answer of 8 MiB is kept, a larger one burns its key", async () => {
  const fits = owned(await here.claim(request({ key: "fits" })));
  assert.equal(await complete(fits, Buffer.alloc(MAX_STORED_BODY_BYTES, 7)), true);
  const large = owned(await here.claim(request({ key: "large" })));
  assert.equal(await complete(large, Buffer.alloc(MAX_STORED_BODY_BYTES + 1)), false);
  assert.deepEqual(await here.claim(request({ key: "large" })), { kind: "unavailable" });
});
