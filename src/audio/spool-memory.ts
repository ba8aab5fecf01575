// A memory pool for uploads: blocks are reused by later uploads [measuring.spool-isolation]. Allocating a mebibyte per request would cost more than all other
// work on it: V8 counts external memory and runs a full garbage collection after 64 of them.
import type { OpenBytes } from "../lib/open-bytes.ts";

const SMALL_BYTES = 65_536;
/** A chunk on its way to a socket passes three loops, each of which creates garbage, so chunks are large. */
const READ_BYTES = 262_144;
/** Idle blocks of each size that are kept. More are freed. */
const MOST_IDLE = 48;

export interface BlockPool {
  /** A block of at least that size with undefined content. Null: the shared memory of all uploads is used up. */
  take(sizeBytes: number): Buffer | null;
  /** Returns a block, which the caller must not read any more. */
  give(block: Buffer): void;
}

/** Blocks of two sizes, because most recordings of a command or a sentence fit the small one. */
export function createBlockPool(options: { readonly largestBytes: number; readonly sharedBytes: number }): BlockPool {
  const sizes = [Math.min(SMALL_BYTES, options.largestBytes), options.largestBytes];
  const idle = new Map<number, Buffer[]>(sizes.map((size) => [size, []]));
  let takenBytes = 0;
  return {
    take(sizeBytes) {
      const size = sizes.find((each) => each >= sizeBytes);
      if (size === undefined || takenBytes + size > options.sharedBytes) return null;
      takenBytes += size;
      return idle.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size);
    },
    give(block) {
      takenBytes -= block.length;
      const idleBlocks = idle.get(block.length);
      if (idleBlocks !== undefined && idleBlocks.length < MOST_IDLE) idleBlocks.push(block);
    },
  };
}

export interface SpoolMemory {
  /** False: there is no room, and no byte of the chunk was added. */
  add(chunk: Uint8Array): boolean;
  /** The added bytes without a copy, valid until `letGo`. */
  bytes(): Buffer;
  /** Memory that is taken from the pool. */
  readonly blockBytes: number;
  /** Copies, for readers that may still hold one after `letGo`: a socket sends its data when it can. */
  readonly read: OpenBytes;
  letGo(): void;
}

export function createSpoolMemory(pool: BlockPool): SpoolMemory {
  let block: Buffer | null = null;
  let usedBytes = 0;

  const bytes = (): Buffer => block?.subarray(0, usedBytes) ?? Buffer.alloc(0);

  function grow(neededBytes: number): boolean {
    const larger = pool.take(neededBytes);
    if (larger === null) return false;
    if (block !== null) {
      larger.set(bytes());
      pool.give(block);
    }
    block = larger;
    return true;
  }

  return {
    add(chunk) {
      const neededBytes = usedBytes + chunk.length;
      if ((block === null || neededBytes > block.length) && !grow(neededBytes)) return false;
      block?.set(chunk, usedBytes);
      usedBytes = neededBytes;
      return true;
    },
    bytes,
    get blockBytes() {
      return block?.length ?? 0;
    },
    async *read(pieces) {
      let copy: Buffer | null = null;
      for (let offset = 0; offset < usedBytes; offset += READ_BYTES) {
        const piece = bytes().subarray(offset, offset + READ_BYTES);
        if (copy === null || pieces !== "passing") copy = Buffer.allocUnsafeSlow(piece.length);
        copy.set(piece);
        yield copy.subarray(0, piece.length);
      }
    },
    letGo() {
      if (block !== null) pool.give(block);
      block = null;
      usedBytes = 0;
    },
  };
}
