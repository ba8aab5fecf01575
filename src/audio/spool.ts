// Where submitted audio rests while it is judged and sent: in memory up to 1 MiB while there is room, else in a file that only
// this process knows; hashed on the way (contract 3 "Size"; spec 4.1). Nothing of it outlives the request.
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contract/errors.ts";
import type { AudioSource } from "./measure.ts";
import { removeLeftovers, spoolFileName } from "./spool-leftovers.ts";

export interface SpooledAudio {
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** The first 64 KiB at most. */
  readonly head: Uint8Array;
  readonly source: AudioSource;
  /** Reads from the beginning; each call anew. */
  open(): AsyncIterable<Uint8Array>;
  /** Removes the file; may be called again. */
  dispose(): Promise<void>;
}

export interface SpoolWriter {
  /** A promise asks the caller to wait before the next write, and to leave the chunk alone until then. */
  write(chunk: Uint8Array): Promise<void> | void;
  finish(): Promise<SpooledAudio>;
  abort(): Promise<void>;
}

export interface Spool {
  begin(limit: { readonly maxBytes: number; readonly param: string }): SpoolWriter;
  /** Bytes held for requests that have not let go of them, on disk and in memory. */
  readonly bytesInFlight: number;
  close(): Promise<void>;
}

const HEAD_BYTES = 65_536;
const BLOCK_BYTES = 524_288;
const READ_BYTES = 131_072;
const WRITE_BYTES = 262_144;
/** A mebibyte of audio and the header of its container: the file would cost more than all else done with it (docs/measurements.md). */
const MEMORY_LIMIT_BYTES = 1_048_576 + 65_536;
/** Of all uploads together: beyond it even small ones go to a file. */
const SHARED_MEMORY_BYTES = 64 * 1_048_576;

export async function openSpool(options: {
  readonly directory: string;
  /** Of one upload. */
  readonly memoryLimitBytes?: number;
  readonly sharedMemoryBytes?: number;
}): Promise<Spool> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  await removeLeftovers(options.directory);
  const memoryLimitBytes = options.memoryLimitBytes ?? MEMORY_LIMIT_BYTES;
  const sharedMemoryBytes = options.sharedMemoryBytes ?? SHARED_MEMORY_BYTES;
  const holders = new Set<() => Promise<void>>();
  let bytesInFlight = 0;
  let memoryInUse = 0;
  let closed = false;

  return {
    begin(limit) {
      if (closed) throw new Error("the spool is closed");
      const account: Account = {
        add(bytes) {
          bytesInFlight += bytes;
        },
        takeMemory(bytes) {
          if (memoryInUse + bytes > sharedMemoryBytes) return false;
          memoryInUse += bytes;
          return true;
        },
        giveMemory(bytes) {
          memoryInUse -= bytes;
        },
        release() {
          holders.delete(holder);
        },
      };
      const writer = beginWriting({ ...limit, memoryLimitBytes, directory: options.directory, account });
      const holder = () => writer.abort();
      holders.add(holder);
      return writer;
    },
    get bytesInFlight() {
      return bytesInFlight;
    },
    async close() {
      closed = true;
      await Promise.all([...holders].map((release) => release()));
    },
  };
}

interface Account {
  add(bytes: number): void;
  /** False: the memory of all uploads together is used up. */
  takeMemory(bytes: number): boolean;
  giveMemory(bytes: number): void;
  release(): void;
}

interface WriterOptions {
  readonly maxBytes: number;
  readonly param: string;
  readonly memoryLimitBytes: number;
  readonly directory: string;
  readonly account: Account;
}

