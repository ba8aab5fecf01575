// The memory of uploads: blocks that pass from one upload to the next [measuring.spool-isolation]. A mebibyte allocated for each request
// would cost more than everything else done with it: V8 counts it, and collects all garbage when it has counted 64 of them.
import type { OpenBytes } from "../lib/open-bytes.ts";

const SMALL_BYTES = 65_536;
/** A piece on its way to a socket passes three loops, each of which makes garbage: few pieces. */
const READ_BYTES = 262_144;
/** Of each size; more than these go back to the system. */
const MOST_IDLE = 48;

export interface BlockPool {
  /** A block of at least that size, holding whatever it held; null: the memory of all uploads together is used up. */
  take(sizeBytes: number): Buffer | null;
  /** Whoever gives a block back reads it no more. */
  give(block: Buffer): void;
}

/** Blocks of two sizes: most recordings of a command or a sentence fit the small one. */
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
      const resting = idle.get(block.length);
      if (resting !== undefined && resting.length < MOST_IDLE) resting.push(block);
    },
  };
}

export interface SpoolMemory {
  /** False: there is no room, and nothing of it was taken. */
  add(chunk: Uint8Array): boolean;
  /** What was added, in place: gone with `letGo`. */
  bytes(): Buffer;
  /** In copies, for whoever may still hold one after `letGo`: a socket sends what it was given when it can. */
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
    async *read(pieces) {
      let copy: Buffer | null = null;
      for (let at = 0; at < usedBytes; at += READ_BYTES) {
        const piece = bytes().subarray(at, at + READ_BYTES);
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
