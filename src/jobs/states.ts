// The states of a job and every transition between them, as data [jobs.states]. The database's trigger has the same pairs.
import type { JobStatus } from "../contract/jobs.ts";

export const NEXT_STATUSES = {
  queued: ["processing", "cancelled"],
  processing: ["succeeded", "failed", "cancelled"],
  succeeded: [],
  failed: [],
  cancelled: [],
} as const satisfies Readonly<Record<JobStatus, readonly JobStatus[]>>;

const TERMINAL_STATUSES = ["succeeded", "failed", "cancelled"] as const satisfies readonly JobStatus[];
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

export function isTerminal(status: JobStatus): status is TerminalStatus {
  return NEXT_STATUSES[status].length === 0;
}
