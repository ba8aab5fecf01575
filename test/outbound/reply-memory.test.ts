// The budget of replies: shared by all, fair between owners, with an end to each wait.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { createReplyMemory, type ReplyLease, type ReplyMemory } from "../../src/outbound/reply-memory.ts";

const open = (memory: ReplyMemory, owner: string, bytes: number): ReplyLease => {
  const lease = memory.open(owner);
  assert.equal(lease.reserve(bytes), true);
  return lease;
};
const isPending = async (promise: Promise<unknown>) =>
  (await Promise.race([promise, Promise.resolve("pending")])) === "pending";

test("providers.reply-memory: R17, one owner leaves a quarter to others, who are served at once", () => {
  const memory = createReplyMemory({ totalBytes: 400 });
  using _ = open(memory, "a", 300);
  assert.notEqual(memory.open("a").reserve(1), true);
  using others = open(memory, "b", 100);
  assert.equal(memory.heldBytes, 400);
  assert.equal(others.bytes, 100);
});

test("providers.reply-memory: R17, a waiting owner is granted memory when it is free, before smaller claims that came later", async () => {
  const memory = createReplyMemory({ totalBytes: 400 });
  const first = open(memory, "a", 250);
  const second = open(memory, "a", 50);
  const waiting = memory.open("b").reserve(200);
  assert.ok(waiting instanceof Promise);
  // Would fit, and would keep the larger one waiting for ever.
  const later = memory.open("c").reserve(60);
  assert.ok(later instanceof Promise);
  second[Symbol.dispose]();
  assert.equal(await isPending(waiting), true);
  first[Symbol.dispose]();
  assert.equal(await waiting, true);
  assert.equal(await later, true);
});

test("providers.reply-memory: R17, an owner that waits for its own replies delays no other", async () => {
  const memory = createReplyMemory({ totalBytes: 400 });
  using _ = open(memory, "a", 300);
  const own = memory.open("a").reserve(50);
  assert.ok(own instanceof Promise);
  assert.equal(memory.open("b").reserve(80), true);
});

test("providers.reply-memory: R17, a wait has an end, and what is larger than any share counts as the largest", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const memory = createReplyMemory({ totalBytes: 400, waitMs: 1_000 });
    const held = open(memory, "a", 10_000);
    assert.equal(held.bytes, 300);
    const waiting = memory.open("a").reserve(10);
    assert.ok(waiting instanceof Promise);
    mock.timers.tick(1_000);
    assert.equal(await waiting, false);
    held[Symbol.dispose]();
    assert.equal(memory.heldBytes, 0);
  } finally {
    mock.timers.reset();
  }
});

test("providers.reply-memory: R17, a reply that is given up while it waits holds nothing afterwards", async () => {
  const memory = createReplyMemory({ totalBytes: 400 });
  const held = open(memory, "a", 300);
  const lease = memory.open("a");
  const waiting = lease.reserve(100);
  lease[Symbol.dispose]();
  held[Symbol.dispose]();
  await waiting;
  assert.equal(memory.heldBytes, 0);
});
