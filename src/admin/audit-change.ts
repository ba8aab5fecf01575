// The audit entry of a change that a key requested [admin.one-audit-entry]: the object before and after.
import type { WorkspaceId } from "../contract/ids.ts";
import { writeAudit } from "../storage/audit-log.ts";
import type { Transacting } from "../storage/database.ts";
import type { Acting } from "./services.ts";

export interface Change<Row> extends Acting {
  /** Null: the platform's. */
  readonly workspaceId: WorkspaceId | null;
  readonly action: string;
  readonly object: string;
  /** Null: there was none, or none is left. */
  readonly before: Row | null;
  readonly after: Row | null;
}

/** `kept` leaves out what is a secret. */
export async function auditChange<Row>(
  tx: Transacting,
  { actor, before, after, ...change }: Change<Row>,
  kept: (row: Row) => object,
): Promise<void> {
  const shown = (row: Row | null) => (row === null ? null : kept(row));
  await writeAudit(tx, { ...change, actorKeyId: actor, before: shown(before), after: shown(after) });
}
