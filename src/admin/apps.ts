// Apps of a workspace [admin.apps]: create, list, get, replace, delete. Each change and its audit entry are one transaction, announced to every process.
import type { AppView } from "../contract/admin/apps.ts";
import { GatewayError } from "../contract/errors.ts";
import { newId, type WorkspaceId } from "../contract/ids.ts";
import { pageOf } from "../lib/list-page.ts";
import { announceChange } from "../storage/connection/announce.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { lockWorkspace } from "../storage/lock-workspace.ts";
import { auditChange, type Change } from "./audit/audit-change.ts";
import { type AppSettingsInput, refuseUnknownRoutes, settingsToStore, shownSettings } from "./app-settings.ts";
import { changeKeys, type KeyChangeServices } from "./keys/change-keys.ts";
import { refuseManagedByFile, shownManager } from "./refuse-managed.ts";
import { allowMatch, type Precondition, requireMatch } from "./precondition.ts";
import { noSuch, alreadyExists } from "./refusals.ts";
import type { AdminActor, AdminServices, Page, PageRequest } from "./services.ts";
import {
  type AppRow,
  deleteAppRow,
  insertApp,
  listAppRows,
  listAppsNamed,
  lockAppsNamed,
  updateApp,
} from "./store/apps.ts";
import { hasActiveKey } from "./store/keys.ts";

export interface WorkspaceRef extends AdminActor {
  readonly workspaceId: WorkspaceId;
}

export interface AppRef extends WorkspaceRef {
  /** The app's slug or id. */
  readonly app: string;
}

export interface AppInput extends AppSettingsInput {
  readonly name: string | null;
}

export async function createApp(
  { database }: AdminServices,
  { workspaceId, actor }: WorkspaceRef,
  input: AppInput & { readonly slug: string },
): Promise<AppView> {
  return database.inWorkspace(workspaceId, async (tx) => {
    await refuseUnknownRoutes(tx, workspaceId, input);
    await lockWorkspace(tx, workspaceId);
    const row = await insertApp(tx, {
      id: newId("app"),
      workspace_id: workspaceId,
      slug: input.slug,
      name: input.name ?? input.slug,
      settings: settingsToStore(input),
      managed_by: "api",
    });
    if (row === undefined) throw alreadyExists("app");
    await record(tx, { workspaceId, actor, action: "app.created", before: null, after: row });
    return view(row);
  });
}

export async function listApps(
  { database }: AdminServices,
  workspaceId: WorkspaceId,
  { limit, after }: PageRequest,
): Promise<Page<AppView>> {
  const rows = await database.inWorkspace(workspaceId, (tx) =>
    listAppRows(tx, workspaceId, { after, limit: limit + 1 }),
  );
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(view), end: nextCursor };
}

export async function describeApp({ database }: AdminServices, { workspaceId, app }: AppRef): Promise<AppView> {
  return view(await database.inWorkspace(workspaceId, (tx) => findApp(tx, workspaceId, app)));
}

export async function replaceApp(
  services: KeyChangeServices,
  { workspaceId, actor, app }: AppRef,
  precondition: Precondition,
  input: AppInput,
): Promise<AppView> {
  return changeKeys(services, workspaceId, async (tx) => {
    await refuseUnknownRoutes(tx, workspaceId, input);
    const before = await lockApp(tx, workspaceId, app);
    requireMatch(precondition, view(before));
    const changes = { name: input.name ?? before.slug, settings: settingsToStore(input) };
    const after = await updateApp(tx, workspaceId, before.id, changes);
    // An identical replacement is not a change.
    if (JSON.stringify(view(before)) !== JSON.stringify(view(after)))
      await record(tx, { workspaceId, actor, action: "app.changed", before, after });
    return view(after);
  });
}

export async function deleteApp(
  services: KeyChangeServices,
  { workspaceId, actor, app }: AppRef,
  precondition: Precondition,
): Promise<AppView> {
  return changeKeys(services, workspaceId, async (tx) => {
    const before = await lockApp(tx, workspaceId, app);
    allowMatch(precondition, view(before));
    if (await hasActiveKey(tx, workspaceId, before.id)) {
      throw new GatewayError("CONFLICT", {
        message: "The app has keys that still work. Revoke them first.",
        details: { reason: "not_empty" },
      });
    }
    await deleteAppRow(tx, workspaceId, before.id);
    await record(tx, { workspaceId, actor, action: "app.deleted", before, after: null });
    return view(before);
  });
}

/** Finds an app by slug or id. An id wins. Missing apps and those of other workspaces are both 404. */
export async function findApp(tx: DatabaseTransaction, workspaceId: WorkspaceId, app: string): Promise<AppRow> {
  return requireApp(await listAppsNamed(tx, workspaceId, app), app);
}

/** The same, and locks the app until the transaction ends. */
export async function holdApp(tx: DatabaseTransaction, workspaceId: WorkspaceId, app: string): Promise<AppRow> {
  return requireApp(await lockAppsNamed(tx, workspaceId, app), app);
}

async function lockApp(tx: DatabaseTransaction, workspaceId: WorkspaceId, app: string): Promise<AppRow> {
  const row = await holdApp(tx, workspaceId, app);
  refuseManagedByFile(row);
  return row;
}

function requireApp(rows: readonly AppRow[], app: string): AppRow {
  const row = rows.find(({ id }) => id === app) ?? rows[0];
  if (row === undefined) throw noSuch("app");
  return row;
}

async function record(tx: DatabaseTransaction, change: Omit<Change<AppRow>, "object">): Promise<void> {
  const object = (change.after ?? change.before)?.id ?? "";
  await auditChange(tx, { ...change, object }, ({ slug, name, settings }) => ({
    slug,
    name,
    ...shownSettings(settings),
  }));
  await announceChange(tx, "keys", object);
}

function view(row: AppRow): AppView {
  return {
    object: "app",
    id: row.id,
    workspace_id: row.workspace_id,
    slug: row.slug,
    name: row.name,
    ...shownSettings(row.settings),
    managed_by: shownManager(row.managed_by),
    created_at: row.created_at.toISOString(),
  };
}
