// Stores the API keys of a workspace. Reads never include the hash of a secret [keys.shown-once].
import { type Insertable, type Selectable, sql, type UpdateObject } from "kysely";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

/** `now`: the database's clock, read with the row. */
export type KeyRow = Omit<Selectable<Tables["api_keys"]>, "secret_hash"> & { readonly now: Date };

const COLUMNS = [
  "id",
  "workspace_id",
  "app_id",
  "name",
  "role",
  "scopes",
  "prefix",
  "last4",
  "settings",
  "managed_by",
  "created_at",
  "expires_at",
  "revoked_at",
  "last_used_at",
  "replaces",
] as const;

const NOW = sql<Date>`patchbay_now()`;

/** Excludes the operator's keys, which may belong to a workspace: an administrator who rotated one would become the operator. */
const IS_OF_WORKSPACE = sql<boolean>`role <> 'operator'`;

export async function insertKey(tx: DatabaseTransaction, key: Insertable<Tables["api_keys"]>): Promise<KeyRow> {
  return tx
    .insertInto("api_keys")
    .values(key)
    .returning([...COLUMNS, NOW.as("now")])
    .executeTakeFirstOrThrow();
}

export async function readKey(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  id: string,
): Promise<KeyRow | undefined> {
  return keysOf(tx, workspaceId).where("id", "=", id).where(IS_OF_WORKSPACE).executeTakeFirst();
}

export async function lockKey(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  id: string,
): Promise<KeyRow | undefined> {
  return keysOf(tx, workspaceId).where("id", "=", id).where(IS_OF_WORKSPACE).forUpdate().executeTakeFirst();
}

export interface KeyRowFilter {
  readonly appId: string | null;
  readonly role: KeyRow["role"] | null;
  readonly state: "active" | "expired" | "revoked" | null;
  /** Keys older than this id. */
  readonly after: string | null;
  readonly limit: number;
}

/** Newest first. */
export async function listKeyRows(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  { appId, role, state, after, limit }: KeyRowFilter,
): Promise<readonly KeyRow[]> {
  let query = keysOf(tx, workspaceId).where(IS_OF_WORKSPACE);
  if (appId !== null) query = query.where("app_id", "=", appId);
  if (role !== null) query = query.where("role", "=", role);
  if (state === "revoked") query = query.where("revoked_at", "is not", null);
  else if (state !== null)
    query = query
      .where("revoked_at", "is", null)
      .where(sql<boolean>`coalesce(expires_at <= patchbay_now(), false) = ${state === "expired"}`);
  if (after !== null) query = query.where("id", "<", after);
  return query.orderBy("id", "desc").limit(limit).execute();
}

function keysOf(tx: DatabaseTransaction, workspaceId: WorkspaceId) {
  return tx
    .selectFrom("api_keys")
    .select([...COLUMNS, NOW.as("now")])
    .where("workspace_id", "=", workspaceId);
}

export async function hasActiveKey(tx: DatabaseTransaction, workspaceId: WorkspaceId, appId: string): Promise<boolean> {
  const activeKey = await tx
    .selectFrom("api_keys")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("app_id", "=", appId)
    .where("revoked_at", "is", null)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", NOW)]))
    .executeTakeFirst();
  return activeKey !== undefined;
}

type KeyName = Pick<KeyRow, "id" | "workspace_id">;

export async function updateKey(
  tx: DatabaseTransaction,
  key: KeyName,
  changes: Pick<KeyRow, "name" | "scopes" | "expires_at"> & { readonly settings: string },
): Promise<KeyRow> {
  return changeKey(tx, key, changes);
}

export async function revokeKeyRow(tx: DatabaseTransaction, key: KeyName): Promise<KeyRow> {
  return changeKey(tx, key, { revoked_at: NOW });
}

/** The key expires after so many seconds, and never later than it would have. */
export async function expireKey(tx: DatabaseTransaction, key: KeyName, seconds: number): Promise<KeyRow> {
  return changeKey(tx, key, {
    expires_at: sql<Date>`least(expires_at, patchbay_now() + make_interval(secs => ${seconds}))`,
  });
}

async function changeKey(
  tx: DatabaseTransaction,
  { id, workspace_id: workspaceId }: KeyName,
  changes: UpdateObject<Tables, "api_keys">,
): Promise<KeyRow> {
  return tx
    .updateTable("api_keys")
    .set(changes)
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .returning([...COLUMNS, NOW.as("now")])
    .executeTakeFirstOrThrow();
}
