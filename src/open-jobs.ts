// The part of the composition root that is about durable work: the queue, the object store, the worker and its sweeps.
import type { Logger } from "pino";
import type { Configuration } from "./config/configuration.ts";
import type { Spool } from "./audio/spool.ts";
import type { GatewayServices } from "./gateway/services.ts";
import { NO_REMOTE_AUDIO } from "./jobs/fetch-audio.ts";
import { JOB_QUEUES, type JobServices } from "./jobs/services.ts";
import { removeOrphans, sweepJobs } from "./jobs/sweep.ts";
import { startWorker } from "./jobs/worker.ts";
import { every } from "./lib/every.ts";
import { createResultTokens } from "./objects/result-token.ts";
import { objectStoreSettings, openObjectStore } from "./objects/store.ts";
import { createQueue } from "./queue/queue.ts";
import type { Database } from "./storage/database.ts";
import type { Seal } from "./storage/seal.ts";
import { deliverOnTerminal } from "./webhooks/on-terminal.ts";
import { webhookQueues } from "./webhooks/queues.ts";

export interface OpenJobsOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly seal: Seal;
  readonly pepper: Buffer;
  readonly logger: Logger;
  readonly gateway: GatewayServices;
  readonly spool: Spool;
  /** Whether this process works on jobs, or only takes them. */
  readonly works: boolean;
}

export interface OpenedJobs {
  readonly jobs: JobServices;
  /** Aborts when a shutdown begins. */
  readonly draining: AbortSignal;
  /** From now on no job is taken up here, and nobody is kept waiting for one. */
  drain(): void;
  /** Calls in flight may go on for so long. */
  close(graceMs: number): Promise<void>;
}

const SWEEP_MS = 10_000;
const ORPHAN_SWEEP_MS = 3_600_000;

export async function openJobs(options: OpenJobsOptions): Promise<OpenedJobs> {
  const { configuration, database, seal, pepper, logger, gateway, spool } = options;
  const { limits } = configuration;
  const queue = createQueue({
    database,
    queues: { ...JOB_QUEUES, ...webhookQueues(limits.webhookTimeoutSeconds * 1000) },
    onError: (error) => logger.error({ task: "queue", err: error }, "a message of the queue could not be worked on"),
  });
  await queue.start();
  const objects = await openObjectStore(objectStoreSettings(configuration.storage));
  const jobs: JobServices = {
    gateway,
    database,
    seal,
    objects,
    queue,
    spool,
    tokens: createResultTokens({ secret: pepper }),
    onTerminal: (tx, event) => deliverOnTerminal({ queue }, tx, { ...event, eventId: event.id }),
    fetchRemote: NO_REMOTE_AUDIO,
    limits,
  };
  const worker = options.works
    ? startWorker(jobs, {
        concurrency: limits.jobConcurrency,
        onError: (error) => logger.error({ task: "renew leases", err: error }, "could not renew the leases of jobs"),
      })
    : null;
  const sweeps = [
    every(SWEEP_MS, logger, "sweep jobs", () => sweepJobs(jobs)),
    every(ORPHAN_SWEEP_MS, logger, "remove orphaned objects", () => removeOrphans(jobs)),
  ];
  const draining = new AbortController();
  return {
    jobs,
    draining: draining.signal,
    drain: () => {
      worker?.stop();
      draining.abort();
    },
    close: async (graceMs) => {
      await Promise.all(sweeps.map((sweep) => sweep.stop()));
      await queue.stop({ graceMs });
      worker?.close();
      objects.close();
    },
  };
}
