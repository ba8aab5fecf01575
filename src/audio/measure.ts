// Measures submitted audio in a worker thread that a clock can kill (contract.md section 3, "Seconds"; reliability.md section 5).
import { Worker } from "node:worker_threads";
import { SNIFF_BYTES } from "./media-types.ts";
import type { Measurement } from "./measure-source.ts";
import type { WorkerAnswer, WorkerJob } from "./measure-worker.ts";

export type { Measurement } from "./measure-source.ts";

export type AudioSource =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly path: string; readonly sizeBytes: number };

export interface Measurer {
  /** Rejects only when aborted, closed, or the file cannot be read; whatever the bytes hold is an answer. */
  measure(source: AudioSource, signal?: AbortSignal): Promise<Measurement>;
  close(): Promise<void>;
}

export type MeasurerOptions = {
  readonly workers?: number;
  readonly killAfterMs?: (sizeBytes: number) => number;
  /** For tests: a worker that hangs or crashes. */
  readonly workerUrl?: URL;
};

type Job = { readonly source: AudioSource; readonly settle: (outcome: Measurement | Error) => void };
type Slot = { worker: Worker | null; job: Job | null; timer: NodeJS.Timeout | null };

const MEBIBYTE = 1_048_576;
const killAfterDefault = (sizeBytes: number): number => 2000 + 1000 * Math.ceil(sizeBytes / (32 * MEBIBYTE));

/** From .ts sources and from compiled .js alike: nothing rewrites a URL, so the extension is this file's own. */
const OWN_WORKER_URL = new URL(
  import.meta.url.endsWith(".ts") ? "./measure-worker.ts" : "./measure-worker.js",
  import.meta.url,
);

export function createMeasurer(options: MeasurerOptions = {}): Measurer {
  const killAfterMs = options.killAfterMs ?? killAfterDefault;
  const workerUrl = options.workerUrl ?? OWN_WORKER_URL;
  const slots: Slot[] = Array.from({ length: options.workers ?? 1 }, () => ({ worker: null, job: null, timer: null }));
  const queue: Job[] = [];
  let isClosed = false;

  const dispatch = (): void => {
    for (const slot of slots) {
      if (slot.job) continue;
      const job = queue.shift();
      if (!job) return;
      run(slot, job);
    }
  };

  const run = (slot: Slot, job: Job): void => {
    const worker = slot.worker ?? start(slot);
    slot.job = job;
    // Held only while it works: an idle worker must not keep the process alive.
    worker.ref();
    slot.timer = setTimeout(
      () => replace(slot, unreadable("could not be read in time")),
      killAfterMs(sizeOf(job.source)),
    );
    post(worker, job.source);
  };

  const start = (slot: Slot): Worker => {
    const worker = openWorker(workerUrl);
    slot.worker = worker;
    // What a worker says after it was replaced concerns nobody.
    const whenCurrent = (act: () => void) => (): void => {
      if (slot.worker === worker) act();
    };
    worker.on("message", (answer: WorkerAnswer) =>
      whenCurrent(() =>
        // The clock that was set for the job goes on.
        "needsAll" in answer ? postAll(worker, slot.job?.source) : finish(slot, outcomeOf(answer)),
      )(),
    );
    const failed = whenCurrent(() => replace(slot, unreadable("could not be read")));
    worker.on("error", failed).on("exit", failed);
    return worker;
  };

  const finish = (slot: Slot, outcome: Measurement | Error): void => {
    const job = slot.job;
    if (slot.timer) clearTimeout(slot.timer);
    slot.timer = null;
    slot.job = null;
    slot.worker?.unref();
    job?.settle(outcome);
    dispatch();
  };

  const replace = (slot: Slot, outcome: Measurement | Error): void => {
    const worker = slot.worker;
    slot.worker = null;
    void worker?.terminate();
    finish(slot, outcome);
  };

  const abort = (job: Job, reason: Error): void => {
    const slot = slots.find((candidate) => candidate.job === job);
    if (slot) return replace(slot, reason);
    const index = queue.indexOf(job);
    if (index >= 0) queue.splice(index, 1);
    job.settle(reason);
  };

  return {
    measure(source, signal) {
      if (isClosed) return Promise.reject(new Error("the measurer is closed"));
      if (signal?.aborted) return Promise.reject(reasonOf(signal));
      const { promise, resolve, reject } = Promise.withResolvers<Measurement>();
      const onAbort = (): void => {
        if (signal) abort(job, reasonOf(signal));
      };
      const job: Job = {
        source,
        settle(outcome) {
          signal?.removeEventListener("abort", onAbort);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      queue.push(job);
      dispatch();
      return promise;
    },
    async close() {
      isClosed = true;
      for (const job of queue.splice(0)) job.settle(new Error("the measurer is closed"));
      await Promise.all(
        slots.map(async (slot) => {
          const worker = slot.worker;
          slot.worker = null;
          finish(slot, new Error("the measurer is closed"));
          await worker?.terminate();
        }),
      );
    },
  };
}

function openWorker(url: URL): Worker {
  return new Worker(url, {
    // Nothing of the process is the parser's business: not its secrets, not flags such as --input-type.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });
}

const outcomeOf = (answer: Exclude<WorkerAnswer, { needsAll: true }>): Measurement | Error =>
  "fault" in answer ? new Error(`the audio file could not be read: ${answer.fault}`) : answer.measurement;

/** The beginning tells the length of most recordings, so no megabyte is copied over for its 44 bytes of header. */
function post(worker: Worker, source: AudioSource): void {
  if (source.kind === "file" || source.bytes.byteLength <= SNIFF_BYTES) return postAll(worker, source);
  send(worker, {
    kind: "head",
    bytes: new Uint8Array(source.bytes.subarray(0, SNIFF_BYTES)),
    sizeBytes: sizeOf(source),
  });
}

function postAll(worker: Worker, source: AudioSource | undefined): void {
  if (source === undefined) return;
  if (source.kind === "bytes") send(worker, { kind: "bytes", bytes: new Uint8Array(source.bytes) });
  else worker.postMessage({ kind: "file", path: source.path, sizeBytes: source.sizeBytes } satisfies WorkerJob);
}

/** A copy that is moved over: cloning a small view would drag its whole pool along. */
function send(worker: Worker, job: Exclude<WorkerJob, { kind: "file" }>): void {
  worker.postMessage(job, [job.bytes.buffer]);
}

const sizeOf = (source: AudioSource): number => (source.kind === "file" ? source.sizeBytes : source.bytes.byteLength);
const unreadable = (reason: string): Measurement => ({ ok: false, code: "INVALID_AUDIO", reason });
const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException("aborted", "AbortError");
