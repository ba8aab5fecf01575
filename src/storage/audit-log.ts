// Records who changed which setting, in the transaction of the change itself [admin.one-audit-entry]. The database rejects later changes to these rows.
import type { KeyId, WorkspaceId } from "../contract/ids.ts";
import type { DatabaseTransaction } from "./database.ts";

export interface AuditEntry {
  /** Null: the installation itself. */
  readonly workspaceId: WorkspaceId | null;
  /** Null: the configuration file. */
  readonly actorKeyId: KeyId | null;
  /** `noun.verb`, such as `audio_url_domains.replaced`. */
  readonly action: string;
  /** The id or name of what was changed. */
  readonly object: string;
  /** Null: there was nothing before, or nothing afterwards. Never a secret. */
  readonly before: object | null;
  readonly after: object | null;
}

export async function writeAudit(tx: DatabaseTransaction, entry: AuditEntry): Promise<void> {
  const json = (value: object | null) => (value === null ? null : JSON.stringify(value));
  await tx
    .insertInto("audit_log")
    .values({
      workspace_id: entry.workspaceId,
      actor_key_id: entry.actorKeyId,
      action: entry.action,
      object: entry.object,
      before: json(entry.before),
      after: json(entry.after),
    })
    .execute();
}
