// What an upload may keep in memory, whatever the pieces it arrives in (contract 3 "Size"; reliability 5, bounded memory).
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createSpoolMemory, HEAD_BYTES, type SpoolAccount } from "../../src/audio/spool-memory.ts";

function account(limitBytes: number): SpoolAccount & { readonly taken: () => number } {
  let taken = 0;
  return {
    add: () => undefined,
    takeMemory: (bytes) => {
      if (taken + bytes > limitBytes) return false;
      taken += bytes;
      return true;
    },
    giveMemory: (bytes) => {
      taken -= bytes;
    },
    release: () => undefined,
    taken: () => taken,
  };
}

test("bytes come out as they went in, for every way of cutting them, and all memory is given back", () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 10_000, max: 70_000 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const shared = account(Number.POSITIVE_INFINITY);
      const memory = createSpoolMemory({ memoryLimitBytes: 10_000_000, account: shared });
      const chunks = lengths.map((length, index) => Buffer.alloc(length, index + 1));
      for (const chunk of chunks) assert(memory.add(chunk));
      const pieces = memory.pieces();
      assert(Buffer.concat(pieces).equals(Buffer.concat(chunks)));
      const head = Buffer.concat(chunks).subarray(0, HEAD_BYTES);
      assert.equal(pieces[0]?.length ?? 0, head.length, "the first piece is the head");
      memory.letGo();
      assert.equal(shared.taken(), 0);
    }),
    { numRuns: 200 },
  );
});

test("a caller who sends single bytes makes few pieces", () => {
  const memory = createSpoolMemory({ memoryLimitBytes: 1_000_000, account: account(Number.POSITIVE_INFINITY) });
  for (let count = 0; count < 500_000; count += 1) assert(memory.add(Buffer.of(count & 0xff)));
  assert(memory.pieces().length <= Math.ceil(500_000 / HEAD_BYTES) + 1);
});

test("no room, of its own or of all uploads together: refused whole, and what was kept stays", () => {
  const own = createSpoolMemory({ memoryLimitBytes: 100, account: account(Number.POSITIVE_INFINITY) });
  assert(own.add(Buffer.alloc(100)));
  assert(!own.add(Buffer.alloc(1)));
  assert.equal(Buffer.concat(own.pieces()).length, 100);
  const shared = account(HEAD_BYTES + 20_000);
  const memory = createSpoolMemory({ memoryLimitBytes: 1_000_000, account: shared });
  assert(memory.add(Buffer.alloc(HEAD_BYTES - 10, 1)));
  assert(!memory.add(Buffer.alloc(40_000, 2)), "10 bytes would fit into the head, the rest nowhere");
  assert.equal(Buffer.concat(memory.pieces()).length, HEAD_BYTES - 10, "nothing of it was taken");
});
