// Places that several owners wait for (reliability 7, G-08): how many at once, and whose turn it is when one is free.
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

test("reliability G-08: a free place is theirs who had one longest ago, and among one's own the first comes first", async () => {
  const { begun, enter, end } = open({ total: 1, perKind: 1 });
  const all = ["a1", "a2", "a3", "b1", "c1", "b2"].map((name) => enter(name, "kind", name.charAt(0)));
  await turn();
  for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) await end(name);
  await Promise.all(all);
  assert.deepEqual(begun, ["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("reliability 7: so many of one owner's, whatever their kinds; others and those of nobody go on", async () => {
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

test("reliability 7: a place that was the last of its kind and the last of its owner's lets one of each go on", async () => {
  const { begun, enter, end } = open({ total: 4, perKind: 1, perOwner: 1 });
  const all = [enter("a1", "x", "a"), enter("b1", "x", "b"), enter("a2", "y", "a")];
  await turn();
  assert.deepEqual(begun, ["a1"]);
  await end("a1");
  assert.deepEqual(begun, ["a1", "b1", "a2"]);
  for (const name of ["b1", "a2"]) await end(name);
  await Promise.all(all);
});

test("reliability 4: who gives up leaves the line, and takes nobody's turn", async () => {
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
