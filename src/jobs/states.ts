// Spec 3 as data: the states of a job and every way from one to the next. The database's trigger knows the same pairs.

export const JOB_STATUSES = ["queued", "processing", "succeeded", "failed", "cancelled"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const NEXT_STATUSES = {
  queued: ["processing", "cancelled"],
  processing: ["succeeded", "failed", "cancelled"],
  succeeded: [],
  failed: [],
  cancelled: [],
} as const satisfies Readonly<Record<JobStatus, readonly JobStatus[]>>;

export const TERMINAL_STATUSES = ["succeeded", "failed", "cancelled"] as const satisfies readonly JobStatus[];
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

export function isTerminal(status: JobStatus): status is TerminalStatus {
  return NEXT_STATUSES[status].length === 0;
}
