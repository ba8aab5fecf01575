// The file of an upload that is too large for memory: written in the background, and read once per sending.
import { type FileHandle, open, rm } from "node:fs/promises";
import type { ReadingMode } from "../lib/open-bytes.ts";
import { diskFullError } from "./disk-full-error.ts";

/** For each of 200 concurrent uploads: twice these sizes took 100 MiB more (docs/decisions/0006-memory-of-uploads.md). */
const READ_BYTES = 65_536;
const WRITE_BYTES = 131_072;
const NOTHING = Buffer.alloc(0);

export interface SpoolFile {
  readonly path: string;
  write(chunk: Uint8Array): Promise<void> | void;
  finish(): Promise<void>;
  remove(): Promise<void>;
}

/** Double buffering: fills one block while the other is being written, so that a large upload takes two blocks of memory. */
export function createSpoolFile(path: string): SpoolFile {
  let handle: FileHandle | null = null;
  let activeBlock = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let spareBlock = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let used = 0;
  let inFlight: Promise<unknown> = Promise.resolve();
  let failure: { readonly error: unknown } | null = null;
  let removed = false;

  function flush(): void {
    const block = activeBlock.subarray(0, used);
    [activeBlock, spareBlock] = [spareBlock, activeBlock];
    used = 0;
    inFlight = writeBlock(block).catch((error: unknown) => {
      failure ??= { error };
    });
  }

  async function writeBlock(block: Uint8Array): Promise<void> {
    handle ??= await open(path, "wx", 0o600);
    for (let written = 0; written < block.length; ) {
      written += (await handle.write(block, written, block.length - written)).bytesWritten;
    }
  }

  async function writeRest(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      await inFlight;
      if (removed) throw new Error("the spool was closed");
      if (failure !== null) throw writeError(failure.error);
      if (used === WRITE_BYTES) flush();
      const length = Math.min(WRITE_BYTES - used, rest.length);
      activeBlock.set(rest.subarray(0, length), used);
      used += length;
      rest = rest.subarray(length);
    }
  }

  return {
    path,
    write(chunk) {
      if (chunk.length > WRITE_BYTES - used) return writeRest(chunk);
      activeBlock.set(chunk, used);
      used += chunk.length;
      return undefined;
    },
    async finish() {
      await inFlight;
      if (removed) throw new Error("the spool was closed");
      if (used > 0) flush();
      await inFlight;
      // Written: from now on the file is read, for as long as a provider takes, and the blocks are not needed.
      [activeBlock, spareBlock] = [NOTHING, NOTHING];
      await handle?.close();
      handle = null;
      if (failure !== null) throw writeError(failure.error);
    },
    async remove() {
      removed = true;
      await inFlight;
      await handle?.close();
      handle = null;
      await rm(path, { force: true });
    },
  };
}

function writeError(cause: unknown): Error {
  return diskFullError(cause) ?? new Error("the spool file could not be written", { cause });
}

export async function* readSpoolFile(path: string, mode?: ReadingMode): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r");
  try {
    let block: Buffer | null = null;
    for (;;) {
      if (block === null || mode === undefined) block = Buffer.allocUnsafeSlow(READ_BYTES);
      const { bytesRead } = await handle.read(block, 0, READ_BYTES);
      if (bytesRead === 0) return;
      yield block.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
