// Decoding is the machine's hardest work: few recordings are decoded at once, and a caller who has left does not wait in the queue.
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { createDecoder } from "../../../src/audio/decode/decoder.ts";

test("measuring.decoder-turns: no more recordings are decoded at once than half the machine has cores", async () => {
  const decoder = createDecoder({ ffmpeg: null, directory: "/nonexistent" });
  const places = Math.max(1, Math.floor(availableParallelism() / 2));
  const gates = Array.from({ length: places + 2 }, () => Promise.withResolvers<void>());
  let running = 0;
  let most = 0;
  const all = gates.map((gate) =>
    decoder.inTurn({ signal: new AbortController().signal, owner: "w" }, async () => {
      running += 1;
      most = Math.max(most, running);
      await gate.promise;
      running -= 1;
    }),
  );
  const gone = new AbortController();
  const waiting = decoder.inTurn({ signal: gone.signal, owner: "w" }, () =>
    assert.fail("who is gone is not decoded for"),
  );
  gone.abort();
  await assert.rejects(waiting);
  for (const gate of gates) gate.resolve();
  await Promise.all(all);
  assert.equal(most, places);
});
