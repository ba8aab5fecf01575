// Who changed which setting, from what to what. Written in the transaction of the change itself [admin.one-audit-entry]. The database
// refuses to change or remove a row afterwards.
import type { KeyId, WorkspaceId } from "../contract/ids.ts";
import type { Transacting } from "./database.ts";

export interface AuditEntry {
  /** null: the platform itself. */
  readonly workspaceId: WorkspaceId | null;
  /** null: the configuration file. */
  readonly actorKeyId: KeyId | null;
  /** `noun.verb`, such as `audio_url_domains.replaced`. */
  readonly action: string;
  /** What was changed: an id or a name. */
  readonly object: string;
  /** null: there was nothing before, or nothing is left. Never a secret. */
  readonly before: object | null;
  readonly after: object | null;
}

export async function writeAudit(tx: Transacting, entry: AuditEntry): Promise<void> {
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
