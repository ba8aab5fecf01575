// GET /admin/v1/provider-deletions and the same for one workspace: the deletions requested from providers, newest first [admin.deletions].
import { type Selectable, sql } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DELETION_STATUSES, ProviderDeletionView } from "../../contract/admin/provider-deletions.ts";
import { partsOfKey } from "../../directory/account-key.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import { pageOf } from "../../lib/list-page.ts";
import { asWorkspaceOrSystem } from "../../storage/system.ts";
import type { Tables } from "../../storage/schema/tables.ts";
import type { AdminServices, Page, PageRequest } from "../services.ts";

export interface DeletionFilter extends PageRequest {
  /** Absent: deletions of every workspace. */
  readonly owner?: WorkspaceId | undefined;
  readonly status: (typeof DELETION_STATUSES)[number] | null;
}

export async function listProviderDeletions(
  { database }: AdminServices,
  { limit, after, owner, status }: DeletionFilter,
): Promise<Page<ProviderDeletionView>> {
  const rows = await asWorkspaceOrSystem(database, owner ?? null, (db) => {
    let query = db.selectFrom("provider_deletions").selectAll().select(sql<string>`run ->> 'id'`.as("provider_id"));
    if (owner !== undefined) query = query.where("workspace_id", "=", owner);
    if (status !== null) query = query.where("state", "=", status);
    if (after !== null) query = query.where("id", "<", after);
    return query
      .orderBy("id", "desc")
      .limit(limit + 1)
      .execute();
  });
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(view), end: nextCursor };
}

type Row = Selectable<Tables["provider_deletions"]> & { readonly provider_id: string };

function view(row: Row): ProviderDeletionView {
  const { scope, connection } = partsOfKey(row.account);
  return {
    object: "provider_deletion",
    id: row.id,
    workspace_id: row.workspace_id,
    app_id: row.app_id,
    subject_id: row.subject,
    connection,
    owner: scope === PLATFORM ? "platform" : "workspace",
    provider: row.provider,
    provider_id: row.provider_id,
    simulated: row.test_mode,
    status: row.state,
    attempts: row.attempts,
    last_failure: row.last_failure,
    created_at: row.created_at.toISOString(),
    next_attempt_at: row.state === "pending" ? row.next_at.toISOString() : null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
