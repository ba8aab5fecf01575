// A process that works on jobs: takes them off the queue, several apps next to one another [jobs.fairness], and hands them back in order
// when it stops [jobs.graceful-stop].
import { z } from "zod";
import { createLeases } from "./leases.ts";
import { runJob } from "./run-job.ts";
import { JOBS_QUEUE, type JobServices } from "./services.ts";

export interface Worker {
  /** Begins to stop: nothing new is taken up by this process, and runs at providers are handed back. */
  stop(): void;
  /** After the queue has stopped. */
  close(): void;
}

export interface WorkerOptions {
  /** Jobs at once in this process. */
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
    perGroup: shareOf(concurrency),
    handler: async ({ data, signal }) => {
      // The message comes again, to somebody else.
      if (stopping.signal.aborted) throw new Error("this process is stopping");
      await runJob(workerServices, message.parse(data).job_id, signal);
    },
  });
  return {
    stop: () => {
      services.queue.drain();
      stopping.abort();
    },
    close: () => leases.close(),
  };
}

/** One app may fill three quarters: another's job finds room at once, and an app that is alone wastes little. */
function shareOf(concurrency: number): number {
  return Math.max(1, Math.floor((concurrency * 3) / 4));
}