function beginWriting(options: WriterOptions): SpoolWriter {
  const hash: Hash = createHash("sha256");
  const memory = createMemory(options);
  let file: FileWriter | null = null;
  let head: Uint8Array | null = null;
  let sizeBytes = 0;
  let ended = false;
  let disposed: Promise<void> | null = null;

  async function release(): Promise<void> {
    ended = true;
    disposed ??= (async () => {
      try {
        await file?.remove();
      } finally {
        options.account.add(-sizeBytes);
        options.account.release();
        memory.letGo();
      }
    })();
    await disposed;
  }

  async function spill(chunk: Uint8Array): Promise<void> {
    const kept = memory.pieces();
    head = Uint8Array.from(Buffer.concat([...kept, chunk.subarray(0, HEAD_BYTES)]).subarray(0, HEAD_BYTES));
    file = createFileWriter(join(options.directory, spoolFileName()));
    for (const block of kept) await file.write(block);
    await file.write(chunk);
    memory.letGo();
  }

  return {
    write(chunk) {
      if (ended) throw new Error("the spool writer has ended");
      if (sizeBytes + chunk.length > options.maxBytes) throw audioTooLarge(options, sizeBytes + chunk.length);
      hash.update(chunk);
      sizeBytes += chunk.length;
      options.account.add(chunk.length);
      if (file !== null) return file.write(chunk);
      return memory.add(chunk) ? undefined : spill(chunk);
    },
    async finish() {
      if (ended) throw new Error("the spool writer has ended");
      ended = true;
      try {
        await file?.finish();
      } catch (error) {
        await release();
        throw error;
      }
      const kept = memory.pieces();
      const source: AudioSource =
        file === null ? { kind: "bytes", bytes: kept } : { kind: "file", path: file.path, sizeBytes };
      return {
        sizeBytes,
        sha256: hash.digest("hex"),
        head: head ?? kept[0] ?? new Uint8Array(0),
        source,
        open() {
          if (disposed !== null) throw new Error("the spooled audio is gone");
          return source.kind === "file" ? readFile(source.path) : readBlocks(kept);
        },
        dispose: release,
      };
    },
    abort: release,
  };
}

export function audioTooLarge(
  limit: { readonly maxBytes: number; readonly param: string },
  receivedBytes: number,
): GatewayError {
  return new GatewayError("AUDIO_TOO_LARGE", {
    message: `The audio is larger than ${limit.maxBytes} bytes, the most this gateway takes; ${receivedBytes} bytes were announced or received.`,
    param: limit.param,
    details: { max_audio_bytes: limit.maxBytes, received_bytes: receivedBytes },
  });
}

interface Memory {
  /** False: there is no room, and nothing of it was taken. */
  add(chunk: Uint8Array): boolean;
  /** What was added, in pieces that follow each other. */
  pieces(): readonly Uint8Array[];
  letGo(): void;
}

/** Blocks that are never copied to grow; the first is the head, and all that measuring most files needs. */
function createMemory({ memoryLimitBytes, account }: WriterOptions): Memory {
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

interface FileWriter {
  readonly path: string;
  write(chunk: Uint8Array): Promise<void> | void;
  finish(): Promise<void>;
  remove(): Promise<void>;
}

/** Fills one block while the other is on its way to the disk: two blocks are all the memory a large upload takes. */
function createFileWriter(path: string): FileWriter {
  let handle: FileHandle | null = null;
  let filling = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let spare = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let used = 0;
  let inFlight: Promise<unknown> = Promise.resolve();
  let failure: { readonly error: unknown } | null = null;
  let removed = false;

  function flush(): void {
    const block = filling.subarray(0, used);
    [filling, spare] = [spare, filling];
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
      if (failure !== null) throw noRoom(failure.error);
      if (used === WRITE_BYTES) flush();
      const taken = Math.min(WRITE_BYTES - used, rest.length);
      filling.set(rest.subarray(0, taken), used);
      used += taken;
      rest = rest.subarray(taken);
    }
  }

  return {
    path,
    write(chunk) {
      if (chunk.length > WRITE_BYTES - used) return writeRest(chunk);
      filling.set(chunk, used);
      used += chunk.length;
      return undefined;
    },
    async finish() {
      await inFlight;
      if (removed) throw new Error("the spool was closed");
      if (used > 0) flush();
      await inFlight;
      await handle?.close();
      handle = null;
      if (failure !== null) throw noRoom(failure.error);
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

function noRoom(cause: unknown): Error {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  if (code !== "ENOSPC" && code !== "EDQUOT") return new Error("the spool file could not be written", { cause });
  return new GatewayError("OVERLOADED", { message: "The gateway has no room for more audio at the moment.", cause });
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r");
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(READ_BYTES), 0, READ_BYTES);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** In pieces as large as they are: each is a system call of whoever sends it. */
async function* readBlocks(blocks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* blocks;
}
