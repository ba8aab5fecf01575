// The columns of a job's row by name, for prepared statements: one with `*` fails on every connection that has prepared it once the migration of a newer
// version has added a column ("cached plan must not change result type").
import { sql } from "kysely";
import type { JobRow } from "../../storage/schema/tables.ts";

/** An object, so that the compiler finds a column that is missing. */
const COLUMNS: Readonly<Record<keyof JobRow, true>> = {
  id: true,
  workspace_id: true,
  app_id: true,
  key_id: true,
  request_id: true,
  task: true,
  status: true,
  stage: true,
  fraction: true,
  attempt: true,
  laid_aside: true,
  lease_until: true,
  woken_at: true,
  cancel_requested: true,
  request: true,
  audio: true,
  audio_key: true,
  call_attempt_id: true,
  call_position: true,
  call_state: true,
  remote_run: true,
  failures: true,
  candidates: true,
  purpose: true,
  metadata: true,
  slot_key: true,
  result: true,
  result_key: true,
  error: true,
  usage: true,
  provider_deletion: true,
  begins_simulated: true,
  created_at: true,
  started_at: true,
  deadline_at: true,
  finished_at: true,
  expires_at: true,
  purged_at: true,
};

const NAMES = Object.keys(COLUMNS);

export const JOB_COLUMNS = sql.join(NAMES.map((column) => sql.ref(`jobs.${column}`)));

/** Of an ending job only its charge as cancelled needs these, some kilobytes. */
const OF_CANCELLED: ReadonlySet<string> = new Set<keyof JobRow>([
  "request",
  "audio",
  "remote_run",
  "failures",
  "candidates",
  "purpose",
  "metadata",
]);

/** Those that are large are null unless the job's cancellation was requested. */
export const ENDING_COLUMNS = sql.join(
  NAMES.map((column) => {
    const value = sql.ref(`jobs.${column}`);
    return OF_CANCELLED.has(column)
      ? sql`case when jobs.cancel_requested then ${value} end as ${sql.ref(column)}`
      : value;
  }),
);
