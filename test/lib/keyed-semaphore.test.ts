// The keyed semaphore: its limits in all, per kind and per owner, and who is next when a place is free.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createKeyedSemaphore, type ConcurrencyLimits } from "../../src/lib/concurrency/keyed-semaphore.ts";

const NEVER = new AbortController().signal;

function open(most: ConcurrencyLimits) {
  const places = createKeyedSemaphore(most);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const enter = (name: string, kind: string, owner: string, signal = NEVER): Promise<void> =>
    places.run(
      kind,
      signal,
      () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
      owner,
    );
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await turn();
  };
  return { begun, enter, end };
}

test("api.fair-turns: a free place goes to the owner served longest ago, and first come, first served within one owner", async () => {
  const { begun, enter, end } = open({ total: 1, perKind: 1 });
  const all = ["a1", "a2", "a3", "b1", "c1", "b2"].map((name) => enter(name, "kind", name.charAt(0)));
  await turn();
  for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) await end(name);
  await Promise.all(all);
  assert.deepEqual(begun, ["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("api.fair-turns: one owner has a limit of its own, whatever the kinds; others and work without an owner continue", async () => {
  const { begun, enter, end } = open({ total: 4, perKind: 2, perOwner: 2 });
  const all = [
    enter("a1", "x", "a"),
    enter("a2", "y", "a"),
    enter("a3", "z", "a"),
    enter("b1", "x", "b"),
    enter("n1", "y", ""),
  ];
  await turn();
  assert.deepEqual(begun, ["a1", "a2", "b1", "n1"]);
  await end("b1");
  assert.deepEqual(begun, ["a1", "a2", "b1", "n1"]);
  for (const name of ["a1", "a2", "n1", "a3"]) await end(name);
  await Promise.all(all);
  assert.equal(begun.at(-1), "a3");
});

test("api.fair-turns: a place that was the last of its kind and the last of its owner lets one of each continue", async () => {
  const { begun, enter, end } = open({ total: 4, perKind: 1, perOwner: 1 });
  const all = [enter("a1", "x", "a"), enter("b1", "x", "b"), enter("a2", "y", "a")];
  await turn();
  assert.deepEqual(begun, ["a1"]);
  await end("a1");
  assert.deepEqual(begun, ["a1", "b1", "a2"]);
  for (const name of ["b1", "a2"]) await end(name);
  await Promise.all(all);
});

test("api.wait-abort: a waiter that is aborted leaves the queue and takes no one's turn", async () => {
  const { begun, enter, end } = open({ total: 1, perKind: 1 });
  const gone = new AbortController();
  const first = enter("a1", "x", "a");
  const given = enter("b1", "x", "b", gone.signal);
  const last = enter("a2", "x", "a");
  gone.abort(new Error("gone"));
  await assert.rejects(given, /gone/u);
  await turn();
  await end("a1");
  await end("a2");
  await Promise.all([first, last]);
  assert.deepEqual(begun, ["a1", "a2"]);
});

test("api.fair-turns: below the other limits a place goes to the next of its own owner, and an aborted waiter gets none", async () => {
  const { begun, enter, end } = open({ total: 9, perKind: 9, perOwner: 1 });
  const stop = new AbortController();
  const all = [enter("a1", "x", "a"), enter("b1", "x", "b"), enter("b2", "x", "b")];
  const aborted = assert.rejects(enter("a2", "x", "a", stop.signal), /stopping/);
  all.push(enter("a3", "x", "a"));
  await turn();
  stop.abort(new Error("stopping"));
  await aborted;
  await end("a1");
  assert.deepEqual(begun, ["a1", "b1", "a3"]);
  for (const name of ["b1", "b2", "a3"]) await end(name);
  await Promise.all(all);
  assert.deepEqual(begun, ["a1", "b1", "a3", "b2"]);
});
