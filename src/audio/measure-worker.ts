// The worker thread of measure.ts: hostile bytes are parsed here, off the event loop, under a heap limit and a clock.
import { parentPort } from "node:worker_threads";
import { measureBytes, type Measurement } from "./measure-source.ts";
import { type ByteReader, readBytes, readFile } from "./readers/byte-reader.ts";

export type WorkerJob =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "head"; readonly bytes: Uint8Array<ArrayBuffer>; readonly sizeBytes: number }
  | { readonly kind: "file"; readonly path: string; readonly sizeBytes: number };
type Outcome =
  | { readonly measurement: Measurement }
  /** The beginning does not tell; the job is to be sent again, whole. */
  | { readonly needsAll: true }
  | { readonly fault: string };
/** With what this thread has used of the processor so far. */
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

class BeyondHead extends Error {}

/** A reader of the whole that has only its beginning: what lies behind it ends the attempt, before any verdict. */
function readHead(bytes: Uint8Array, sizeBytes: number): ByteReader {
  const head = readBytes(bytes);
  const within = (end: number): void => {
    if (end > bytes.byteLength) throw new BeyondHead();
  };
  return {
    size: sizeBytes,
    read(offset, length) {
      within(Math.min(offset + length, sizeBytes));
      return head.read(offset, length);
    },
    u8(offset) {
      within(Math.min(offset + 1, sizeBytes));
      return head.u8(offset);
    },
    u32(offset) {
      within(Math.min(offset + 4, sizeBytes));
      return head.u32(offset);
    },
    indexOf(byte, from) {
      const at = head.indexOf(byte, from);
      if (at === -1) throw new BeyondHead();
      return at;
    },
  };
}
