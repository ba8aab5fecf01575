// Composes durable work: the queue, the object store, jobs, webhooks, their workers and sweeps.
import { createKeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import { MOST_RESULT_READS } from "../jobs/read/read-result-in-pieces.ts";
import type { JsonParser } from "../lib/json/json-parser.ts";
import type { Logger } from "pino";
import type { Configuration } from "../config/configuration.ts";
import type { GatewayServices } from "../gateway/services.ts";
import { JOB_QUEUES, JOBS_QUEUE, type JobServices } from "../jobs/services.ts";
import { LOOK_FOR_LAPSED_MS, offerLapsed, purgeJobs, purgeObjects, removeOrphans, sweepJobs } from "../jobs/sweep.ts";
import { createEndBatch } from "../jobs/end-batch.ts";
import { createAppMutex } from "../jobs/run/app-mutex.ts";
import { createWriteBatches } from "../jobs/run/write-batches.ts";
import { createLocalStarts } from "../jobs/local-starts.ts";
import { createSubmitBatch } from "../jobs/submit-batch.ts";
import { startWorker } from "../jobs/worker.ts";
import { createWaitGroup } from "../lib/concurrency/wait-group.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import type { DirtyTask } from "../lib/concurrency/dirty-task.ts";
import { createResultTokens } from "../objects/result-token.ts";
import { objectStoreSettings, openObjectStore } from "../objects/store.ts";
import { SWEEP_MS } from "./metering.ts";
import type { Outbound } from "../outbound/dial.ts";
import { webhookPolicy } from "../outbound/url-policy.ts";
import { createQueue, type Queue } from "../queue/queue.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { startDeliveries } from "../webhooks/deliver.ts";
import { createDeliveryWrites } from "../webhooks/delivery-writes.ts";
import { deliverOnTerminal } from "../webhooks/on-terminal.ts";
import { webhookQueues } from "../webhooks/queues.ts";
import { createReceivers } from "../webhooks/receivers.ts";
import type { WebhookServices } from "../webhooks/services.ts";
import type { OnTerminal } from "../webhooks/store/webhook-events.ts";
import { sweepWebhooks } from "../webhooks/sweep.ts";

export interface OpenJobsOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly seal: Seal;
  readonly pepper: Buffer;
  readonly logger: Logger;
  readonly gateway: GatewayServices;
  readonly parser: JsonParser;
  readonly outbound: Outbound;
  readonly nowMs: () => number;
  readonly metrics: Pick<Metrics, "webhookAttempted">;
  /** Reclaims the space of purged jobs; the replies of idempotency keys are purged elsewhere. */
  readonly vacuum: DirtyTask;
  /** Whether this process works on jobs and delivers their events, or only accepts them. Default: true. */
  readonly works?: boolean;
}

export interface OpenedJobs {
  readonly jobs: JobServices;
  readonly webhooks: WebhookServices;
  /** Aborts when a shutdown begins. */
  readonly draining: AbortSignal;
  /** From now on this process claims no job and answers all long polls at once. */
  drain(): void;
  /** Calls in flight may continue for `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const ORPHAN_SWEEP_MS = 3_600_000;
/** Expired results are removed from every file within 15 min [jobs.result-retention]. */
const VACUUM_MS = 300_000;
/** How often the embedded server, which has no administrator, reclaims the space of deleted rows. */
const TIDY_MS = 86_400_000;

export async function openJobs(options: OpenJobsOptions): Promise<OpenedJobs> {
  const { configuration, database, seal, pepper, logger, gateway, parser, vacuum } = options;
  const { limits } = configuration;
  const works = options.works ?? true;
  const queue = createQueue({
    database,
    queues: { ...JOB_QUEUES, ...webhookQueues(limits.webhookTimeoutSeconds * 1000) },
    onError: (error) => logger.error({ task: "queue", err: error }, "could not process a queue message"),
  });
  await queue.start();
  const objects = await openObjectStore(objectStoreSettings(configuration.storage));
  const onTerminal: OnTerminal = (tx, events) => deliverOnTerminal({ queue }, tx, events);
  const localStarts = createLocalStarts((appId) => queue.reserve(JOBS_QUEUE, appId));
  const [writes, removals] = [createWriteBatches(), createWaitGroup()];
  const jobs: JobServices = {
    gateway,
    database,
    seal,
    objects,
    queue,
    tokens: createResultTokens({ secret: pepper }),
    parser,
    resultReads: createKeyedSemaphore(MOST_RESULT_READS),
    appTurns: createAppMutex(),
    submitInBatch: createSubmitBatch({ gateway, database, seal, queue, limits, localStarts }),
    localStarts,
    endInBatch: createEndBatch({ gateway, database, limits, onTerminal, objects, writes, removals }),
    writes,
    removals,
    onTerminal,
    limits,
  };
  const worker = works
    ? startWorker(jobs, {
        concurrency: limits.jobConcurrency,
        onError: (error) => logger.error({ task: "renew leases", err: error }, "could not renew the leases of jobs"),
      })
    : null;
  const webhooks = webhookServices(options, queue);
  if (works) startDeliveries(webhooks, queue);
  const onPurged = (): void => vacuum.markDirty();
  const sweeps = [
    createPeriodicTask(LOOK_FOR_LAPSED_MS, logger, "offer jobs again", () => offerLapsed(jobs)),
    createPeriodicTask(SWEEP_MS, logger, "sweep jobs", (stopping) => sweepJobs(jobs, stopping)),
    createPeriodicTask(SWEEP_MS, logger, "purge jobs", (stopping) => purgeJobs(jobs, { stopping, onPurged })),
    createPeriodicTask(SWEEP_MS, logger, "purge objects of jobs", (stopping) =>
      purgeObjects(jobs, { stopping, onPurged }),
    ),
    createPeriodicTask(VACUUM_MS, logger, "vacuum what was purged", () => vacuum.runIfDirty()),
    createPeriodicTask(TIDY_MS, logger, "mark a vacuum as due", async () => vacuum.markDirty()),
    createPeriodicTask(SWEEP_MS, logger, "sweep webhooks", (stopping) => sweepWebhooks(webhooks, stopping)),
    createPeriodicTask(ORPHAN_SWEEP_MS, logger, "remove orphaned objects", (stopping) => removeOrphans(jobs, stopping)),
  ];
  const draining = new AbortController();
  return {
    jobs,
    webhooks,
    draining: draining.signal,
    drain: () => {
      worker?.stop();
      draining.abort();
    },
    close: async (graceMs) => {
      await Promise.all(sweeps.map((sweep) => sweep.stop()));
      await queue.stop({ graceMs });
      worker?.close();
      await jobs.removals.done();
      objects.close();
    },
  };
}

function webhookServices(
  { configuration, database, seal, outbound, nowMs, metrics }: OpenJobsOptions,
  queue: Queue,
): WebhookServices {
  const { limits, webhooks } = configuration;
  const timeoutMs = limits.webhookTimeoutSeconds * 1000;
  const rules = { maxAttempts: limits.webhookMaxAttempts, random: Math.random };
  return {
    database,
    seal,
    queue,
    writes: createDeliveryWrites({ database, seal, queue, timeoutMs, ...rules }),
    receivers: createReceivers(outbound, webhookPolicy(webhooks)),
    timeoutMs,
    nowMs,
    onAttempt: metrics.webhookAttempted,
  };
}
