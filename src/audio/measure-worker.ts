// The worker thread of measure.ts: hostile bytes are parsed here, off the event loop, under a heap limit and a clock.
import { parentPort } from "node:worker_threads";
import { measureBytes, type Measurement } from "./measure-source.ts";
import { readBytes, readFile } from "./readers/byte-reader.ts";

export type WorkerJob =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly path: string; readonly sizeBytes: number };
export type WorkerAnswer = { readonly measurement: Measurement } | { readonly fault: string };

parentPort?.on("message", (job: WorkerJob) => {
  parentPort?.postMessage(answer(job));
});

function answer(job: WorkerJob): WorkerAnswer {
  try {
    if (job.kind === "bytes") return { measurement: measureBytes(readBytes(job.bytes)) };
    const { reader, close } = readFile(job.path, job.sizeBytes);
    try {
      return { measurement: measureBytes(reader) };
    } finally {
      close();
    }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : "unknown" };
  }
}
