// Workspaces as the operator creates, replaces and deletes them [admin.workspaces]. Each change and its audit entry are one transaction.
import { GatewayError } from "../contract/errors.ts";
import { newId, type WorkspaceId } from "../contract/ids.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import type { WorkspaceView } from "../contract/admin/workspaces.ts";
import { pageOf } from "../lib/list-page.ts";
import { announceChange } from "../storage/connection/announce.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { lockDirectory } from "../storage/directory-state.ts";
import { putPlanBudgets } from "../metering/store/plan-budgets.ts";
import { bypassRls } from "../storage/system.ts";
import { auditChange, type Change } from "./audit/audit-change.ts";
import { changeKeys, type KeyChangeServices } from "./keys/change-keys.ts";
import { refuseManagedByFile, shownManager } from "./refuse-managed.ts";
import { allowMatch, type Precondition, requireMatch } from "./precondition.ts";
import { noSuch, alreadyExists } from "./refusals.ts";
import type { AdminActor, AdminServices, Page, PageRequest } from "./services.ts";
import { hasApps } from "./store/apps.ts";
import {
  deleteWorkspaceRow,
  insertWorkspace,
  listWorkspaceRows,
  lockWorkspaceRow,
  readWorkspace,
  updatePlanOf,
  type WorkspaceRow,
} from "./store/workspaces.ts";

export interface NewWorkspace {
  readonly slug: string;
  readonly plan: string | null;
}

export async function createWorkspace(
  { database }: AdminServices,
  { actor, slug, plan }: AdminActor & NewWorkspace,
): Promise<WorkspaceView> {
  const workspaceId = newId("workspace");
  return database.inWorkspace(workspaceId, async (tx) => {
    await lockDirectory(tx);
    const row = await insertWorkspace(tx, { id: workspaceId, slug, plan, managed_by: "api" });
    if (row === undefined) throw alreadyExists("workspace");
    await putPlan(tx, workspaceId, plan);
    await audit(tx, { workspaceId, actor, action: "workspace.created", before: null, after: row });
    return view(row);
  });
}

export async function listWorkspaces(
  { database }: AdminServices,
  { limit, after, plan }: PageRequest & { readonly plan: string | null },
): Promise<Page<WorkspaceView>> {
  const rows = await listWorkspaceRows(bypassRls(database, "operator").db, { plan, after, limit: limit + 1 });
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(view), end: nextCursor };
}

export async function describeWorkspace({ database }: AdminServices, workspaceId: WorkspaceId): Promise<WorkspaceView> {
  const row = await database.inWorkspace(workspaceId, (tx) => readWorkspace(tx, workspaceId));
  if (row === undefined) throw noSuch("workspace");
  return view(row);
}

export interface WorkspaceChange extends AdminActor {
  readonly workspaceId: WorkspaceId;
  readonly precondition: Precondition;
}

export async function replaceWorkspace(
  services: KeyChangeServices,
  { workspaceId, actor, precondition, plan }: WorkspaceChange & Pick<NewWorkspace, "plan">,
): Promise<WorkspaceView> {
  return changeKeys(services, workspaceId, async (tx) => {
    await lockDirectory(tx);
    const before = await requireRow(tx, workspaceId);
    requireMatch(precondition, view(before));
    if (before.plan === plan) return view(before);
    const after = await updatePlanOf(tx, workspaceId, plan);
    await putPlan(tx, workspaceId, plan);
    await audit(tx, { workspaceId, actor, action: "workspace.changed", before, after });
    // The key cache contains a key's workspace, plan included.
    await announceChange(tx, "keys", workspaceId);
    return view(after);
  });
}

export async function deleteWorkspace(
  services: KeyChangeServices,
  { workspaceId, actor, precondition }: WorkspaceChange,
): Promise<void> {
  await changeKeys(services, workspaceId, async (tx) => {
    await lockDirectory(tx);
    const before = await requireRow(tx, workspaceId);
    allowMatch(precondition, view(before));
    if (await hasApps(tx, workspaceId)) {
      throw new GatewayError("CONFLICT", {
        message: "The workspace still has apps. Remove them first.",
        details: { reason: "not_empty" },
      });
    }
    await deleteWorkspaceRow(tx, workspaceId);
    await audit(tx, { workspaceId, actor, action: "workspace.deleted", before, after: null });
    await announceChange(tx, "keys", workspaceId);
    await announceChange(tx, "directory", workspaceId);
  });
}

/** Locks the workspace until the transaction ends, so that what was checked is what is changed. Throws 404, and 409 for objects of the file. */
async function requireRow(tx: DatabaseTransaction, workspaceId: WorkspaceId): Promise<WorkspaceRow> {
  const row = await lockWorkspaceRow(tx, workspaceId);
  if (row === undefined) throw noSuch("workspace");
  refuseManagedByFile(row);
  return row;
}

async function putPlan(tx: DatabaseTransaction, workspaceId: WorkspaceId, plan: string | null): Promise<void> {
  if (!(await putPlanBudgets(tx, workspaceId, plan)))
    throw invalidRequest("plan", "`plan` names no plan that there is.");
}

async function audit(
  tx: DatabaseTransaction,
  { workspaceId, ...change }: Omit<Change<WorkspaceRow>, "object"> & { readonly workspaceId: WorkspaceId },
): Promise<void> {
  await auditChange(tx, { ...change, workspaceId, object: workspaceId }, ({ slug, plan }) => ({ slug, plan }));
}

function view(row: WorkspaceRow): WorkspaceView {
  return {
    object: "workspace",
    id: row.id,
    slug: row.slug,
    plan: row.plan,
    managed_by: shownManager(row.managed_by),
    created_at: row.created_at.toISOString(),
  };
}
