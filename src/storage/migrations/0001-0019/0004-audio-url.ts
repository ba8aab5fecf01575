// Creates the hosts that `audio.url` may name, for the installation and for each workspace [remote-audio.listed-host], and the append-only
// audit log of setting changes.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  // The scope is `platform` or a workspace id, as in `connections`.
  `create table audio_url_domains (
    scope text primary key,
    domains text[] not null,
    updated_at timestamptz not null default patchbay_now()
  )`,
  // No foreign keys: the log outlives its objects. A null workspace means the platform, a null key the configuration file.
  `create table audit_log (
    id bigint generated always as identity primary key,
    workspace_id text,
    at timestamptz not null default patchbay_now(),
    actor_key_id text,
    action text not null,
    object text not null,
    before jsonb,
    after jsonb
  )`,
  `create index audit_log_workspace on audit_log (workspace_id, id)`,
  `create function audit_log_is_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'audit_log is append-only';
    end
  $$`,
  `create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function audit_log_is_append_only()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
