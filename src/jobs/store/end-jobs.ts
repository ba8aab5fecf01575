// Ends jobs: locks their rows, then writes state, result, life of the idempotency key and event of all of them, and publishes
// the changes, in one statement [jobs.end-transaction].
import { sql } from "kysely";
import { publishing } from "../../queue/topics.ts";
import { PREPARED } from "../../storage/connection/prepared.ts";
import type { DatabaseTransaction, SystemTransaction } from "../../storage/database.ts";
import type { JobRow } from "../../storage/schema/tables.ts";
import { insertEventsOf } from "../../webhooks/store/webhook-events.ts";
import { jobTopicOf } from "../topics.ts";
import { concatenate } from "./concatenate.ts";
import type { Fence } from "./claimed-jobs.ts";
import { ENDING_COLUMNS } from "./job-columns.ts";
import { insertSpentAudio, type SpentAudio } from "./spent-audio.ts";

/** Locks the rows, in id order, until the transaction ends, and reads `ENDING_COLUMNS`. A job that is not returned belongs to another worker or has ended. */
export async function lockFenced(tx: SystemTransaction, fences: readonly Fence[]): Promise<readonly JobRow[]> {
  const list = fences.map(({ id, attempt }) => ({ id, attempt }));
  const { rows } = await sql<JobRow>`${PREPARED}
    with held as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as held (id text, attempt int))
    select ${ENDING_COLUMNS} from jobs join held on jobs.id = held.id and jobs.attempt = held.attempt
    where jobs.id = any(array(select id from held)) and jobs.status = 'processing' order by jobs.id for update of jobs`.execute(
    tx,
  );
  return rows;
}

export interface JobEnding extends Fence {
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly result: Buffer | null;
  readonly resultKey: string | null;
  readonly error: unknown;
  readonly usage: unknown;
  readonly eventId: string;
  /** Its audio, recorded for deletion instead of in the job's row (spent-audio.ts). Null: there is none, or the row still names it. */
  readonly spentAudioKey: string | null;
}

/** Returns the time of the ends and the record of their audio. The rows must be locked, and in states from which these ends are allowed. */
export async function endRows(
  tx: DatabaseTransaction,
  endings: readonly JobEnding[],
  ttlSeconds: number,
): Promise<{ readonly finishedAt: Date; readonly spentAudio: SpentAudio | null }> {
  const results = concatenate(endings.map(({ result }) => result));
  const list = endings.map(({ id, attempt, status, resultKey, error, usage, eventId, spentAudioKey }, index) => ({
    id,
    attempt,
    status,
    result_at: results.places[index]?.at ?? null,
    result_bytes: results.places[index]?.length ?? null,
    result_key: resultKey,
    error,
    usage,
    event_id: eventId,
    audio_key: spentAudioKey,
  }));
  const keys = endings.flatMap(({ spentAudioKey }) => spentAudioKey ?? []);
  const { rows } = await sql<{ finishedAt: Date; spentAudioId: bigint | null }>`${PREPARED}
    with given as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as given (id text, attempt int, status text,
        result_at int, result_bytes int, result_key text, error jsonb, usage jsonb, event_id text, audio_key text)),
      ended as (update jobs set status = given.status, stage = 'done', fraction = null, lease_until = null,
          result = substr(${results.bytes}::bytea, given.result_at, given.result_bytes), result_key = given.result_key,
          error = given.error, usage = given.usage, audio_key = nullif(jobs.audio_key, given.audio_key), finished_at = patchbay_now(),
          expires_at = patchbay_now() + ${ttlSeconds}::float8 * interval '1 second'
        from given where jobs.id = any(array(select id from given)) and jobs.id = given.id and jobs.attempt = given.attempt
        returning jobs.id, jobs.workspace_id, jobs.app_id, jobs.slot_key, jobs.status, jobs.finished_at, jobs.expires_at, given.event_id),
      spent as (${keys.length === 0 ? sql`select null::bigint as id` : insertSpentAudio(keys)}),
      events as (${insertEventsOf(sql`ended`)}),
      keys as (update idempotency_slots set expires_at = ended.expires_at from ended
        where idempotency_slots.app_id = ended.app_id and idempotency_slots.key_sha256 = ended.slot_key
          and idempotency_slots.workspace_id = ended.workspace_id and idempotency_slots.state = 'completed')
    select finished_at as "finishedAt", (select id from spent) as "spentAudioId", ${publishing(jobTopicOf(sql.ref("id")))} from ended`.execute(
    tx,
  );
  const [row] = rows;
  if (row === undefined || rows.length !== endings.length) throw new Error("a locked job was not there to end");
  const { finishedAt, spentAudioId: id } = row;
  return { finishedAt, spentAudio: id === null ? null : { id, keys } };
}
