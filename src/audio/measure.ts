// Measures uploaded audio in a worker thread that is killed when it uses too much CPU time [measuring.processor-limit].
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { GatewayError } from "../contract/errors.ts";
import { createRoundRobin, type Waiter } from "../lib/concurrency/round-robin.ts";
import { threadUrl } from "../lib/thread-url.ts";
import { type Measurement, measureInPlace } from "./measure-source.ts";
import type { WorkerAnswer, WorkerJob } from "./measure-worker.ts";
import { SNIFF_BYTES } from "./sniff-audio.ts";

export type { Measurement } from "./measure-source.ts";

export type AudioSource =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly path: string; readonly sizeBytes: number };

export interface Measurer {
  /**
   * Rejects only when aborted, closed, without enough CPU time (`OVERLOADED`), or when the file cannot be read. Waiting jobs are served round-robin by `owner`,
   * so that one owner's recordings, which may be crafted to take long, delay no other.
   */
  measure(source: AudioSource, wish?: { readonly signal?: AbortSignal; readonly owner?: string }): Promise<Measurement>;
  close(): Promise<void>;
}

export type MeasurerOptions = {
  readonly workers?: number;
  /** Limit in CPU time, not wall time: on a busy machine valid audio waits and is not refused. */
  readonly killAfterMs?: (sizeBytes: number) => number;
  readonly processorMs?: (worker: Worker) => Promise<number>;
  /** For tests: a worker that hangs or crashes. */
  readonly workerUrl?: URL;
};

type Job = Waiter & { readonly source: AudioSource; readonly settle: (outcome: Measurement | Error) => void };
type Slot = {
  worker: Worker | null;
  job: Job | null;
  timer: NodeJS.Timeout | null;
  /** CPU time that the worker had used when it last answered. */
  usedMs: number;
};
const EMPTY_SLOT: Slot = { worker: null, job: null, timer: null, usedMs: 0 };

const MEBIBYTE = 1_048_576;
const killAfterDefault = (sizeBytes: number): number => 2000 + 1000 * Math.ceil(sizeBytes / (32 * MEBIBYTE));
/** A job may take this multiple of its CPU limit in wall time before the machine counts as overloaded. */
const PATIENCE = 15;

const OWN_WORKER_URL = threadUrl(import.meta.url, "measure-worker");

export function createMeasurer(options: MeasurerOptions = {}): Measurer {
  const killAfterMs = options.killAfterMs ?? killAfterDefault;
  const processorMs = options.processorMs ?? usedByThread;
  const workerUrl = options.workerUrl ?? OWN_WORKER_URL;
  const slots: Slot[] = Array.from({ length: options.workers ?? 1 }, () => ({ ...EMPTY_SLOT }));
  const queue: Job[] = [];
  const turns = createRoundRobin();
  let isClosed = false;

  const dispatch = (): void => {
    for (const slot of slots) {
      if (slot.job) continue;
      const job = turns.next(queue);
      if (!job) return;
      queue.splice(queue.indexOf(job), 1);
      run(slot, job);
    }
  };

  const run = (slot: Slot, job: Job): void => {
    const worker = slot.worker ?? start(slot);
    slot.job = job;
    // Referenced only while it works: an idle worker must not keep the process alive.
    worker.ref();
    const limitMs = killAfterMs(sizeOf(job.source));
    slot.timer = setTimeout(() => void judge(slot, job, worker, limitMs), limitMs);
    post(worker, job.source);
  };

  /** The wall-time limit has passed. Whether the CPU limit has, only the thread can report. */
  const judge = async (slot: Slot, job: Job, worker: Worker, limitMs: number): Promise<void> => {
    slot.timer = setTimeout(() => replace(slot, overloadedError()), (PATIENCE - 1) * limitMs);
    const usedMs = async (): Promise<number> => (await processorMs(worker)) - slot.usedMs;
    if (await usesUp(limitMs, usedMs, () => slot.job === job)) replace(slot, unreadable("could not be read in time"));
  };

  const start = (slot: Slot): Worker => {
    const worker = openWorker(workerUrl);
    slot.worker = worker;
    slot.usedMs = 0;
    // Messages of a worker that was replaced are ignored.
    const ifCurrent = (act: () => void) => (): void => {
      if (slot.worker === worker) act();
    };
    worker.on("message", (answer: WorkerAnswer) =>
      ifCurrent(() => {
        // The job's timer continues.
        if ("needsAll" in answer) return postAll(worker, slot.job?.source);
        slot.usedMs = answer.usedMs;
        finish(slot, outcomeOf(answer));
      })(),
    );
    const failed = ifCurrent(() => replace(slot, unreadable("could not be read")));
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
    measure(source, { signal, owner = "" } = {}) {
      if (isClosed) return Promise.reject(new Error("the measurer is closed"));
      if (signal?.aborted) return Promise.reject(reasonOf(signal));
      const measurement = source.kind === "bytes" ? measureInPlace(source.bytes) : null;
      if (measurement !== null) return Promise.resolve(measurement);
      const { job, promise } = openJob({ source, owner }, signal, abort);
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

function openJob(
  asked: Pick<Job, "source" | "owner">,
  signal: AbortSignal | undefined,
  abort: (job: Job, reason: Error) => void,
): { readonly job: Job; readonly promise: Promise<Measurement> } {
  const { promise, resolve, reject } = Promise.withResolvers<Measurement>();
  const onAbort = (): void => {
    if (signal) abort(job, reasonOf(signal));
  };
  const job: Job = {
    ...asked,
    settle(outcome) {
      signal?.removeEventListener("abort", onAbort);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    },
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  return { job, promise };
}

function openWorker(url: URL): Worker {
  return new Worker(url, {
    // The parser gets nothing of this process: no secrets, and no flags such as --input-type.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });
}

/** Whether the job reaches its CPU limit before it ends. */
async function usesUp(limitMs: number, usedMs: () => Promise<number>, goesOn: () => boolean): Promise<boolean> {
  while (goesOn()) {
    const leftMs = limitMs - (await usedMs());
    if (leftMs <= 0) return goesOn();
    await wait(Math.max(leftMs, 50), undefined, { ref: false });
  }
  return false;
}

/** 0 for a thread that does not run yet. */
function usedByThread(worker: Worker): Promise<number> {
  return worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1000,
    () => 0,
  );
}

const outcomeOf = (answer: Exclude<WorkerAnswer, { needsAll: true }>): Measurement | Error =>
  "fault" in answer ? new Error(`the audio file could not be read: ${answer.fault}`) : answer.measurement;

/** The beginning is enough to measure most recordings, so a megabyte is not copied for its 44 bytes of header. */
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

/** Transfers a copy: cloning a small view would copy its whole pool. */
function send(worker: Worker, job: Exclude<WorkerJob, { kind: "file" }>): void {
  worker.postMessage(job, [job.bytes.buffer]);
}

const sizeOf = (source: AudioSource): number => (source.kind === "file" ? source.sizeBytes : source.bytes.byteLength);
const overloadedError = (): GatewayError =>
  new GatewayError("OVERLOADED", { message: "The gateway is too busy to measure the audio at the moment." });
const unreadable = (reason: string): Measurement => ({ ok: false, code: "INVALID_AUDIO", reason });
const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException("aborted", "AbortError");
