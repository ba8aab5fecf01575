// Whether a start has to create the owner's workspace: nothing is set up yet, or an earlier start created it and the file still names none.
import { sql } from "kysely";
import type { Transacting } from "../storage/database.ts";

/** The workspace that operator keys hang on. */
export const OPERATOR_WORKSPACE = "operator";
export const OWNER_WORKSPACE = "owner";
export const OWNER_APP = "default";
/** Of keys that a start created, in `managed_by`. */
export const BY_START = "start";

export async function needsBootstrap(tx: Transacting): Promise<boolean> {
  const { rows } = await sql<{ is_empty: boolean; is_ours: boolean }>`
    select
      not exists (select from workspaces w where w.slug <> ${OPERATOR_WORKSPACE} or exists (select from apps a where a.workspace_id = w.id))
        and not exists (select from connections) and not exists (select from routes) as is_empty,
      exists (
        select from workspaces w join apps a on a.workspace_id = w.id
        where w.slug = ${OWNER_WORKSPACE} and w.managed_by = 'file' and a.slug = ${OWNER_APP} and a.managed_by = 'file'
          and not exists (select from api_keys k where k.workspace_id = w.id and k.managed_by = 'file')
      ) as is_ours`.execute(tx);
  const [found] = rows;
  return found !== undefined && (found.is_empty || found.is_ours);
}
