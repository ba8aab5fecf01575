// Writes the audit entry of a change that a key requested [admin.one-audit-entry], with the object before and after.
import type { WorkspaceId } from "../../contract/ids.ts";
import { writeAudit } from "../../storage/audit-log.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { AdminActor } from "../services.ts";

export interface Change<Row> extends AdminActor {
  /** Null: a shared object. */
  readonly workspaceId: WorkspaceId | null;
  readonly action: string;
  readonly object: string;
  /** Null: the object did not exist before, or does not exist afterwards. */
  readonly before: Row | null;
  readonly after: Row | null;
}

/** `toAudit` returns what the audit log may store of a row: no secrets. */
export async function auditChange<Row>(
  tx: DatabaseTransaction,
  { actor, before, after, ...change }: Change<Row>,
  toAudit: (row: Row) => object,
): Promise<void> {
  const toAuditOrNull = (row: Row | null) => (row === null ? null : toAudit(row));
  await writeAudit(tx, { ...change, actorKeyId: actor, before: toAuditOrNull(before), after: toAuditOrNull(after) });
}
