// API keys of a workspace: created and shown once, replaced, rotated with overlap [keys.rotate], revoked. Each change and its audit entry are one
// transaction, announced to every process.
import { generateKey, hashKey, KEY_PREFIXES, type KeyKind, visibleParts } from "../../auth/key-format.ts";
import { newId, type WorkspaceId } from "../../contract/ids.ts";
import type { KeyView } from "../../contract/admin/keys.ts";
import { announceChange } from "../../storage/connection/announce.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { lockWorkspace } from "../../storage/lock-workspace.ts";
import { auditChange, type Change } from "../audit/audit-change.ts";
import { refuseUnknownRoutes, settingsToStore } from "../app-settings.ts";
import type { WorkspaceRef } from "../apps.ts";
import { changeKeys, type KeyChangeServices } from "./change-keys.ts";
import { appOf, type KeyInput, type NewKey, refuseEnded, refuseMisfit, refusePast } from "./judge-key.ts";
import { toAuditRecord, keyView } from "./key-view.ts";
import { refuseManagedByFile } from "../refuse-managed.ts";
import { allowMatch, type Precondition, requireMatch } from "../precondition.ts";
import { noSuch } from "../refusals.ts";
import type { AdminServices } from "../services.ts";
import { expireKey, insertKey, type KeyRow, lockKey, readKey, revokeKeyRow, updateKey } from "../store/keys.ts";

export interface KeyServices extends KeyChangeServices {
  readonly pepper: Buffer;
}

export interface KeyRef extends WorkspaceRef {
  readonly key: string;
}

export async function createKey(
  { database, pepper }: KeyServices,
  { workspaceId, actor }: WorkspaceRef,
  input: NewKey,
): Promise<KeyView> {
  refuseMisfit(input);
  return database.inWorkspace(workspaceId, async (tx) => {
    await refuseUnknownRoutes(tx, workspaceId, input);
    await lockWorkspace(tx, workspaceId);
    const app = input.app === null ? null : await appOf(tx, workspaceId, input.app);
    const secret = generateKey(app === null ? "admin" : input.mode);
    const row = await createRow(tx, pepper, secret, {
      workspace_id: workspaceId,
      app_id: app,
      name: input.name ?? (app === null ? "administrator" : "key"),
      role: input.role,
      scopes: app === null ? [] : [...input.scopes],
      settings: settingsToStore(input),
      expires_at: input.expires_at === null ? null : new Date(input.expires_at),
      replaces: null,
    });
    refusePast(row);
    await record(tx, { workspaceId, actor, action: "key.created", before: null, after: row });
    return keyView(row, secret);
  });
}

export async function describeKey({ database }: AdminServices, { workspaceId, key }: KeyRef): Promise<KeyView> {
  const row = await database.inWorkspace(workspaceId, (tx) => readKey(tx, workspaceId, key));
  if (row === undefined) throw noSuch("key");
  return keyView(row);
}

export async function replaceKey(
  services: KeyChangeServices,
  { workspaceId, actor, key }: KeyRef,
  precondition: Precondition,
  input: KeyInput,
): Promise<KeyView> {
  return changeKeys(services, workspaceId, async (tx) => {
    await refuseUnknownRoutes(tx, workspaceId, input);
    const before = await requireKey(tx, workspaceId, key);
    requireMatch(precondition, keyView(before));
    refuseEnded(before);
    if (before.app_id === null) refuseMisfit({ ...input, app: null, role: "admin", mode: "live" });
    const after = await updateKey(tx, before, {
      name: input.name ?? before.name,
      scopes: before.app_id === null ? [] : [...input.scopes],
      settings: settingsToStore(input),
      expires_at: input.expires_at === null ? null : new Date(input.expires_at),
    });
    refusePast(after);
    if (JSON.stringify(toAuditRecord(before)) !== JSON.stringify(toAuditRecord(after)))
      await record(tx, { workspaceId, actor, action: "key.changed", before, after });
    return keyView(after);
  });
}

/** The new key copies the old one's settings. The old one expires after the overlap, and never later than it would have. */
export async function rotateKey(
  services: KeyServices,
  { workspaceId, actor, key }: KeyRef,
  precondition: Precondition,
  overlapSeconds: number,
): Promise<KeyView> {
  return changeKeys(services, workspaceId, async (tx) => {
    const before = await requireKey(tx, workspaceId, key);
    allowMatch(precondition, keyView(before));
    refuseEnded(before);
    const secret = generateKey(kindOf(before));
    const { id, workspace_id, app_id, name, role, scopes, expires_at } = before;
    const settings = JSON.stringify(before.settings);
    const newKey = await createRow(tx, services.pepper, secret, {
      workspace_id,
      app_id,
      name,
      role,
      scopes,
      settings,
      expires_at,
      replaces: id,
    });
    const after = overlapSeconds === 0 ? await revokeKeyRow(tx, before) : await expireKey(tx, before, overlapSeconds);
    await record(tx, { workspaceId, actor, action: "key.created", before: null, after: newKey });
    await record(tx, { workspaceId, actor, action: "key.rotated", before, after });
    return keyView(newKey, secret);
  });
}

/** Idempotent: a key that is revoked already stays unchanged. */
export async function revokeKey(
  services: KeyChangeServices,
  { workspaceId, actor, key }: KeyRef,
  precondition: Precondition,
): Promise<KeyView> {
  return changeKeys(services, workspaceId, async (tx) => {
    const before = await requireKey(tx, workspaceId, key);
    allowMatch(precondition, keyView(before));
    if (before.revoked_at !== null) return keyView(before);
    const after = await revokeKeyRow(tx, before);
    await record(tx, { workspaceId, actor, action: "key.revoked", before, after });
    return keyView(after);
  });
}

async function createRow(
  tx: DatabaseTransaction,
  pepper: Buffer,
  secret: string,
  columns: Pick<KeyRow, "workspace_id" | "app_id" | "name" | "role" | "scopes" | "expires_at" | "replaces"> & {
    readonly settings: string;
  },
): Promise<KeyRow> {
  return insertKey(tx, {
    id: newId("key"),
    ...columns,
    secret_hash: hashKey(pepper, secret),
    ...visibleParts(secret),
    managed_by: "api",
  });
}

/** Locks the key. Throws 404, and 409 for objects of the file. */
async function requireKey(tx: DatabaseTransaction, workspaceId: WorkspaceId, key: string): Promise<KeyRow> {
  const row = await lockKey(tx, workspaceId, key);
  if (row === undefined) throw noSuch("key");
  refuseManagedByFile(row);
  return row;
}

function kindOf({ prefix, app_id }: KeyRow): KeyKind {
  if (app_id === null) return "admin";
  return prefix === KEY_PREFIXES.test ? "test" : "live";
}

async function record(
  tx: DatabaseTransaction,
  change: Omit<Change<KeyRow>, "object"> & { readonly after: KeyRow },
): Promise<void> {
  await auditChange(tx, { ...change, object: change.after.id }, toAuditRecord);
  await announceChange(tx, "keys", change.after.id);
}
