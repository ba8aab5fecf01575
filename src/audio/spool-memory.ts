// What an upload keeps in memory: blocks that are taken from an account shared by all uploads (contract 3 "Size").

/** Bytes and memory of all uploads of a spool. */
export interface SpoolAccount {
  add(bytes: number): void;
  /** False: the memory of all uploads together is used up. */
  takeMemory(bytes: number): boolean;
  giveMemory(bytes: number): void;
  release(): void;
}

export const HEAD_BYTES = 65_536;
const BLOCK_BYTES = 65_536;
/** From this size on a chunk is kept as it came. */
const KEEP_BYTES = 16_384;

export interface SpoolMemory {
  /** False: there is no room, and nothing of it was taken. */
  add(chunk: Uint8Array): boolean;
  /** What was added, in pieces that follow each other. */
  pieces(): readonly Uint8Array[];
  letGo(): void;
}

/**
 * The first piece is a block of its own: the head, and all that measuring most files needs. Behind it large chunks are kept
 * as they came, which saves a copy and its garbage; small ones share blocks, so that a caller who sends single bytes
 * does not make a million pieces.
 */
export function createSpoolMemory(options: {
  readonly memoryLimitBytes: number;
  readonly account: SpoolAccount;
}): SpoolMemory {
  const { memoryLimitBytes, account } = options;
  let pieces: Piece[] = [];
  let takenBytes = 0;
  let usedBytes = 0;

  function take(bytes: number): boolean {
    if (!account.takeMemory(bytes)) return false;
    takenBytes += bytes;
    return true;
  }

  function copyToTail(chunk: Uint8Array): void {
    const tail = pieces.at(-1);
    if (tail === undefined) return;
    tail.bytes.set(chunk, tail.used);
    tail.used += chunk.length;
  }

  return {
    add(chunk) {
      if (usedBytes + chunk.length > memoryLimitBytes) return false;
      if (pieces.length === 0) {
        if (!take(HEAD_BYTES)) return false;
        pieces.push(emptyBlock(HEAD_BYTES));
      }
      const tail = pieces.at(-1);
      const room = tail === undefined ? 0 : tail.bytes.length - tail.used;
      const copied = pieces.length === 1 || chunk.length <= room ? Math.min(room, chunk.length) : 0;
      const rest = chunk.subarray(copied);
      const isKept = rest.length >= KEEP_BYTES;
      if (rest.length > 0 && !take(isKept ? rest.length : BLOCK_BYTES)) return false;
      copyToTail(chunk.subarray(0, copied));
      if (isKept) pieces.push({ bytes: rest, used: rest.length });
      else if (rest.length > 0) {
        pieces.push(emptyBlock(BLOCK_BYTES));
        copyToTail(rest);
      }
      usedBytes += chunk.length;
      return true;
    },
    pieces: () => pieces.filter((piece) => piece.used > 0).map((piece) => piece.bytes.subarray(0, piece.used)),
    letGo() {
      account.giveMemory(takenBytes);
      takenBytes = 0;
      usedBytes = 0;
      pieces = [];
    },
  };
}

interface Piece {
  readonly bytes: Uint8Array;
  used: number;
}

function emptyBlock(sizeBytes: number): Piece {
  return { bytes: Buffer.allocUnsafeSlow(sizeBytes), used: 0 };
}
