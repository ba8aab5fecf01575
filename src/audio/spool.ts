// Where submitted audio rests while it is judged and sent: in memory up to 1 MiB while there is room, else in a file that only
// this process knows; hashed on the way (contract 3 "Size"; spec 4.1). Nothing of it outlives the request.
import { createHash, type Hash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../contract/errors.ts";
import type { AudioSource } from "./measure.ts";
import { createSpoolFile, readSpoolFile, type SpoolFile } from "./spool-file.ts";
import { removeLeftovers, spoolFileName } from "./spool-leftovers.ts";
import { createSpoolMemory, HEAD_BYTES, type SpoolAccount } from "./spool-memory.ts";

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
  /** The chunk is the spool's from here on: nobody may write into it. A promise asks the caller to wait before the next one. */
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
      const account: SpoolAccount = {
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

interface WriterOptions {
  readonly maxBytes: number;
  readonly param: string;
  readonly memoryLimitBytes: number;
  readonly directory: string;
  readonly account: SpoolAccount;
}

function beginWriting(options: WriterOptions): SpoolWriter {
  const hash: Hash = createHash("sha256");
  const memory = createSpoolMemory(options);
  let file: SpoolFile | null = null;
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
    file = createSpoolFile(join(options.directory, spoolFileName()));
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
          return source.kind === "file" ? readSpoolFile(source.path) : readBlocks(kept);
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

/** In pieces as large as they are: each is a system call of whoever sends it. */
async function* readBlocks(blocks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* blocks;
}
