// Writes the request log to the database [requests.write-batches]: gathered for a moment, written in batches, outside every caller's path.
// What cannot be written is kept and tried again, up to a bound. Beyond it the oldest are lost, and the log says how many.
import type { Logger } from "pino";
import { type OpenRecord, openRecord, type RecordOpening, type RequestRecord } from "../gateway/request-record.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import { createWriteBehind } from "../lib/concurrency/write-behind.ts";
import type { Database } from "../storage/database.ts";
import { insertRequests, type NewRequest, purgeRequests, type SharedRequest } from "../storage/requests.ts";
import { createWording } from "../storage/insert-deduplicated.ts";
import { batches, sweeps } from "../storage/system.ts";
import { isBadData } from "../storage/database-faults.ts";

export interface RequestLog {
  /** Of a request that has just been let in; kept when it ends, with nobody waiting for it. */
  readonly open: (opening: RecordOpening) => OpenRecord;
  /** Everything kept so far is durable when it resolves. */
  flush(): Promise<void>;
  /** The record of this request is durable when it resolves, if it ended here. */
  written(requestId: string): Promise<void>;
  /** Forgets what is older than its retention. Answers how many. */
  sweep(): Promise<number>;
  /** Writes what is left; what cannot be written now is lost, and the log says so. */
  close(): Promise<void>;
}

export interface RequestLogOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly keptDays: number;
  readonly nowMs: () => number;
  /** Sees each record as it is complete; only counts, never throws. */
  readonly onRecord?: (record: RequestRecord) => void;
}

/** A record is readable within 5 s [requests.readable]. A batch of 1 costs about as much as one of 100. */
const WRITE_EVERY_MS = 500;
const MAX_BATCH = 500;
/** Some minutes of a database that is away, at a few KiB each. */
const MAX_WAITING = 20_000;
/** Of requests without a valid key anybody can send any number: at most so many are kept a turn, the others are counted. */
const MAX_UNOWNED = 50;
const PURGE_EVERY_MS = 60_000;
const PURGE_BATCH = 5_000;

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { database, logger, keptDays, nowMs, onRecord } = options;
  const word = createWording();
  const queue = createWriteBehind<NewRequest>({
    maxBatch: MAX_BATCH,
    write: (rows, mayBeThere) => insertRequests(batches(database).db, rows, { nowMs: nowMs(), mayBeThere }),
    isItemFault: isBadData,
    onSkipped: ({ id }, error) =>
      logger.error({ task: "request log", request_id: id, err: error }, "could not keep a record"),
  });
  let unowned = 0;

  const keep = (record: RequestRecord): void => {
    onRecord?.(record);
    if (record.workspaceId === null) {
      unowned += 1;
      if (unowned > MAX_UNOWNED) return;
    }
    const waiting = queue.push({
      shared: word(sharedOf(record)),
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

  const sweep = (): Promise<number> => purgeRequests(sweeps(database).db, keptDays, PURGE_BATCH);
  const writer = createPeriodicTask(WRITE_EVERY_MS, logger, "write the request log", async () => {
    const leftOut = unowned - MAX_UNOWNED;
    unowned = 0;
    if (leftOut > 0)
      logger.warn({ task: "request log", left_out: leftOut }, "requests without a valid key are not all kept");
    await queue.flush();
  });
  const purger = createPeriodicTask(PURGE_EVERY_MS, logger, "purge the request log", async (stopping) => {
    await runInBatches(PURGE_BATCH, sweep, stopping);
  });
  return {
    open: (opening) => openRecord(opening, nowMs, keep),
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
          "could not write the last of the request log",
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
