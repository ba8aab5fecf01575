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
const BLOCK_BYTES = 524_288;

export interface SpoolMemory {
  /** False: there is no room, and nothing of it was taken. */
  add(chunk: Uint8Array): boolean;
  /** What was added, in pieces that follow each other. */
  pieces(): readonly Uint8Array[];
  letGo(): void;
}

/** Blocks that are never copied to grow; the first is the head, and all that measuring most files needs. */
export function createSpoolMemory(options: {
  readonly memoryLimitBytes: number;
  readonly account: SpoolAccount;
}): SpoolMemory {
  const { memoryLimitBytes, account } = options;
  let blocks: Buffer[] = [];
  let roomBytes = 0;
  let usedBytes = 0;

  function makeRoom(neededBytes: number): boolean {
    if (neededBytes > memoryLimitBytes) return false;
    while (roomBytes < neededBytes) {
      const wanted = blocks.length === 0 ? HEAD_BYTES : BLOCK_BYTES;
      if (!account.takeMemory(wanted)) return false;
      roomBytes += wanted;
      blocks.push(Buffer.allocUnsafeSlow(wanted));
    }
    return true;
  }

  return {
    add(chunk) {
      if (!makeRoom(usedBytes + chunk.length)) return false;
      for (let rest = chunk; rest.length > 0; ) {
        const index = usedBytes < HEAD_BYTES ? 0 : 1 + Math.floor((usedBytes - HEAD_BYTES) / BLOCK_BYTES);
        const offset = index === 0 ? usedBytes : (usedBytes - HEAD_BYTES) % BLOCK_BYTES;
        const block = blocks[index];
        if (block === undefined) throw new Error("the spool has no block for what it keeps");
        const taken = Math.min(block.length - offset, rest.length);
        block.set(rest.subarray(0, taken), offset);
        rest = rest.subarray(taken);
        usedBytes += taken;
      }
      return true;
    },
    pieces() {
      let left = usedBytes;
      return blocks.flatMap((block) => {
        const used = block.subarray(0, Math.max(0, left));
        left -= block.length;
        return used.length === 0 ? [] : [used];
      });
    },
    letGo() {
      account.giveMemory(roomBytes);
      roomBytes = 0;
      usedBytes = 0;
      blocks = [];
    },
  };
}
