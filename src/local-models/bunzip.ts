// Decompresses a bzip2 file in a worker thread, with back-pressure: the library is synchronous and takes minutes for the largest model.
import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { threadUrl } from "../lib/thread-url.ts";

export interface BunzipTask {
  readonly path: string;
  /** One counter: chunks that were posted and not yet read. */
  readonly waiting: SharedArrayBuffer;
}

/** A block needs some 10 MB. A thread that needs more fails, and the process continues. */
const MEMORY_MB = 128;

/** Leaving the loop ends the thread. */
export async function* bunzip(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const waiting = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(waiting);
  const workerData: BunzipTask = { path, waiting };
  const worker = new Worker(threadUrl(import.meta.url, "bunzip-thread"), {
    workerData,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  try {
    // `on` throws what the worker emits as `error`.
    for await (const [chunk] of on(worker, "message", {
      ...(signal === undefined ? {} : { signal }),
      close: ["exit"],
    })) {
      if (chunk === null) return;
      Atomics.sub(counter, 0, 1);
      Atomics.notify(counter, 0);
      yield chunk as Uint8Array;
    }
    throw new Error("the thread that decompresses ended early");
  } finally {
    await worker.terminate();
  }
}
