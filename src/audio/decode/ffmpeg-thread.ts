// The thread that starts ffmpeg for all recordings of this process. Starting a thread takes 70 ms of a processor, as long as decoding a sentence, so it is kept
// until it has been idle for a while [measuring.decoder-thread].
import { Worker } from "node:worker_threads";
import { threadUrl } from "../../lib/thread-url.ts";
import type { FfmpegAnswer, FfmpegJob, FfmpegMessage, FfmpegOrder } from "./ffmpeg-worker.ts";

export interface FfmpegThread {
  /** Starts ffmpeg. The run must be stopped, also after its end. */
  open(job: FfmpegJob): FfmpegRun;
}

export interface FfmpegRun {
  /** Resolves with the next samples or the end. */
  next(): Promise<FfmpegAnswer>;
  /** Kills ffmpeg. `next` is answered with the end. */
  stop(): void;
  /** Resolves when the program has exited. */
  readonly ended: Promise<void>;
}

const WORKER_URL = threadUrl(import.meta.url, "ffmpeg-worker");
const IDLE_MS = 60_000;

interface OpenRun {
  readonly worker: Worker;
  readonly take: (answer: FfmpegAnswer) => void;
}

export function createFfmpegThread(): FfmpegThread {
  const runs = new Map<number, OpenRun>();
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function startWorker(): Worker {
    const started = new Worker(WORKER_URL, { env: {}, execArgv: [] });
    const gone = (): void => {
      if (worker === started) worker = null;
      for (const run of runs.values()) if (run.worker === started) run.take(KILLED);
    };
    started.on("message", ({ id, answer }: FfmpegMessage) => runs.get(id)?.take(answer));
    return started.on("error", gone).on("exit", gone);
  }

  /** An idle thread does not keep the process alive. */
  function release(): void {
    if (runs.size > 0 || worker === null) return;
    const unused = worker;
    unused.unref();
    idle = setTimeout(() => {
      if (worker === unused) worker = null;
      void unused.terminate();
    }, IDLE_MS).unref();
  }

  return {
    open: (job) => {
      clearTimeout(idle);
      worker ??= startWorker();
      const used = worker;
      used.ref();
      const id = (lastId += 1);
      const ended = Promise.withResolvers<void>();
      let end: FfmpegAnswer | null = null;
      let request: PromiseWithResolvers<FfmpegAnswer> | null = null;
      const take = (answer: FfmpegAnswer): void => {
        if ("exitCode" in answer) {
          end = answer;
          runs.delete(id);
          ended.resolve();
          release();
        }
        request?.resolve(answer);
      };
      const order = (what: FfmpegOrder): void => used.postMessage(what);
      runs.set(id, { worker: used, take });
      order({ id, start: job });
      return {
        next: () => {
          if (end !== null) return Promise.resolve(end);
          request = Promise.withResolvers();
          order({ id, order: "next" });
          return request.promise;
        },
        stop: () => {
          if (end === null) order({ id, order: "stop" });
        },
        ended: ended.promise,
      };
    },
  };
}

const KILLED: FfmpegAnswer = { exitCode: null };
