// What uploads may keep in memory, whatever the pieces they arrive in: memory is bounded.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type BlockPool, createBlockPool, createSpoolMemory, type SpoolMemory } from "../../src/audio/spool-memory.ts";

const SMALL = 65_536;

/** How much of the shared memory is taken: as much as no longer can be. */
function takenOf(pool: BlockPool, sharedBytes: number): number {
  const blocks: Buffer[] = [];
  for (let block = pool.take(1); block !== null; block = pool.take(1)) blocks.push(block);
  for (const block of blocks) pool.give(block);
  return sharedBytes - blocks.length * SMALL;
}

async function readAll(memory: SpoolMemory): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(memory.read()));
}

test("measuring.spool-exact: bytes come out as they went in, for every way of cutting them, and all memory is given back", async () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 10_000, max: 70_000 })), {
    maxLength: 40,
  });
  const sharedBytes = 100 * SMALL;
  const pool = createBlockPool({ largestBytes: 50 * SMALL, sharedBytes });
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const memory = createSpoolMemory(pool);
      const chunks = lengths.map((length, index) => Buffer.alloc(length, index + 1));
      for (const chunk of chunks) assert(memory.add(chunk));
      assert(memory.bytes().equals(Buffer.concat(chunks)));
      assert((await readAll(memory)).equals(Buffer.concat(chunks)));
      memory.letGo();
      assert.equal(takenOf(pool, sharedBytes), 0);
    }),
    { numRuns: 100 },
  );
});

test("measuring.spool-isolation: what was read stays as it was when the block has passed to another upload: a socket may still be sending it", async () => {
  const pool = createBlockPool({ largestBytes: 2 * SMALL, sharedBytes: 2 * SMALL });
  const first = createSpoolMemory(pool);
  assert(first.add(Buffer.alloc(100_000, "a")));
  const sent = await Array.fromAsync(first.read());
  first.letGo();
  const second = createSpoolMemory(pool);
  assert(second.add(Buffer.alloc(100_000, "b")), "there is one block, and it was returned");
  assert(Buffer.concat(sent).equals(Buffer.alloc(100_000, "a")));
  assert((await readAll(second)).equals(Buffer.alloc(100_000, "b")));
});

test("measuring.spool-isolation: a block contains nothing of the upload before for the one that has it now", () => {
  const pool = createBlockPool({ largestBytes: 100, sharedBytes: 100 });
  const first = createSpoolMemory(pool);
  assert(first.add(Buffer.from("a secret of another owner")));
  first.letGo();
  const second = createSpoolMemory(pool);
  assert(second.add(Buffer.from("mine")));
  assert.equal(second.bytes().toString(), "mine");
});

test("measuring.spool-memory: no room, of its own or of all uploads together: refused whole, and what was kept stays", async () => {
  const own = createSpoolMemory(createBlockPool({ largestBytes: 100, sharedBytes: 1_000 }));
  assert(own.add(Buffer.alloc(100)));
  assert(!own.add(Buffer.alloc(1)));
  assert.equal(own.bytes().length, 100);
  const pool = createBlockPool({ largestBytes: 4 * SMALL, sharedBytes: 4 * SMALL });
  const memory = createSpoolMemory(pool);
  assert(memory.add(Buffer.alloc(SMALL - 10, 1)));
  assert(
    !memory.add(Buffer.alloc(40_000, 2)),
    "the larger block would be more than all may take while the small one is held",
  );
  assert((await readAll(memory)).equals(Buffer.alloc(SMALL - 10, 1)), "nothing of it was taken");
});
