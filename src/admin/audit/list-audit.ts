// GET /admin/v1/audit and the same for one workspace: the audit log, newest first [tenancy.audit-read].
import type { AuditEntryView } from "../../contract/admin/audit.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import { pageOf } from "../../lib/list-page.ts";
import { asWorkspaceOrSystem } from "../../storage/system.ts";
import type { AdminServices, Page, PageRequest } from "../services.ts";

export interface AuditFilter extends PageRequest {
  /** Absent: entries of every workspace and of shared objects. */
  readonly owner?: WorkspaceId | "platform" | undefined;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly action: string | null;
  readonly actor: string | null;
  readonly target: string | null;
}

export async function listAudit({ database }: AdminServices, filter: AuditFilter): Promise<Page<AuditEntryView>> {
  const { limit, after, owner, from, to, action, actor, target } = filter;
  const rows = await asWorkspaceOrSystem(database, owner === undefined || owner === "platform" ? null : owner, (db) => {
    let query = db
      .selectFrom("audit_log")
      .select(["id", "workspace_id", "at", "actor_key_id", "action", "object", "before", "after"]);
    if (owner === "platform") query = query.where("workspace_id", "is", null);
    else if (owner !== undefined) query = query.where("workspace_id", "=", owner);
    if (from !== null) query = query.where("at", ">=", from);
    if (to !== null) query = query.where("at", "<", to);
    if (action !== null) query = query.where("action", "=", action);
    if (actor !== null) query = query.where("actor_key_id", "=", actor);
    if (target !== null) query = query.where("object", "=", target);
    if (after !== null) query = query.where("id", "<", BigInt(after));
    return query
      .orderBy("id", "desc")
      .limit(limit + 1)
      .execute();
  });
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
