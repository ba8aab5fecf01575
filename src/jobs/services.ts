// What the verbs of this room need from the outside, made once in `app.ts` and handed in as their first argument.
import type { JsonParser } from "../lib/json/json-parser.ts";
import type { KeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import type { GatewayServices } from "../gateway/services.ts";
import type { ObjectStore } from "../objects/store.ts";
import type { ResultTokens } from "../objects/result-token.ts";
import type { Queue, QueueDefinition } from "../queue/queue.ts";
import type { Database, Transacting } from "../storage/database.ts";
import type { Seal } from "../storage/seal.ts";
import type { OnTerminal } from "../storage/webhook-events.ts";
import type { Leases } from "./leases.ts";
import type { AppMutex } from "./app-mutex.ts";

export interface JobServices {
  readonly gateway: GatewayServices;
  readonly database: Database;
  readonly seal: Seal;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly tokens: ResultTokens;
  /** For large results. */
  readonly parser: JsonParser;
  /** Of rows with their results, which take many times their size on the way to an answer. */
  readonly resultReads: KeyedSemaphore;
  readonly appTurns: AppMutex;
  /** Whoever tells the outside world; called in the transaction that ends a job. */
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
  /** Aborts when the process begins to stop: a run at a provider is handed back between two polls. */
  readonly stopping: AbortSignal;
}

/** The queue that carries jobs; its messages hold a job's id and nothing else. */
export const JOBS_QUEUE = "transcription-jobs";

/** A message whose worker died comes again by its heartbeat, soon; the job's own lease decides whether it is taken up. */
export const JOB_QUEUES: Readonly<Record<string, QueueDefinition>> = {
  [JOBS_QUEUE]: { retryLimit: 20, retryDelaySeconds: 1, expireSeconds: 86_400, heartbeatSeconds: 30, isKeyed: true },
};

/** Of jobs that have begun, or were forgotten: before the others. */
const FIRST = 10;

/** Tells the workers of a job. Where one message of it waits already, that one is enough. */
export function enqueueJob(
  queue: Pick<Queue, "send">,
  { id, appId }: { readonly id: string; readonly appId: string },
  { goesFirst }: { readonly goesFirst: boolean },
  tx?: Transacting,
): Promise<void> {
  const priority = goesFirst ? { priority: FIRST } : {};
  return queue.send(JOBS_QUEUE, { job_id: id }, { groupId: appId, key: id, ...priority }, tx);
}

/** Every change of a job, for those who watch it. */
export function jobTopic(jobId: string): string {
  return `job:${jobId}`;
}

/** For its worker. What that one says of its own progress is no news to it: it would cut short each of its own pauses. */
export function cancelTopic(jobId: string): string {
  return `job.cancel:${jobId}`;
}
