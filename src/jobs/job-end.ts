// The end of a job as its worker determines it, and the interface to the transaction that stores it together with others.
import type { JobError } from "../contract/jobs.ts";
import type { TranscriptionEnvelope } from "../contract/transcription/transcription-envelope.ts";
import type { Settlement } from "../metering/ledger-entries.ts";
import type { JobRow } from "../storage/schema/tables.ts";
import type { Fence } from "./store/claimed-jobs.ts";
import type { TerminalStatus } from "./states.ts";

export interface JobEnd {
  readonly status: TerminalStatus;
  readonly stored?: StoredResult;
  readonly error?: JobError;
  readonly usage?: TranscriptionEnvelope["usage"];
  /** Of the attempt that is still open. Null: none is. */
  readonly settlement: Settlement | null;
}

/** A sealed result, in the row or in the object store. */
export interface StoredResult {
  readonly result: Buffer | null;
  readonly resultKey: string | null;
}

export interface PendingEnd {
  readonly fence: Fence;
  readonly endOf: (locked: JobRow) => JobEnd;
  /** Of the result that the row gets. */
  readonly resultBytes: number;
}

/** A job as it was locked, with its end. */
export interface EndingJob {
  readonly locked: JobRow;
  readonly end: JobEnd;
}

/** Null: another worker has the job, and nothing was changed. */
export type EndInBatch = (pending: PendingEnd) => Promise<EndingJob | null>;
