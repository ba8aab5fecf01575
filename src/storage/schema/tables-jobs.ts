// Table types for jobs and for pending deletions at providers. Part of tables.ts.
import type { ColumnType, Generated } from "kysely";
import type { BytesOrNull, Json, JsonWithDefault, TextOrNull, Time, TimeOrNull, TimeWithDefault } from "./columns.ts";

export interface JobsTable {
  id: string;
  workspace_id: string;
  app_id: string;
  key_id: TextOrNull;
  request_id: string;
  task: "transcribe" | "translate";
  status: Generated<"queued" | "processing" | "succeeded" | "failed" | "cancelled">;
  stage: Generated<"queued" | "fetching" | "measuring" | "transcribing" | "storing" | "done">;
  fraction: ColumnType<number | null, number | null | undefined, number | null>;
  /** Incremented by each claim. A fencing token: every write of a worker is conditional on it. */
  attempt: Generated<number>;
  /** How many of these attempts were parked because all targets were paused. */
  laid_aside: Generated<number>;
  lease_until: TimeOrNull;
  /** When a worker was last notified of the job. */
  woken_at: TimeWithDefault;
  cancel_requested: Generated<boolean>;
  /** The sealed request, with source URL and the route at submission. Null after the purge. */
  request: BytesOrNull;
  /** Measured properties of the recording. */
  audio: ColumnType<unknown, string | null | undefined, string | null>;
  audio_key: TextOrNull;
  call_attempt_id: TextOrNull;
  call_position: ColumnType<number | null, number | null | undefined, number | null>;
  call_state: ColumnType<
    "reserved" | "submitting" | "submitted" | null,
    "reserved" | "submitting" | "submitted" | null | undefined,
    "reserved" | "submitting" | "submitted" | null
  >;
  remote_run: ColumnType<unknown, string | null | undefined, string | null>;
  failures: JsonWithDefault;
  /** The targets as the job's last worker evaluated them. */
  candidates: ColumnType<unknown, string | null | undefined, string | null>;
  purpose: Json;
  metadata: JsonWithDefault;
  /** SHA-256 of the idempotency key of its submission. */
  slot_key: BytesOrNull;
  /** The sealed result. A large one is in the object store under `result_key`. */
  result: BytesOrNull;
  result_key: TextOrNull;
  error: ColumnType<unknown, string | null | undefined, string | null>;
  usage: ColumnType<unknown, string | null | undefined, string | null>;
  provider_deletion: Generated<"none" | "pending" | "done" | "failed">;
  /** Whether its first target at submission is the sandbox. */
  begins_simulated: ColumnType<boolean | null, boolean | null | undefined, boolean | null>;
  created_at: TimeWithDefault;
  started_at: TimeOrNull;
  deadline_at: Time;
  finished_at: TimeOrNull;
  expires_at: TimeOrNull;
  purged_at: TimeOrNull;
}

/** Audio of jobs that have ended, until it is deleted. */
export interface SpentAudioTable {
  id: Generated<bigint>;
  keys: readonly string[];
  ended_at: TimeWithDefault;
}

export interface ProviderDeletionsTable {
  id: string;
  workspace_id: string;
  app_id: string;
  subject: string;
  account: string;
  provider: string;
  test_mode: boolean;
  run: Json;
  state: Generated<"pending" | "done" | "failed">;
  attempts: Generated<number>;
  next_at: Time;
  last_failure: TextOrNull;
  created_at: TimeWithDefault;
  finished_at: TimeOrNull;
}
