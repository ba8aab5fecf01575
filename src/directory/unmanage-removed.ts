// Makes objects that the configuration file no longer lists unmanaged, so that the API can edit them [configuration.release]. An app never loses its route
// because a line was removed, and no object is left that neither file nor API may change.
import type { SystemTransaction } from "../storage/database.ts";
import { unmanageBudgets } from "../metering/store/app-budgets.ts";
import { listFileConnections, setConnectionManager } from "./store/connections.ts";
import { listFileRoutes, setRouteManager } from "./store/routes.ts";
import { listFileApps, listFileWorkspaces, unmanageApp, unmanageWorkspace } from "./store/workspaces.ts";
import { auditFile } from "./apply-scope.ts";
import type { DirectoryScope } from "./snapshot.ts";

type Noun = "connection" | "route" | "workspace" | "app";

/** `id` is the object's own. For a workspace, which belongs to no scope, `scope` is its id too. */
export function keptName(noun: Noun, scope: DirectoryScope, id: string): string {
  return `${noun} ${scope}/${id}`;
}

/** `kept`: the names of the objects that the file lists, by `keptName`. */
export async function unmanageRemoved(tx: SystemTransaction, kept: ReadonlySet<string>): Promise<void> {
  for (const { noun, scope, id, managed_by, release } of await listManaged(tx)) {
    if (kept.has(keptName(noun, scope, id))) continue;
    await release();
    await auditFile(tx, scope, `${noun}.released`, id, { managed_by }, { managed_by: "api" });
  }
}

interface ManagedObject {
  readonly noun: Noun;
  readonly scope: DirectoryScope;
  readonly id: string;
  readonly managed_by: string;
  readonly release: () => Promise<unknown>;
}

async function listManaged(tx: SystemTransaction): Promise<readonly ManagedObject[]> {
  const connections = await listFileConnections(tx);
  const routes = await listFileRoutes(tx);
  const workspaces = await listFileWorkspaces(tx);
  const apps = await listFileApps(tx);
  return [
    ...connections.map((name) => ({
      noun: "connection" as const,
      ...name,
      release: () => setConnectionManager(tx, name, "api"),
    })),
    ...routes.map((name) => ({ noun: "route" as const, ...name, release: () => setRouteManager(tx, name, "api") })),
    ...apps.map(({ id, workspace_id: scope }) => ({
      noun: "app" as const,
      scope,
      id,
      managed_by: "file",
      release: () => releaseApp(tx, id),
    })),
    ...workspaces.map(({ id }) => ({
      noun: "workspace" as const,
      scope: id,
      id,
      managed_by: "file",
      release: () => unmanageWorkspace(tx, id),
    })),
  ];
}

/** Releases an app together with the budgets that the file gave it. */
async function releaseApp(tx: SystemTransaction, id: string): Promise<void> {
  await unmanageApp(tx, id);
  await unmanageBudgets(tx, id);
}
