// Lists entries of the audit log, newest first [tenancy.audit-read].
import type { WorkspaceId } from "../../contract/ids.ts";
import type { Handle } from "../../storage/system.ts";

export interface AuditFilter {
  /** Absent: entries of every workspace and of shared objects. */
  readonly owner?: WorkspaceId | "platform" | undefined;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly action: string | null;
  readonly actor: string | null;
  readonly target: string | null;
  /** Entries older than this id. */
  readonly after: string | null;
  readonly limit: number;
}

export async function listAuditRows(db: Handle, { limit, after, owner, from, to, action, actor, target }: AuditFilter) {
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
  return query.orderBy("id", "desc").limit(limit).execute();
}
