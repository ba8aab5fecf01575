// Work that is marked dirty runs once, and again after it failed, such as the vacuum behind a purge.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDirtyTask } from "../../src/lib/concurrency/dirty-task.ts";

test("storage.vacuum: work that failed is still due; after it succeeded it is due only when requested again", async () => {
  let turns = 0;
  let fails = true;
  const task = createDirtyTask(async () => {
    turns += 1;
    if (fails) throw new Error("the database is unavailable");
  });
  await assert.rejects(task.runIfDirty());
  fails = false;
  await task.runIfDirty();
  assert.equal(turns, 2);
  await task.runIfDirty();
  assert.equal(turns, 2);
  task.markDirty();
  await task.runIfDirty();
  assert.equal(turns, 3);
});

test("storage.vacuum: what is requested while the work runs leads to another run", async () => {
  let turns = 0;
  const first = Promise.withResolvers<void>();
  const task = createDirtyTask(async () => {
    turns += 1;
    await first.promise;
  });
  const settled = task.runIfDirty();
  task.markDirty();
  first.resolve();
  await settled;
  await task.runIfDirty();
  assert.equal(turns, 2);
});
