// Creates tokens that each open one live transcription, for browsers, which cannot send the API key itself [keys.realtime-token].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table realtime_tokens (
    token_hash bytea primary key,
    workspace_id text not null references workspaces (id) on delete cascade,
    app_id text references apps (id) on delete cascade,
    key_id text not null references api_keys (id) on delete cascade,
    test_mode boolean not null,
    expires_at timestamptz not null
  )`,
  `create index realtime_tokens_expiry on realtime_tokens (expires_at)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
