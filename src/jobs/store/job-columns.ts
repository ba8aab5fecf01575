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

export const JOB_COLUMNS = sql.join(Object.keys(COLUMNS).map((column) => sql.ref(`jobs.${column}`)));
