// Runs jobs from the queue in this process, those of several apps next to one another [jobs.fairness], and releases them in order when the process stops
// [jobs.graceful-stop]. `store/claimed-jobs.ts` makes a queued job one that is processed.
import { z } from "zod";
import { createLeases } from "./leases.ts";
import { runClaimed, runJob } from "./run/run-job.ts";
import { JOBS_QUEUE, type JobServices } from "./services.ts";

export interface Worker {
  /** Begins the shutdown: claims no more jobs and releases runs at providers. */
  stop(): void;
  /** Call it after the queue has stopped. */
  close(): void;
}

export interface WorkerOptions {
  /** Number of concurrent jobs in this process. */
  readonly concurrency: number;
  readonly onError: (error: unknown) => void;
}

const message = z.object({ job_id: z.string() });

export function startWorker(services: JobServices, { concurrency, onError }: WorkerOptions): Worker {
  const stopping = new AbortController();
  const leases = createLeases({ database: services.database, onError });
  const workerServices = { ...services, leases, stopping: stopping.signal };
  services.queue.work(JOBS_QUEUE, {
    concurrency,
    perGroup: maxPerApp(concurrency),
    handler: async ({ data, signal, freeSlot }) => {
      // The queue redelivers the message to another process.
      if (stopping.signal.aborted) throw new Error("this process is stopping");
      await runJob({ ...workerServices, freeSlot }, message.parse(data).job_id, signal);
    },
  });
  services.localStarts.workWith(({ job, audio }, { signal, freeSlot }) =>
    runClaimed({ ...workerServices, freeSlot }, job, signal, audio),
  );
  return {
    stop: () => {
      services.queue.drain();
      stopping.abort();
    },
    close: () => leases.close(),
  };
}

/** One app may use three quarters of the slots: another app's job starts immediately, and an app that is alone wastes little. */
function maxPerApp(concurrency: number): number {
  return Math.max(1, Math.floor((concurrency * 3) / 4));
}
