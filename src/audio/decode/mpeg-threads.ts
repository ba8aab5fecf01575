// Threads that decode MPEG audio, each one recording at a time. Starting a thread takes 100 ms, ten times as long as decoding a sentence, so each is kept until
// it has been idle for a while [measuring.decoder-thread]. One that failed, hangs or was aborted is ended.
import { Worker } from "node:worker_threads";
import { threadUrl } from "../../lib/thread-url.ts";
import type { MpegAnswer, MpegJob, MpegOrder } from "./mpeg-worker.ts";
import { Undecodable } from "./pcm.ts";

export interface MpegThreads {
  /** A decoder of its own for one recording. Must be closed. */
  open(job: MpegJob, signal: AbortSignal): MpegThread;
}

export interface MpegThread {
  /** Pieces are decoded in order, and more than one may wait. Rejects with `Undecodable`, or with the signal's reason. */
  decode(piece: Uint8Array<ArrayBuffer>): Promise<Int16Array>;
  close(): Promise<void>;
}

const WORKER_URL = threadUrl(import.meta.url, "mpeg-worker");
const IDLE_MS = 60_000;
/** A piece takes milliseconds. Without an answer for so long, the thread hangs. */
const ANSWER_MS = 30_000;
/** Of JavaScript objects. The decoder's own memory is some 10 MB and does not grow with the recording. */
const MAX_HEAP_MB = 64;

interface Thread {
  readonly worker: Worker;
  /** Null: it is idle. */
  user: {
    readonly take: (answer: MpegAnswer) => void;
    readonly fail: (reason: string, cause?: unknown) => void;
  } | null;
  timer: NodeJS.Timeout | null;
}

export function createMpegThreads(startWorker: () => Worker = startMpegWorker): MpegThreads {
  const idle: Thread[] = [];

  function start(): Thread {
    const thread: Thread = { worker: startWorker(), user: null, timer: null };
    const gone = (cause?: unknown): void => {
      leave(thread);
      thread.user?.fail("mpeg", cause);
    };
    thread.worker.on("message", (answer: MpegAnswer) => thread.user?.take(answer));
    thread.worker.on("error", gone).on("exit", () => gone());
    return thread;
  }

  function leave(thread: Thread): void {
    if (thread.timer !== null) clearTimeout(thread.timer);
    const at = idle.indexOf(thread);
    if (at >= 0) idle.splice(at, 1);
  }

  function take(): Thread {
    const thread = idle.at(-1);
    if (thread === undefined) return start();
    leave(thread);
    thread.worker.ref();
    return thread;
  }

  /** An idle thread does not keep the process alive. */
  function keep(thread: Thread): void {
    thread.worker.unref();
    thread.timer = setTimeout(() => {
      leave(thread);
      void thread.worker.terminate();
    }, IDLE_MS).unref();
    idle.push(thread);
  }

  return { open: (job, signal) => openThread(take(), keep, job, signal) };
}

export function startMpegWorker(): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: 16 };
  return new Worker(WORKER_URL, { env: {}, execArgv: [], resourceLimits });
}

function openThread(thread: Thread, keep: (thread: Thread) => void, job: MpegJob, signal: AbortSignal): MpegThread {
  const { worker } = thread;
  /** Of pieces that the thread has, in order. */
  const awaited: PromiseWithResolvers<MpegAnswer>[] = [];
  let failure: Undecodable | null = null;
  const fail = (reason: string, cause?: unknown): void => {
    failure ??= new Undecodable(reason, { cause });
    for (const each of awaited) each.reject(failure);
  };
  thread.user = { take: (message) => awaited.shift()?.resolve(message), fail };
  const stop = (): void => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  const order = (what: MpegOrder, transfer: ArrayBuffer[] = []): void => worker.postMessage(what, transfer);
  order({ begin: job });
  return {
    decode: async (piece) => {
      signal.throwIfAborted();
      if (failure !== null) throw failure;
      // A new promise for each piece: races with one that lives longer would keep all samples in memory.
      const answer = Promise.withResolvers<MpegAnswer>();
      awaited.push(answer);
      const timer = setTimeout(() => fail("mpeg_timeout"), ANSWER_MS);
      try {
        order({ piece }, [piece.buffer]);
        const { samples } = await answer.promise;
        return samples;
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    close: async () => {
      // Of a reader that left early. Otherwise the thread would answer the next recording with samples of this one.
      if (!signal.aborted) await Promise.allSettled(awaited.map(({ promise }) => promise));
      signal.removeEventListener("abort", stop);
      thread.user = null;
      if (failure !== null || signal.aborted) {
        fail("mpeg");
        return void (await worker.terminate());
      }
      order({ end: true });
      keep(thread);
    },
  };
}
