// Creates durable jobs and their completion events. Constraints and a trigger enforce the states [jobs.states].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  // No foreign keys: jobs outlive apps and keys, as attempts do.
  `create table jobs (
    id text primary key,
    workspace_id text not null,
    app_id text not null,
    key_id text,
    request_id text not null,
    task text not null check (task in ('transcribe', 'translate')),
    status text not null default 'queued' check (status in ('queued', 'processing', 'succeeded', 'failed', 'cancelled')),
    stage text not null default 'queued' check (stage in ('queued', 'fetching', 'measuring', 'transcribing', 'storing', 'done')),
    fraction real check (fraction between 0 and 1),
    attempt int not null default 0 check (attempt >= 0),
    lease_until timestamptz,
    woken_at timestamptz not null default patchbay_now(),
    cancel_requested boolean not null default false,
    request bytea,
    audio jsonb,
    audio_key text,
    call_attempt_id text,
    call_position int,
    call_state text check (call_state in ('reserved', 'submitting', 'submitted')),
    remote_run jsonb,
    failures jsonb not null default '[]',
    purpose jsonb not null,
    metadata jsonb not null default '{}',
    slot_key bytea,
    result bytea,
    result_key text,
    error jsonb,
    usage jsonb,
    provider_deletion text not null default 'none' check (provider_deletion in ('none', 'pending', 'done', 'failed')),
    created_at timestamptz not null default patchbay_now(),
    started_at timestamptz,
    deadline_at timestamptz not null,
    finished_at timestamptz,
    expires_at timestamptz,
    purged_at timestamptz,
    check ((status in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null and expires_at is not null)),
    check ((status = 'failed') = (error is not null)),
    check ((status = 'processing') = (lease_until is not null)),
    check (status = 'succeeded' or (result is null and result_key is null)),
    check ((call_state is null) = (call_attempt_id is null and call_position is null))
  )`,
  // Ids sort by time, so this index lists an app's newest jobs first.
  `create index jobs_app on jobs (workspace_id, app_id, id)`,
  `create index jobs_app_status on jobs (workspace_id, app_id, status, id)`,
  `create index jobs_lease on jobs (lease_until) where status = 'processing'`,
  `create index jobs_deadline on jobs (deadline_at) where status in ('queued', 'processing')`,
  `create index jobs_expiry on jobs (expires_at) where purged_at is null`,
  `create index jobs_finished on jobs (finished_at)`,
  `create index jobs_spent_audio on jobs (finished_at) where audio_key is not null`,
  `create index jobs_deletion on jobs (finished_at) where provider_deletion = 'pending'`,
  // Allows exactly the transitions of [jobs.states]. A terminal job does not change, except that its purge clears columns [jobs.terminal-states].
  `create function jobs_guard() returns trigger language plpgsql as $$
    declare
      kept jobs%rowtype;
    begin
      if tg_op = 'INSERT' then
        if new.status <> 'queued' or new.attempt <> 0 then
          raise exception 'a job begins as queued' using errcode = 'check_violation';
        end if;
        return new;
      end if;
      if tg_op = 'DELETE' then
        if old.status in ('queued', 'processing') then
          raise exception 'a job that has not ended cannot go' using errcode = 'check_violation';
        end if;
        return old;
      end if;
      if new.id <> old.id or new.workspace_id <> old.workspace_id or new.app_id <> old.app_id or new.created_at <> old.created_at
        or new.attempt < old.attempt then
        raise exception 'a job keeps its identity, and its attempts never go back' using errcode = 'check_violation';
      end if;
      if new.status <> old.status then
        if (old.status, new.status) not in (('queued', 'processing'), ('queued', 'cancelled'),
          ('processing', 'succeeded'), ('processing', 'failed'), ('processing', 'cancelled')) then
          raise exception 'no job goes from % to %', old.status, new.status using errcode = 'check_violation';
        end if;
      elsif old.status in ('succeeded', 'failed', 'cancelled') then
        kept := new;
        kept.request := old.request;
        kept.result := old.result;
        kept.result_key := old.result_key;
        kept.audio_key := old.audio_key;
        kept.slot_key := old.slot_key;
        kept.remote_run := old.remote_run;
        kept.provider_deletion := old.provider_deletion;
        kept.purged_at := old.purged_at;
        if kept is distinct from old
          or (new.request is not null and new.request is distinct from old.request)
          or (new.result is not null and new.result is distinct from old.result)
          or (new.result_key is not null and new.result_key is distinct from old.result_key)
          or (new.audio_key is not null and new.audio_key is distinct from old.audio_key)
          or (new.slot_key is not null and new.slot_key is distinct from old.slot_key) then
          raise exception 'a job that has ended does not change' using errcode = 'check_violation';
        end if;
      end if;
      return new;
    end $$`,
  `create trigger jobs_guard before insert or update or delete on jobs for each row execute function jobs_guard()`,
  // One event per job, written in the transaction that ends the job.
  `create table webhook_events (
    id text primary key,
    workspace_id text not null,
    app_id text not null,
    job_id text not null unique references jobs (id) on delete cascade,
    type text not null check (type in ('transcription.job.succeeded', 'transcription.job.failed', 'transcription.job.cancelled')),
    status text not null check (status in ('succeeded', 'failed', 'cancelled')),
    occurred_at timestamptz not null
  )`,
  `create index webhook_events_workspace on webhook_events (workspace_id, occurred_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
