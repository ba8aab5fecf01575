// Creates the request log (retention.request_days) and adds the inputs of usage reports: the purpose of each attempt, and the candidates that a
// job's worker evaluated. No foreign keys: a record outlives its app and key.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table requests (
    id text primary key,
    workspace_id text not null,
    app_id text,
    key_id text not null,
    endpoint text not null,
    at timestamptz not null,
    status int not null,
    code text,
    test_mode boolean not null,
    asked jsonb,
    purpose jsonb,
    route text,
    refusal text,
    candidates jsonb,
    key_use text not null check (key_use in ('not_sent', 'unused', 'first', 'replayed', 'reused', 'in_progress', 'unavailable')),
    duration_ms bigint not null check (duration_ms >= 0),
    audio_ms bigint check (audio_ms >= 0),
    job_id text
  )`,
  `create index requests_app on requests (workspace_id, app_id, at)`,
  `create index requests_workspace on requests (workspace_id, at)`,
  `create index requests_at on requests (at)`,
  // The targets as the job's last worker evaluated them.
  `alter table jobs add column candidates jsonb`,
  `alter table attempts add column purpose text`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
