// What was purged is vacuumed within 15 min, also after a vacuum that failed (contract 5).
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDirtyTask } from "../../src/lib/concurrency/dirty-task.ts";

test("contract 5: work that failed is still owed; done, it is owed again only when something asks for it", async () => {
  let turns = 0;
  let fails = true;
  const owed = createDirtyTask(async () => {
    turns += 1;
    if (fails) throw new Error("the database is away");
  });
  await assert.rejects(owed.runIfDirty());
  fails = false;
  await owed.runIfDirty();
  assert.equal(turns, 2);
  await owed.runIfDirty();
  assert.equal(turns, 2);
  owed.markDirty();
  await owed.runIfDirty();
  assert.equal(turns, 3);
});

test("contract 5: what asks for it while it is under way is seen to by another turn", async () => {
  let turns = 0;
  const first = Promise.withResolvers<void>();
  const owed = createDirtyTask(async () => {
    turns += 1;
    await first.promise;
  });
  const settled = owed.runIfDirty();
  owed.markDirty();
  first.resolve();
  await settled;
  await owed.runIfDirty();
  assert.equal(turns, 2);
});
