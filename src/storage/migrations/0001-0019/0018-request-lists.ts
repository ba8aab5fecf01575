// Indexes the request log for its lists [requests.list]: by key, by error, and by time of recording for clients that follow the log. A request
// without a valid key belongs to no workspace, so only the operator sees its record [requests.no-key].
import { type Kysely, sql } from "kysely";
import { REQUEST_OUTCOME } from "../../schema/request-outcome.ts";

const UNUSUAL = "where status >= 400 or code is not null";

const STATEMENTS = [
  `alter table requests alter column workspace_id drop not null`,
  `alter table requests alter column key_id drop not null`,
  `alter table requests add constraint requests_owner check ((workspace_id is null) = (key_id is null))`,
  `alter table requests add column recorded_at timestamptz not null default patchbay_now()`,
  `create index requests_recorded on requests (recorded_at)`,
  `create index requests_key on requests (key_id, at)`,
  `create index requests_code on requests (code, at) where code is not null`,
  `create index requests_workspace_code on requests (workspace_id, code, at) where code is not null`,
  `create index requests_outcome on requests ((${REQUEST_OUTCOME}), at) ${UNUSUAL}`,
  `create index requests_workspace_outcome on requests (workspace_id, (${REQUEST_OUTCOME}), at) ${UNUSUAL}`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
