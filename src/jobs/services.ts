// The dependencies of the functions of `jobs/` (`JobServices`, and `WorkerServices` for workers), created once in `compose/app.ts`, and the queue of
// jobs.
import type { JsonParser } from "../lib/json/json-parser.ts";
import type { KeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import type { WaitGroup } from "../lib/concurrency/wait-group.ts";
import type { GatewayServices } from "../gateway/services.ts";
import type { ObjectStore } from "../objects/store.ts";
import type { ResultTokens } from "../objects/result-token.ts";
import type { Queue, QueueDefinition } from "../queue/queue.ts";
import type { Database, DatabaseTransaction } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { OnTerminal } from "../webhooks/store/webhook-events.ts";
import type { LocalStarts } from "./local-starts.ts";
import type { Leases } from "./leases.ts";
import type { AppMutex } from "./run/app-mutex.ts";
import type { EndInBatch } from "./job-end.ts";
import type { WriteBatches } from "./run/write-batches.ts";
import type { SubmitInBatch } from "./submission.ts";

export interface JobServices {
  readonly gateway: GatewayServices;
  readonly database: Database;
  readonly seal: Seal;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly tokens: ResultTokens;
  /** Parses large results. */
  readonly parser: JsonParser;
  /** Limits reads of large results, which take many times their size in memory on the way to a response. */
  readonly resultReads: KeyedSemaphore;
  readonly appTurns: AppMutex;
  readonly submitInBatch: SubmitInBatch;
  readonly localStarts: LocalStarts;
  readonly endInBatch: EndInBatch;
  readonly writes: WriteBatches;
  /** Deletions of audio that continue after their jobs have ended. */
  readonly removals: WaitGroup;
  /** Notifies subscribers, in the transaction that ends a job. */
  readonly onTerminal: OnTerminal;
  readonly limits: {
    readonly jobDeadlineSeconds: number;
    readonly maxJobAudioUrlBytes: number;
    readonly sttJobResultTtlSeconds: number;
    readonly sttJobInlineResultBytes: number;
    readonly resultUrlTtlSeconds: number;
  };
}

export interface WorkerServices extends JobServices {
  readonly leases: Leases;
  /** Called when a job's calls have ended: storing its end needs no slot of the worker. */
  readonly freeSlot?: () => void;
  /** Aborts when the process begins to stop: a run at a provider is released to another worker between two polls. */
  readonly stopping: AbortSignal;
}

/** The queue of jobs. A message contains a job's id and nothing else. */
export const JOBS_QUEUE = "transcription-jobs";

/** The message of a dead worker is redelivered soon, by its heartbeat. The job's own lease decides whether the job is claimed. */
export const JOB_QUEUES: Readonly<Record<string, QueueDefinition>> = {
  [JOBS_QUEUE]: { retryLimit: 20, retryDelaySeconds: 1, expireSeconds: 86_400, heartbeatSeconds: 30, isKeyed: true },
};

/** Priority of jobs that have begun or were forgotten. */
const FIRST_PRIORITY = 10;

/** Enqueues a job. A second message is not needed while one is waiting. */
export function enqueueJob(
  queue: Pick<Queue, "send">,
  { id, appId }: { readonly id: string; readonly appId: string },
  { goesFirst }: { readonly goesFirst: boolean },
  tx?: DatabaseTransaction,
): Promise<void> {
  const priority = goesFirst ? { priority: FIRST_PRIORITY } : {};
  return queue.send(JOBS_QUEUE, { job_id: id }, { groupId: appId, key: id, ...priority }, tx);
}

/** The same for several, in one statement. */
export function enqueueJobs(
  queue: Pick<Queue, "sendAll">,
  jobs: readonly { readonly id: string; readonly appId: string }[],
  { goesFirst }: { readonly goesFirst: boolean },
  tx: DatabaseTransaction,
): Promise<void> {
  const priority = goesFirst ? { priority: FIRST_PRIORITY } : {};
  const messages = jobs.map(({ id, appId }) => ({ data: { job_id: id }, groupId: appId, key: id, ...priority }));
  return queue.sendAll(JOBS_QUEUE, messages, tx);
}
