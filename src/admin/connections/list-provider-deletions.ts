// GET /admin/v1/provider-deletions and the same for one workspace: the deletions requested from providers, newest first [admin.deletions].
import type { ProviderDeletionView } from "../../contract/admin/provider-deletions.ts";
import { partsOfKey } from "../../directory/account-key.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import { type DeletionFilter, type DeletionRow, listDeletions } from "../../gateway/store/provider-deletions.ts";
import { pageOf } from "../../lib/list-page.ts";
import { asWorkspaceOrSystem } from "../../storage/system.ts";
import type { AdminServices, Page } from "../services.ts";

export async function listProviderDeletions(
  { database }: AdminServices,
  filter: DeletionFilter,
): Promise<Page<ProviderDeletionView>> {
  const rows = await asWorkspaceOrSystem(database, filter.owner ?? null, (db) =>
    listDeletions(db, { ...filter, limit: filter.limit + 1 }),
  );
  const { page, nextCursor } = pageOf(rows, filter.limit);
  return { data: page.map(view), end: nextCursor };
}

function view(row: DeletionRow): ProviderDeletionView {
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
