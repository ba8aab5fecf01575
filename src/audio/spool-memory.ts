// A memory pool for uploads: blocks are reused by later uploads [measuring.spool-isolation]. Allocating a mebibyte per request would cost more than all other
// work on it: V8 counts external memory and runs a full garbage collection after 64 of them.
import { freeBuffer } from "../lib/free-buffer.ts";
import type { OpenBytes } from "../lib/open-bytes.ts";

/** Room for the header of a container around whole mebibytes of audio. */
const HEADER_BYTES = 65_536;
const MEBIBYTE = 1_048_576;
const SMALL_BYTES = 65_536;
/** Most recordings of a command or a sentence fit the first, and a minute of WAV at 16 kHz the third. */
const BLOCK_BYTES = [SMALL_BYTES, ...[1, 2, 4].map((count) => count * MEBIBYTE + HEADER_BYTES)] as const;
/** Larger blocks take half of the shared memory at most, so that a few long recordings do not send all short ones to files. */
const LARGE_BYTES = MEBIBYTE + HEADER_BYTES;
/** A piece on its way to a socket passes three loops, each of which creates garbage, so pieces are large. */
const PIECE_BYTES = 262_144;
/** The last piece may be longer by so much: a few bytes at the end would take a write of their own. */
const PIECE_REST_BYTES = 65_536;

/** Of one upload. */
export const LARGEST_BLOCK_BYTES = 4 * MEBIBYTE + HEADER_BYTES;

export interface BlockPool {
  /** A block of at least that size with undefined content. Null: the shared memory of all uploads is used up. */
  take(sizeBytes: number): Buffer | null;
  /** Returns a block, which the caller must not read any more. */
  give(block: Buffer): void;
  /** Ends the use of a block that somebody may still read: no other upload gets it, and the garbage collector frees it. */
  abandon(block: Buffer): void;
}

/** Idle blocks count to the shared memory, too: those of other sizes are freed when a new one is allocated. */
export function createBlockPool(options: { readonly largestBytes: number; readonly sharedBytes: number }): BlockPool {
  const { largestBytes, sharedBytes } = options;
  const sizes = [...BLOCK_BYTES.filter((size) => size < largestBytes), largestBytes];
  const idle = new Map<number, Buffer[]>(sizes.map((size) => [size, []]));
  let takenBytes = 0;
  let largeBytes = 0;
  let idleBytes = 0;

  function count(size: number, sign: 1 | -1): void {
    takenBytes += sign * size;
    if (size > LARGE_BYTES) largeBytes += sign * size;
  }

  function free(neededBytes: number): void {
    for (const blocks of [...idle.values()].toReversed())
      while (takenBytes + idleBytes + neededBytes > sharedBytes) {
        const block = blocks.pop();
        if (block === undefined) break;
        idleBytes -= block.length;
        freeBuffer(block);
      }
  }

  return {
    take(sizeBytes) {
      const size = sizes.find((each) => each >= sizeBytes);
      if (size === undefined || takenBytes + size > sharedBytes) return null;
      if (size > LARGE_BYTES && largeBytes + size > sharedBytes / 2) return null;
      const reused = idle.get(size)?.pop();
      if (reused === undefined) free(size);
      else idleBytes -= size;
      count(size, 1);
      return reused ?? Buffer.allocUnsafeSlow(size);
    },
    give(block) {
      count(block.length, -1);
      idle.get(block.length)?.push(block);
      idleBytes += block.length;
    },
    abandon: (block) => count(block.length, -1),
  };
}

export interface SpoolMemory {
  /** False: there is no room, and no byte of the chunk was added. */
  add(chunk: Uint8Array): boolean;
  /** The added bytes without a copy, valid until `letGo`. */
  bytes(): Buffer;
  /** Memory that is taken from the pool. */
  readonly blockBytes: number;
  /**
   * Copies that the reader may keep, or in passing the block itself: a block that is being read at `letGo`, for example by a socket that is still sending, is
   * abandoned. Fails if bytes are missing after `letGo`.
   */
  readonly read: OpenBytes;
  letGo(): void;
}

/** `leastBytes`: the declared minimum size, so that its block grows only once. */
export function createSpoolMemory(pool: BlockPool, leastBytes = 0): SpoolMemory {
  let block: Buffer | null = null;
  let usedBytes = 0;
  let isGone = false;
  /** Pieces of the block that readers have not returned. */
  let lentPieces = 0;

  const bytes = (): Buffer => block?.subarray(0, usedBytes) ?? Buffer.alloc(0);

  function requireBlock(): void {
    if (isGone) throw new Error("the audio in memory is gone");
  }

  function grow(neededBytes: number): boolean {
    // Not before as much was received as fits a small block: a declaration alone takes no memory from others.
    const larger = pool.take(neededBytes <= SMALL_BYTES ? neededBytes : Math.max(neededBytes, leastBytes));
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
    async *read(mode) {
      requireBlock();
      for (let offset = 0, end = usedBytes; offset < end; ) {
        requireBlock();
        const piece = bytes().subarray(offset, mode === "whole" ? end : endOfPiece(offset, end));
        offset += piece.length;
        if (mode === undefined) {
          yield copyOf(piece);
          continue;
        }
        lentPieces += 1;
        try {
          yield piece;
        } finally {
          lentPieces -= 1;
        }
      }
    },
    letGo() {
      if (block !== null && lentPieces === 0) pool.give(block);
      else if (block !== null) pool.abandon(block);
      block = null;
      usedBytes = 0;
      isGone = true;
    },
  };
}

function endOfPiece(offset: number, end: number): number {
  return end - offset <= PIECE_BYTES + PIECE_REST_BYTES ? end : offset + PIECE_BYTES;
}

/** With memory of its own, which a reader may transfer. */
function copyOf(piece: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(piece.length);
  copy.set(piece);
  return copy;
}
