// Stores uploaded audio for the duration of a request [measuring.spool-memory]: in memory up to 4 MiB while there is room, otherwise in a private file, hashed
// on the way. The audio is deleted with the request [measuring.spool-cleanup].
import { createHash, hash, type Hash, webcrypto } from "node:crypto";
import { join } from "node:path";
import { makeDirectory } from "../lib/make-directory.ts";
import type { OpenBytes } from "../lib/open-bytes.ts";
import type { AudioSource } from "./measure.ts";
import { createSpoolFile, readSpoolFile, type SpoolFile } from "./spool-file.ts";
import { removeLeftovers, spoolFileName } from "./spool-leftovers.ts";
import { type BlockPool, createBlockPool, createSpoolMemory, LARGEST_BLOCK_BYTES } from "./spool-memory.ts";
import { audioTooLarge } from "./audio-too-large.ts";

export interface SpooledAudio {
  readonly sizeBytes: number;
  /** Hexadecimal. Computed on demand unless the writer was created with `hashed`: only a request with an idempotency key needs it. */
  sha256(): Promise<string>;
  /** Not a copy: must not be read after `dispose`. */
  readonly source: AudioSource;
  readonly open: OpenBytes;
  /** Keeps audio that is in memory beyond `dispose`. Null: it is in a file, or too much is kept already. */
  keep(): KeptAudio | null;
  /** Removes the file. May be called repeatedly. */
  dispose(): Promise<void>;
}

export interface KeptAudio {
  readonly open: OpenBytes;
  /** May be called repeatedly. */
  release(): void;
}

export interface SpoolWriter {
  /** If it returns a promise, the caller waits for it before it reuses the chunk or writes the next one. */
  write(chunk: Uint8Array): Promise<void> | void;
  finish(): Promise<SpooledAudio>;
  abort(): Promise<void>;
}

export interface BeginOptions {
  readonly maxBytes: number;
  readonly param: string;
  /** The hash will be needed, so a file is hashed while it is written instead of being read once more. */
  readonly hashed?: boolean;
  /** The declared minimum size: an upload that cannot fit in memory goes to a file from the start. */
  readonly leastBytes?: number;
}

export interface Spool {
  begin(options: BeginOptions): SpoolWriter;
  /** Bytes in memory and on disk of requests that have not disposed them. */
  readonly bytesInFlight: number;
  close(): Promise<void>;
}

/** For all uploads together: beyond it even small ones go to a file (docs/decisions/0006-memory-of-uploads.md). */
const SHARED_MEMORY_BYTES = 48 * 1_048_576;

const HASH_HERE_BYTES = 131_072;
/** Of these: kept beyond their requests. */
const KEPT_MEMORY_BYTES = 8 * 1_048_576;

export async function openSpool(options: {
  readonly directory: string;
  /** Per upload. */
  readonly memoryLimitBytes?: number;
}): Promise<Spool> {
  await makeDirectory(options.directory);
  await removeLeftovers(options.directory);
  const memoryLimitBytes = options.memoryLimitBytes ?? LARGEST_BLOCK_BYTES;
  const pool = createBlockPool({ largestBytes: memoryLimitBytes, sharedBytes: SHARED_MEMORY_BYTES });
  const holders = new Set<() => Promise<void>>();
  let bytesInFlight = 0;
  let keptBytes = 0;
  let isClosed = false;

  return {
    begin(begun) {
      if (isClosed) throw new Error("the spool is closed");
      const account: SpoolAccount = {
        add(bytes) {
          bytesInFlight += bytes;
        },
        keep(bytes) {
          if (keptBytes + bytes > KEPT_MEMORY_BYTES) return false;
          keptBytes += bytes;
          return true;
        },
        release() {
          holders.delete(holder);
        },
      };
      const writer = beginWriting({ ...begun, memoryLimitBytes, pool, directory: options.directory, account });
      const holder = () => writer.abort();
      holders.add(holder);
      return writer;
    },
    get bytesInFlight() {
      return bytesInFlight;
    },
    async close() {
      isClosed = true;
      await Promise.all([...holders].map((release) => release()));
    },
  };
}

