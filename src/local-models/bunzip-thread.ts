// Worker thread: decompresses a bzip2 file and posts it in chunks. The library works synchronously, so it waits for its reader between chunks.
import { closeSync, openSync, readSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import Bunzip from "seek-bzip";
import type { BunzipTask } from "./bunzip.ts";

const CHUNK_BYTES = 1_048_576;
/** Chunks that wait for the reader. */
const MOST_WAITING = 4;

const { path, waiting: shared } = workerData as BunzipTask;
const waiting = new Int32Array(shared);

function post(chunk: Uint8Array): void {
  while (Atomics.load(waiting, 0) >= MOST_WAITING) Atomics.wait(waiting, 0, Atomics.load(waiting, 0), 1_000);
  Atomics.add(waiting, 0, 1);
  // Copied, because the buffer is filled again.
  parentPort?.postMessage(Uint8Array.from(chunk));
}

function decompress(file: number): void {
  const input = Buffer.alloc(CHUNK_BYTES);
  let at = 0;
  let end = 0;
  const isAtEnd = (): boolean => {
    if (at < end) return false;
    end = readSync(file, input);
    at = 0;
    return end === 0;
  };
  const readByte = (): number => {
    if (isAtEnd()) throw new Error("the archive is truncated");
    return input[at++] ?? 0;
  };
  const output = Buffer.alloc(CHUNK_BYTES);
  let filled = 0;
  Bunzip.decode(
    {
      readByte,
      read: (buffer, offset, length) => {
        for (let index = 0; index < length; index += 1) buffer[offset + index] = readByte();
        return length;
      },
      eof: isAtEnd,
    },
    {
      writeByte: (byte) => {
        output[filled++] = byte;
        if (filled < CHUNK_BYTES) return;
        post(output);
        filled = 0;
      },
    },
    // Parallel packers write several streams one after another.
    true,
  );
  if (filled > 0) post(output.subarray(0, filled));
}

const file = openSync(path, "r");
try {
  decompress(file);
  parentPort?.postMessage(null);
} finally {
  closeSync(file);
}
