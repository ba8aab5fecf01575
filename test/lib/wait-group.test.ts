// Work that a shutdown waits for though its caller has left: all of it, and what it leads to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createWaitGroup } from "../../src/lib/concurrency/wait-group.ts";

test("api.drain-keyed-work: what begins where other work ends is waited for too, and a failure is an end", async () => {
  const underWay = createWaitGroup();
  const handled = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  underWay.add(handled.promise);
  // As an answer is sent: some steps after its handler is done.
  const sending = (async () => {
    await handled.promise;
    await Promise.resolve();
    await Promise.resolve();
    underWay.add(sent.promise);
  })();
  let isOver = false;
  const waiting = (async () => {
    await underWay.done();
    isOver = true;
  })();
  handled.resolve();
  await sending;
  for (let turns = 0; turns < 3; turns += 1) await turn();
  assert.equal(isOver, false);
  sent.reject(new Error("no one is left to read it"));
  await waiting;
  await underWay.done();
});
