// Stores a request's audio while it is measured: in memory up to 1 MiB, in a temporary file beyond, so that an upload of 25 MiB is never held in memory.
import { createHash } from "node:crypto";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY_BYTES = 1_048_576;

export interface Spooled {
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly content:
    | { readonly kind: "bytes"; readonly bytes: Uint8Array }
    | { readonly kind: "file"; readonly path: string };
  readonly remove: () => Promise<void>;
}

export interface SpoolWriter {
  readonly write: (chunk: Uint8Array) => Promise<void>;
  readonly finish: () => Promise<Spooled>;
  readonly remove: () => Promise<void>;
}

export function createSpool(): SpoolWriter {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  let chunks: Uint8Array[] = [];
  let directory: string | null = null;
  let handle: FileHandle | null = null;

  async function remove(): Promise<void> {
    chunks = [];
    await handle?.close();
    handle = null;
    if (directory !== null) await rm(directory, { recursive: true, force: true });
    directory = null;
  }
  async function write(chunk: Uint8Array): Promise<void> {
    hash.update(chunk);
    sizeBytes += chunk.length;
    if (handle === null && sizeBytes <= MEMORY_BYTES) {
      chunks.push(Buffer.from(chunk));
      return;
    }
    if (handle === null) {
      directory = await mkdtemp(join(tmpdir(), "patchbay-sandbox-"));
      handle = await open(join(directory, "audio"), "wx", 0o600);
      await writeAll(handle, Buffer.concat(chunks));
      chunks = [];
    }
    await writeAll(handle, chunk);
  }
  async function finish(): Promise<Spooled> {
    await handle?.close();
    handle = null;
    const content =
      directory === null
        ? { kind: "bytes" as const, bytes: Buffer.concat(chunks) }
        : { kind: "file" as const, path: join(directory, "audio") };
    chunks = [];
    return { sizeBytes, sha256: hash.digest("hex"), content, remove };
  }
  return { write, finish, remove };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, offset);
    offset += bytesWritten;
  }
}
