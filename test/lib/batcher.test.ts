// Gathering: what a caller of a batch can rely on, whatever comes with it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createBatcher } from "../../src/lib/concurrency/batcher.ts";

const FAULT = new Error("a bad item");

function recording(pauseFactor: number) {
  const batches: number[][] = [];
  const add = createBatcher(
    async (items: readonly number[]) => {
      batches.push([...items]);
      if (items.includes(13)) throw FAULT;
      return items.map((item) => item * 2);
    },
    { maxItems: 3, pauseFactor, isItemFault: (error) => error === FAULT },
  );
  return { add, batches };
}

for (const pauseFactor of [0, 4]) {
  test(`api.batches: pause ${pauseFactor}: every caller gets its own answer, in the order of the calls, at most three at once`, async () => {
    const { add, batches } = recording(pauseFactor);
    const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((item) => add(item)));
    assert.deepEqual(answers, [2, 4, 6, 8, 10, 12, 14]);
    assert.deepEqual(batches, [[1, 2, 3], [4, 5, 6], [7]]);
  });

  test(`api.batches: pause ${pauseFactor}: one bad item fails alone, and what comes after it is served`, async () => {
    const { add } = recording(pauseFactor);
    const ended = await Promise.allSettled([1, 13, 3].map((item) => add(item)));
    assert.deepEqual(
      ended.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.equal(await add(4), 8);
  });
}

test("api.batches: a batch is no heavier than allowed, but has one call at least", async () => {
  const batches: number[][] = [];
  const add = createBatcher(
    async (items: readonly number[]) => {
      batches.push([...items]);
      return items;
    },
    { maxItems: 3, maxWeight: 10, weightOf: (item) => item, isItemFault: () => false },
  );
  assert.deepEqual(await Promise.all([4, 6, 1, 20, 1, 1, 1, 1].map(add)), [4, 6, 1, 20, 1, 1, 1, 1]);
  assert.deepEqual(batches, [[4, 6], [1], [20], [1, 1, 1], [1]]);
});

/** The first batch takes two turns of the loop; the rest after it would outlast the test. */
function resting(pauseFactor: number) {
  const batches: number[][] = [];
  const add = createBatcher(
    async (items: readonly number[]) => {
      batches.push([...items]);
      if (batches.length === 1) await turns();
      return items;
    },
    { maxItems: 10, pauseFactor, isItemFault: () => false },
  );
  return { add, batches };
}

/** Many more than a batch waits for. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

test("api.batches: calls made during a pause share the next batch", async () => {
  const { add, batches } = resting(1_000);
  await Promise.all([add(1), add(2)]);
  const three = add(3);
  await turns();
  await Promise.all([three, add(4)]);
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4],
  ]);
});

test("api.batches: after a batch of one there is no pause", async () => {
  const { add, batches } = resting(1_000);
  await add(1);
  const two = add(2);
  await turns();
  await Promise.all([two, add(3)]);
  assert.deepEqual(batches, [[1], [2], [3]]);
});
