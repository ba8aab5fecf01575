// One worker thread that works on one task at a time, round-robin by owner. It starts with the first task and ends when idle, which frees its memory.
import { type Transferable, Worker, type WorkerOptions } from "node:worker_threads";
import { createRoundRobin, type Waiter } from "./round-robin.ts";

export interface TaskThread<Task, Answer> {
  /** Calls `work` when the thread is free, and keeps the thread for it until its promise settles. */
  run<T>(options: RunOptions, work: (ask: Ask<Task, Answer>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface RunOptions {
  readonly owner: string;
  /** Aborts work that waits. Work that was started runs to its end. */
  readonly signal?: AbortSignal;
}

/** Null: the thread ended, or did not answer in time, or is closed. */
export type Ask<Task, Answer> = (task: Task, transfer: readonly Transferable[]) => Promise<Answer | null>;

export interface TaskThreadOptions extends Pick<WorkerOptions, "workerData" | "resourceLimits"> {
  readonly url: URL;
  /** The thread ends after this idle time. */
  readonly idleMs?: number;
  /** Wall-clock time of an answer. Infinity: no limit. */
  readonly killAfterMs: number;
}

const IDLE_MS = 5_000;

interface Job extends Waiter {
  readonly start: () => Promise<void>;
}

export function createTaskThread<Task, Answer>({
  url,
  idleMs = IDLE_MS,
  killAfterMs,
  ...workerOptions
}: TaskThreadOptions): TaskThread<Task, Answer> {
  const waiting: Job[] = [];
  const turns = createRoundRobin();
  let worker: Worker | null = null;
  let isBusy = false;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  const stopWorker = async (): Promise<void> => {
    const stopped = worker;
    worker = null;
    await stopped?.terminate();
  };

  const startWorker = (): Worker => {
    // The thread gets nothing of this process: no secrets, and no flags such as --input-type.
    const started = new Worker(url, { ...workerOptions, env: {}, execArgv: [] });
    // The task that is running is answered with null as well.
    const gone = (): void => {
      if (worker === started) worker = null;
    };
    started.on("error", gone).on("exit", gone);
    return started;
  };

  const ask: Ask<Task, Answer> = async (task, transfer) => {
    if (isClosed) return null;
    worker ??= startWorker();
    worker.ref();
    const answer = await answerOf<Answer>(worker, task, transfer, killAfterMs);
    // A thread that did not answer is not used again.
    if (answer === null) await stopWorker();
    return answer;
  };

  const runNext = (): void => {
    if (isBusy) return;
    const job = turns.next(waiting);
    if (job === undefined) {
      if (worker === null) return;
      worker.unref();
      idle = setTimeout(() => void stopWorker(), idleMs);
      idle.unref();
      return;
    }
    waiting.splice(waiting.indexOf(job), 1);
    clearTimeout(idle);
    isBusy = true;
    void job.start().finally(() => {
      isBusy = false;
      runNext();
    });
  };

  return {
    run: async <T>({ owner, signal }: RunOptions, work: (ask: Ask<Task, Answer>) => Promise<T>): Promise<T> => {
      if (isClosed) throw new Error("the thread is closed");
      signal?.throwIfAborted();
      const result = Promise.withResolvers<T>();
      const job: Job = { owner, start: () => work(ask).then(result.resolve, result.reject) };
      const onAbort = (): void => {
        const at = waiting.indexOf(job);
        if (at >= 0) waiting.splice(at, 1);
        result.reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      waiting.push(job);
      runNext();
      try {
        return await result.promise;
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
    },
    close: async () => {
      isClosed = true;
      clearTimeout(idle);
      for (const job of waiting.splice(0)) void job.start();
      await stopWorker();
    },
  };
}

/** Null: the thread ended or did not answer in time. */
function answerOf<Answer>(
  worker: Worker,
  task: unknown,
  transfer: readonly Transferable[],
  killAfterMs: number,
): Promise<Answer | null> {
  return new Promise((resolve) => {
    const settle = (answer: Answer | null): void => {
      clearTimeout(timer);
      worker.off("message", settle).off("exit", fail).off("error", fail);
      resolve(answer);
    };
    const fail = (): void => settle(null);
    const timer = killAfterMs === Infinity ? undefined : setTimeout(fail, killAfterMs);
    worker.on("message", settle).on("exit", fail).on("error", fail);
    worker.postMessage(task, transfer);
  });
}
