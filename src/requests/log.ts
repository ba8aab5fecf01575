// Writes the request log to the database in batches, without delaying any caller [requests.write-batches]. Records that cannot be written are retried up to a
// limit, beyond which the oldest are dropped and the log reports how many.
import type { Logger } from "pino";
import { type OpenRecord, openRecord, type RecordOpening, type RequestRecord } from "../gateway/request-record.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import { createWriteBehind } from "../lib/concurrency/write-behind.ts";
import type { Database } from "../storage/database.ts";
import { insertRequests, type NewRequest, purgeRequests, type SharedRequest } from "./store/requests.ts";
import { createWording } from "../storage/insert-deduplicated.ts";
import { bypassRls } from "../storage/system.ts";
import { isBadData } from "../storage/database-faults.ts";

export interface RequestLog {
  /** Opens a record for a request that has just been admitted. It is written after the request ends. */
  readonly open: (opening: RecordOpening) => OpenRecord;
  /** Resolves when everything recorded so far is durable. */
  flush(): Promise<void>;
  /** Resolves when this request's record is durable, if it ended in this process. */
  written(requestId: string): Promise<void>;
  /** Deletes records that are older than their retention. Returns how many. */
  sweep(): Promise<number>;
  /** Writes the remaining records. Those that cannot be written are lost, which is logged. */
  close(): Promise<void>;
}

export interface RequestLogOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly keptDays: number;
  readonly nowMs: () => number;
  /** Called with each complete record, for metrics. Must not throw. */
  readonly onRecord?: (record: RequestRecord) => void;
}

/** A record must be readable within 5 s [requests.readable]. A batch of 1 costs about as much as one of 100. */
const WRITE_EVERY_MS = 500;
const MAX_BATCH = 500;
/** A few minutes of database outage, at a few KiB per record. */
const MAX_WAITING = 20_000;
/** Anyone can send requests without a valid key, so at most this many are recorded per write. The others are only counted. */
const MAX_UNOWNED = 50;
const PURGE_EVERY_MS = 60_000;
const PURGE_BATCH = 5_000;

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { database, logger, keptDays, nowMs, onRecord } = options;
  const cacheText = createWording();
  const queue = createWriteBehind<NewRequest>({
    maxBatch: MAX_BATCH,
    write: (rows, mayBeThere) => insertRequests(bypassRls(database, "batch").db, rows, { nowMs: nowMs(), mayBeThere }),
    isItemFault: isBadData,
    onSkipped: ({ id }, error) =>
      logger.error({ task: "request log", request_id: id, err: error }, "could not store a record"),
  });
  let unownedCount = 0;

  const enqueue = (record: RequestRecord): void => {
    onRecord?.(record);
    if (record.workspaceId === null) {
      unownedCount += 1;
      if (unownedCount > MAX_UNOWNED) return;
    }
    const waiting = queue.push({
      shared: cacheText(sharedOf(record)),
      id: record.requestId,
      durationMs: Math.max(0, record.endedAtMs - record.receivedAtMs),
      audioMs: record.audioMs,
      jobId: record.jobId,
      receivedAtMs: record.receivedAtMs,
    });
    if (waiting === MAX_BATCH) writer.runNow();
    if (waiting <= MAX_WAITING) return;
    const lost = queue.dropOldest(MAX_BATCH);
    logger.error({ task: "request log", lost }, "the request log cannot be written; its oldest records are lost");
  };

  const sweep = (): Promise<number> => purgeRequests(bypassRls(database, "sweep").db, keptDays, PURGE_BATCH);
  const writer = createPeriodicTask(WRITE_EVERY_MS, logger, "write the request log", async () => {
    const droppedCount = unownedCount - MAX_UNOWNED;
    unownedCount = 0;
    if (droppedCount > 0)
      logger.warn({ task: "request log", left_out: droppedCount }, "not all requests without a valid key are stored");
    await queue.flush();
  });
  const purger = createPeriodicTask(PURGE_EVERY_MS, logger, "purge the request log", async (stopping) => {
    await runInBatches(PURGE_BATCH, sweep, stopping);
  });
  return {
    open: (opening) => openRecord(opening, nowMs, enqueue),
    flush: () => queue.flush(),
    written: async (requestId) => {
      if (queue.has(({ id }) => id === requestId)) await queue.flush();
    },
    sweep,
    close: async () => {
      await Promise.all([writer.stop(), purger.stop()]);
      await queue.flush().catch((error: unknown) => {
        logger.error(
          { task: "request log", lost: queue.size(), err: error },
          "could not write the remaining request log",
        );
      });
    },
  };
}

function sharedOf(record: RequestRecord): SharedRequest {
  return {
    workspace_id: record.workspaceId,
    app_id: record.appId,
    key_id: record.keyId,
    endpoint: record.endpoint,
    status: record.status,
    code: record.code,
    test_mode: record.testMode,
    asked: record.asked,
    purpose: record.purpose,
    route: record.route,
    route_version: record.routeVersion,
    refusal: record.refusal,
    candidates: record.candidates,
    key_use: record.keyUse,
  };
}
