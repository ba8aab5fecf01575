// The worker thread of measure.ts: parses untrusted audio off the event loop, under a heap limit and a CPU limit.
import { parentPort } from "node:worker_threads";
import { measureBytes, type Measurement } from "./measure-source.ts";
import { readBytes, readFile } from "./readers/byte-reader.ts";
import { BeyondHead, readHead } from "./readers/head-reader.ts";

export type WorkerJob =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "head"; readonly bytes: Uint8Array<ArrayBuffer>; readonly sizeBytes: number }
  | { readonly kind: "file"; readonly path: string; readonly sizeBytes: number };
type Outcome =
  | { readonly measurement: Measurement }
  /** The beginning is not enough: the job must be sent again with the whole recording. */
  | { readonly needsAll: true }
  | { readonly fault: string };
/** With the CPU time that this thread has used so far. */
export type WorkerAnswer = Outcome & { readonly usedMs: number };

parentPort?.on("message", (job: WorkerJob) => {
  const outcome = judge(job);
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage({ ...outcome, usedMs: (user + system) / 1000 } satisfies WorkerAnswer);
});

function judge(job: WorkerJob): Outcome {
  try {
    if (job.kind === "bytes") return { measurement: measureBytes(readBytes(job.bytes)) };
    if (job.kind === "head") return { measurement: measureBytes(readHead(job.bytes, job.sizeBytes)) };
    const { reader, close } = readFile(job.path, job.sizeBytes);
    try {
      return { measurement: measureBytes(reader) };
    } finally {
      close();
    }
  } catch (error) {
    if (error instanceof BeyondHead) return { needsAll: true };
    return { fault: error instanceof Error ? error.message : "unknown" };
  }
}