/** What one upload adds to the totals of the spool. */
interface SpoolAccount {
  add(bytes: number): void;
  /** False: too much is kept already. A negative number of bytes is kept no longer. */
  keep(bytes: number): boolean;
  release(): void;
}

interface WriterOptions extends BeginOptions {
  readonly memoryLimitBytes: number;
  readonly pool: BlockPool;
  readonly directory: string;
  readonly account: SpoolAccount;
}

function beginWriting(options: WriterOptions): SpoolWriter {
  const { leastBytes = 0 } = options;
  const memory = createSpoolMemory(options.pool, leastBytes);
  const isForFile = leastBytes > options.memoryLimitBytes;
  let file: { readonly content: SpoolFile; readonly hash: Hash | null } | null = null;
  let sizeBytes = 0;
  let hasEnded = false;
  let disposed: Promise<void> | null = null;
  let isKept = false;

  async function release(): Promise<void> {
    hasEnded = true;
    disposed ??= (async () => {
      try {
        await file?.content.remove();
      } finally {
        options.account.release();
        if (!isKept) letGo();
      }
    })();
    await disposed;
  }

  function letGo(): void {
    options.account.add(-sizeBytes);
    // Kept audio that is released while it is disposed of is let go twice.
    sizeBytes = 0;
    memory.letGo();
  }

  function keep(): KeptAudio | null {
    const { blockBytes } = memory;
    if (file !== null || isKept || disposed !== null || !options.account.keep(blockBytes)) return null;
    isKept = true;
    return {
      open: memory.read,
      release() {
        if (!isKept) return;
        isKept = false;
        options.account.keep(-blockBytes);
        if (disposed !== null) letGo();
      },
    };
  }

  async function spill(chunk: Uint8Array): Promise<void> {
    const content = createSpoolFile(join(options.directory, spoolFileName()));
    const hash = options.hashed === true ? createHash("sha256") : null;
    file = { content, hash };
    for (const bytes of [memory.bytes(), chunk]) {
      hash?.update(bytes);
      await content.write(bytes);
    }
    memory.letGo();
  }

  function requireBytes(): Buffer {
    if (disposed !== null) throw new Error("the spooled audio is gone");
    return memory.bytes();
  }

  return {
    write(chunk) {
      if (hasEnded) throw new Error("the spool writer has ended");
      if (sizeBytes + chunk.length > options.maxBytes) throw audioTooLarge(options, sizeBytes + chunk.length);
      sizeBytes += chunk.length;
      options.account.add(chunk.length);
      if (file !== null) {
        file.hash?.update(chunk);
        return file.content.write(chunk);
      }
      return !isForFile && memory.add(chunk) ? undefined : spill(chunk);
    },
    async finish() {
      if (hasEnded) throw new Error("the spool writer has ended");
      hasEnded = true;
      try {
        await file?.content.finish();
      } catch (error) {
        await release();
        throw error;
      }
      const source: AudioSource =
        file === null ? { kind: "bytes", bytes: memory.bytes() } : { kind: "file", path: file.content.path, sizeBytes };
      const digestOfFile = file?.hash?.digest("hex");
      return {
        sizeBytes,
        async sha256() {
          const bytes = requireBytes();
          if (digestOfFile !== undefined) return digestOfFile;
          if (source.kind === "file") return await hashOf(readSpoolFile(source.path, "passing"));
          // Another thread takes longer: 53 µs of CPU for 64 KiB, 31 here.
          if (bytes.length <= HASH_HERE_BYTES) return hash("sha256", bytes);
          return Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes)).toString("hex");
        },
        source,
        open(pieces) {
          requireBytes();
          return source.kind === "file" ? readSpoolFile(source.path, pieces) : memory.read(pieces);
        },
        keep,
        dispose: release,
      };
    },
    abort: release,
  };
}

/** The recording as an object's body. It must not be disposed of before the object is stored. */
export function objectBody({ source, open }: SpooledAudio) {
  return source.kind === "file" ? { path: source.path, open } : { bytes: source.bytes, open };
}

async function hashOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of content) hash.update(bytes);
  return hash.digest("hex");
}
