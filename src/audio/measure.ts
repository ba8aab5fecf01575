// Measures submitted audio in a worker thread that is killed when it works too long [measuring.processor-limit].
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { GatewayError } from "../contract/errors.ts";
import { createRoundRobin, type Waiting } from "../lib/concurrency/round-robin.ts";
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
   * Rejects only when aborted, closed, starved of the processor (`OVERLOADED`), or the file cannot be read. Of those who wait each
   * `owner` has its turn: nobody waits behind all recordings of another, which may be made to take long.
   */
  measure(source: AudioSource, wish?: { readonly signal?: AbortSignal; readonly owner?: string }): Promise<Measurement>;
  close(): Promise<void>;
}

export type MeasurerOptions = {
  readonly workers?: number;
  /** Of the processor, not of the clock: on a busy machine sound audio waits for its turn and is not blamed for it. */
  readonly killAfterMs?: (sizeBytes: number) => number;
  readonly processorMs?: (worker: Worker) => Promise<number>;
  /** For tests: a worker that hangs or crashes. */
  readonly workerUrl?: URL;
};

type Job = Waiting & { readonly source: AudioSource; readonly settle: (outcome: Measurement | Error) => void };
type Slot = {
  worker: Worker | null;
  job: Job | null;
  timer: NodeJS.Timeout | null;
  /** What the worker had used of the processor when it answered last. */
  usedMs: number;
};
const EMPTY_SLOT: Slot = { worker: null, job: null, timer: null, usedMs: 0 };

const MEBIBYTE = 1_048_576;
const killAfterDefault = (sizeBytes: number): number => 2000 + 1000 * Math.ceil(sizeBytes / (32 * MEBIBYTE));
/** How often its limit a job may take by the clock before the machine counts as overloaded. */
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
    // Held only while it works: an idle worker must not keep the process alive.
    worker.ref();
    const limitMs = killAfterMs(sizeOf(job.source));
    slot.timer = setTimeout(() => void judge(slot, job, worker, limitMs), limitMs);
    post(worker, job.source);
  };

  /** Its time is over by the clock; whether by what it had of the processor, only the thread can tell. */
  const judge = async (slot: Slot, job: Job, worker: Worker, limitMs: number): Promise<void> => {
    slot.timer = setTimeout(() => replace(slot, starved()), (PATIENCE - 1) * limitMs);
    const usedMs = async (): Promise<number> => (await processorMs(worker)) - slot.usedMs;
    if (await usesUp(limitMs, usedMs, () => slot.job === job)) replace(slot, unreadable("could not be read in time"));
  };

  const start = (slot: Slot): Worker => {
    const worker = openWorker(workerUrl);
    slot.worker = worker;
    slot.usedMs = 0;
    // What a worker says after it was replaced concerns nobody.
    const whenCurrent = (act: () => void) => (): void => {
      if (slot.worker === worker) act();
    };
    worker.on("message", (answer: WorkerAnswer) =>
      whenCurrent(() => {
        // The clock that was set for the job goes on.
        if ("needsAll" in answer) return postAll(worker, slot.job?.source);
        slot.usedMs = answer.usedMs;
        finish(slot, outcomeOf(answer));
      })(),
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
    measure(source, { signal, owner = "" } = {}) {
      if (isClosed) return Promise.reject(new Error("the measurer is closed"));
      if (signal?.aborted) return Promise.reject(reasonOf(signal));
      const known = source.kind === "bytes" ? measureInPlace(source.bytes) : null;
      if (known !== null) return Promise.resolve(known);
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
    // Nothing of the process is the parser's business: not its secrets, not flags such as --input-type.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });
}

/** Whether it comes to its limit before it is over. */
async function usesUp(limitMs: number, usedMs: () => Promise<number>, goesOn: () => boolean): Promise<boolean> {
  while (goesOn()) {
    const leftMs = limitMs - (await usedMs());
    if (leftMs <= 0) return goesOn();
    await wait(Math.max(leftMs, 50), undefined, { ref: false });
  }
  return false;
}

/** 0 for one that does not run yet. */
function usedByThread(worker: Worker): Promise<number> {
  return worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1000,
    () => 0,
  );
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
const starved = (): GatewayError =>
  new GatewayError("OVERLOADED", { message: "The gateway is too busy to measure the audio at the moment." });
const unreadable = (reason: string): Measurement => ({ ok: false, code: "INVALID_AUDIO", reason });
const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException("aborted", "AbortError");
