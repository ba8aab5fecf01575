// GET /admin/v1/audit and the same for one workspace: the audit log, newest first [tenancy.audit-read].
import type { AuditEntryView } from "../../contract/admin/audit.ts";
import { pageOf } from "../../lib/list-page.ts";
import { asWorkspaceOrSystem } from "../../storage/system.ts";
import type { AdminServices, Page } from "../services.ts";
import { type AuditFilter, listAuditRows } from "../store/audit-log.ts";

export async function listAudit({ database }: AdminServices, filter: AuditFilter): Promise<Page<AuditEntryView>> {
  const { limit, owner } = filter;
  const rows = await asWorkspaceOrSystem(database, owner === undefined || owner === "platform" ? null : owner, (db) =>
    listAuditRows(db, { ...filter, limit: limit + 1 }),
  );
  const { page, nextCursor } = pageOf(
    rows.map((row) => ({ ...row, id: String(row.id) })),
    limit,
  );
  return {
    data: page.map((row) => ({
      object: "audit_entry",
      id: row.id,
      workspace_id: row.workspace_id,
      at: row.at.toISOString(),
      actor_key_id: row.actor_key_id,
      action: row.action,
      target: row.object,
      before: asObject(row.before),
      after: asObject(row.after),
    })),
    end: nextCursor,
  };
}

/** The cast is safe: `writeAudit` accepts objects only. */
function asObject(value: unknown): AuditEntryView["before"] {
  return value as AuditEntryView["before"];
}
