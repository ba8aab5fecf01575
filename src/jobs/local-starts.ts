// Lets this process begin a job in the transaction that accepts it, if it has a free slot and the queue is empty [jobs.local-start]: no message, no second
// commit, and a recording that is in memory need not be read from the object store. The job has a lease from its commit, as any claimed job.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KeptAudio } from "../audio/spool.ts";
import type { AppId } from "../contract/ids.ts";
import type { Message, ReservedSlot } from "../queue/queue.ts";
import type { OpenJob } from "./job-request.ts";

export interface StartedJob {
  /** As its first attempt has it. */
  readonly job: OpenJob;
  /** Null: it is read from the object store. */
  readonly audio: KeptAudio | null;
}

export type RunStarted = (started: StartedJob, message: Omit<Message, "data">) => Promise<void>;

export interface LocalStarts {
  /** Null: the job needs a message. */
  reserve(appId: AppId): ReservedSlot | null;
  begin(slot: ReservedSlot, started: StartedJob): void;
  /** Called by the worker of this process. Without one no slot can be reserved. */
  workWith(run: RunStarted): void;
}

/** `reserveSlot`: of this process's handlers of jobs. */
export function createLocalStarts(reserveSlot: (appId: AppId) => ReservedSlot | null): LocalStarts {
  let runStarted: RunStarted | null = null;
  return {
    reserve: (appId) => (runStarted === null ? null : reserveSlot(appId)),
    begin: (slot, started) => {
      const run = runStarted;
      if (run === null) throw new Error("a slot without a worker");
      slot.begin(async (message) => {
        // The answers to the submissions go first.
        await nextTurn();
        await run(started, message);
      });
    },
    workWith: (run) => {
      runStarted = run;
    },
  };
}
