// Answers that are not read are counted, and over the budget the slowest reader is disconnected.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { mock, test } from "node:test";
import { createUnreadBudget } from "../../../src/http/reply/unread-budget.ts";

/** A connection with an answer of `total` bytes, of which its reader takes as much as the test says. */
function connection(total: number) {
  let waiting = total;
  let destroyed = false;
  const socket = {
    bytesWritten: total,
    get _handle() {
      return { writeQueueSize: waiting };
    },
    destroy: () => {
      destroyed = true;
    },
  } as unknown as Socket;
  return {
    socket,
    take: (bytes: number) => {
      waiting -= bytes;
    },
    isDestroyed: () => destroyed,
  };
}

test("api.unread-budget: R17: over the budget the slowest reader is disconnected, and the others continue", () => {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    const budget = createUnreadBudget({ totalBytes: 300, nowMs: () => 0 });
    const [stuck, slow, fast] = [connection(100), connection(100), connection(100)] as const;
    for (const { socket } of [fast, slow, stuck]) budget.add(socket, { bytes: 100 });
    slow.take(1);
    fast.take(50);
    mock.timers.tick(1_000);
    const fourth = connection(100);
    budget.add(fourth.socket, { bytes: 100 });
    assert.deepEqual(
      [stuck, slow, fast, fourth].map((each) => each.isDestroyed()),
      [true, false, false, false],
    );
    const fifth = connection(100);
    budget.add(fifth.socket, { bytes: 100 });
    assert.deepEqual([slow.isDestroyed(), fast.isDestroyed()], [true, false]);
    assert.equal(budget.heldBytes, 300);
  } finally {
    mock.timers.reset();
  }
});

test("api.unread-shared: R17: one buffer that many read counts once, and until the last of them has it", () => {
  const budget = createUnreadBudget({ totalBytes: 150 });
  const shared = Buffer.alloc(100);
  const readers = Array.from({ length: 50 }, () => connection(100));
  const taken = readers.map(({ socket }) => budget.add(socket, { bytes: 100, shared }));
  assert.equal(budget.heldBytes, 100);
  assert.ok(readers.every((each) => !each.isDestroyed()));
  for (const done of taken) {
    assert.equal(budget.heldBytes, 100);
    done();
  }
  assert.equal(budget.heldBytes, 0);
});

test("api.unread-shared: R17: an answer larger than the budget is sent while it is the only one", () => {
  const budget = createUnreadBudget({ totalBytes: 150 });
  const [first, second] = [connection(1_000), connection(1_000)] as const;
  budget.add(first.socket, { bytes: 1_000 });
  assert.equal(first.isDestroyed(), false);
  budget.add(second.socket, { bytes: 1_000 });
  assert.deepEqual([first.isDestroyed(), second.isDestroyed()], [true, false]);
});

test("api.unread-reserve: R17: an answer counts before it is made, and the slowest reader is disconnected for it", () => {
  const budget = createUnreadBudget({ totalBytes: 300 });
  const [first, second, third] = [connection(100), connection(100), connection(200)] as const;
  for (const { socket } of [first, second]) budget.add(socket, { bytes: 100 });
  const made = budget.reserve(third.socket);
  made.grow(100);
  assert.equal(first.isDestroyed(), false);
  made.grow(100);
  assert.deepEqual(
    [first, second, third].map((each) => each.isDestroyed()),
    [true, false, false],
  );
  assert.equal(budget.heldBytes, 300);
  made.release();
  assert.equal(budget.heldBytes, 100);
});

test("api.unread-reserve: R17: where other answers in the making fill the budget, one more is refused with OVERLOADED", () => {
  const budget = createUnreadBudget({ totalBytes: 300 });
  const [one, other] = [budget.reserve(connection(0).socket), budget.reserve(connection(0).socket)] as const;
  one.grow(1_000);
  assert.throws(() => other.grow(100), { code: "OVERLOADED" });
  assert.equal(budget.heldBytes, 1_000);
  one.release();
  other.grow(100);
  assert.equal(budget.heldBytes, 100);
});

test("api.unread-budget: R17: readers of small answers, and of a buffer that others hold too, stay while a large one can be disconnected", () => {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    const budget = createUnreadBudget({ totalBytes: 300, largeBytes: 50, nowMs: () => 0 });
    const [small, sharer, large, next] = [connection(10), connection(100), connection(100), connection(200)] as const;
    const shared = Buffer.alloc(100);
    budget.add(small.socket, { bytes: 10 });
    for (const { socket } of [sharer, connection(100)]) budget.add(socket, { bytes: 100, shared });
    budget.add(large.socket, { bytes: 90 });
    large.take(50);
    mock.timers.tick(1_000);
    budget.add(next.socket, { bytes: 101 });
    assert.deepEqual(
      [small, sharer, large, next].map((each) => each.isDestroyed()),
      [false, false, true, false],
    );
  } finally {
    mock.timers.reset();
  }
});
