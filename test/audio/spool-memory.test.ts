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

const MEBIBYTE = 1_048_576;
const LARGE = 4 * MEBIBYTE + SMALL;

function takeAll(pool: BlockPool, sizeBytes: number): Buffer[] {
  const blocks: Buffer[] = [];
  for (let block = pool.take(sizeBytes); block !== null; block = pool.take(sizeBytes)) blocks.push(block);
  return blocks;
}

test("measuring.spool-memory: a block fits its upload, and uploads above 1 MiB take half of the memory of all at most", () => {
  const pool = createBlockPool({ largestBytes: LARGE, sharedBytes: 48 * MEBIBYTE });
  for (const [sizeBytes, expected] of [
    [1, SMALL],
    [SMALL + 1, MEBIBYTE + SMALL],
    [1_920_044, 2 * MEBIBYTE + SMALL],
    [3 * MEBIBYTE, LARGE],
  ] as const) {
    const block = pool.take(sizeBytes);
    assert.ok(block !== null);
    assert.equal(block.length, expected);
    pool.give(block);
  }
  assert.equal(pool.take(LARGE + 1), null);
  assert.equal(takeAll(pool, LARGE).length, 5);
  assert.equal(takeAll(pool, 2 * MEBIBYTE).length, 1);
  assert.equal(takeAll(pool, MEBIBYTE).length, 24, "short recordings have the other half");
});

test("measuring.spool-memory: idle blocks count to the memory of all uploads, so that those of another size are freed for new ones", () => {
  const pool = createBlockPool({ largestBytes: LARGE, sharedBytes: 2 * LARGE });
  const large = pool.take(LARGE);
  assert.ok(large !== null);
  pool.give(large);
  const small = takeAll(pool, 1);
  assert.equal(small.length, Math.floor((2 * LARGE) / SMALL));
  assert.ok(large.buffer instanceof ArrayBuffer && large.buffer.detached);
  for (const block of small) pool.give(block);
  const again = pool.take(LARGE);
  assert.equal(again?.length, LARGE);
  assert.equal(small.filter(({ buffer }) => buffer instanceof ArrayBuffer && buffer.detached).length, LARGE / SMALL);
});

test("measuring.spool-memory: an upload takes the block of its declared size when it has sent more than fits the smallest", () => {
  const sizes: number[] = [];
  const whole = createBlockPool({ largestBytes: LARGE, sharedBytes: 48 * MEBIBYTE });
  const pool: BlockPool = {
    take: (sizeBytes) => {
      const block = whole.take(sizeBytes);
      sizes.push(block?.length ?? 0);
      return block;
    },
    give: (block) => whole.give(block),
    abandon: (block) => whole.abandon(block),
  };
  const memory = createSpoolMemory(pool, 2 * MEBIBYTE);
  assert(memory.add(Buffer.alloc(10, 1)));
  assert.deepEqual(sizes, [SMALL], "a declaration alone takes no memory from others");
  for (let at = 0; at < 32; at += 1) assert(memory.add(Buffer.alloc(SMALL, 2)));
  assert.deepEqual(sizes, [SMALL, 2 * MEBIBYTE + SMALL]);
  assert.equal(memory.bytes().length, 10 + 32 * SMALL);
});

test("measuring.spool-isolation: a reader that is not done when the upload is let go fails, so that no part of a recording is taken for all of it", async () => {
  const pool = createBlockPool({ largestBytes: 10 * SMALL, sharedBytes: 10 * SMALL });
  const memory = createSpoolMemory(pool);
  assert(memory.add(Buffer.alloc(9 * SMALL, "a")));
  const reader = memory.read()[Symbol.asyncIterator]();
  assert.equal((await reader.next()).done, false);
  memory.letGo();
  await assert.rejects(reader.next(), /gone/u);
  await assert.rejects(readAll(memory), /gone/u);
  const other = createSpoolMemory(pool);
  assert(other.add(Buffer.alloc(100, "b")));
  const complete = other.read()[Symbol.asyncIterator]();
  assert.equal((await complete.next()).done, false);
  other.letGo();
  assert.equal((await complete.next()).done, true, "it has all bytes");
});

test("measuring.spool-isolation: a piece that is read in passing is the block itself, which no other upload gets while a reader has it", async () => {
  const pool = createBlockPool({ largestBytes: 2 * SMALL, sharedBytes: 2 * SMALL });
  const first = createSpoolMemory(pool);
  assert(first.add(Buffer.alloc(100_000, "a")));
  const reader = first.read("passing")[Symbol.asyncIterator]();
  const { value } = await reader.next();
  assert(value instanceof Uint8Array);
  assert.equal(value.buffer, first.bytes().buffer);
  first.letGo();
  const second = createSpoolMemory(pool);
  assert(second.add(Buffer.alloc(100_000, "b")), "the abandoned block no longer counts");
  assert(Buffer.from(value).equals(Buffer.alloc(100_000, "a")));
  assert.equal((await reader.next()).done, true, "it has all bytes");
  second.letGo();
  assert.equal(takenOf(pool, 2 * SMALL), 0);
});

for (const [how, leave] of [
  ["has read everything", async (reader) => void (await reader.next())],
  ["stops early", async (reader) => void (await reader.return?.())],
] as readonly [string, (reader: AsyncIterator<Uint8Array>) => Promise<void>][]) {
  test(`measuring.spool-memory: a block is reused when its reader ${how}`, async () => {
    const pool = createBlockPool({ largestBytes: 2 * SMALL, sharedBytes: 2 * SMALL });
    const memory = createSpoolMemory(pool);
    assert(memory.add(Buffer.alloc(100_000, "a")));
    const { buffer } = memory.bytes();
    const reader = memory.read("passing")[Symbol.asyncIterator]();
    await reader.next();
    await leave(reader);
    memory.letGo();
    assert.equal(pool.take(100_000)?.buffer, buffer);
  });
}
