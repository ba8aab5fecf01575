// Makes objects that the file no longer lists unmanaged, so that the API can edit them [configuration.release]. An app never loses its route because a line
// was removed, and no object is left that neither file nor API may change.
import type { SystemTransaction } from "../storage/database.ts";
import { setConnectionManager } from "./store/connections.ts";
import { setRouteManager } from "./store/routes.ts";
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

const FILE_MANAGERS = ["file", "bootstrap"];

async function listManaged(tx: SystemTransaction): Promise<readonly ManagedObject[]> {
  const connections = await tx
    .selectFrom("connections")
    .select(["scope", "id", "managed_by"])
    .where("managed_by", "in", FILE_MANAGERS)
    .execute();
  const routes = await tx
    .selectFrom("routes")
    .select(["scope", "id", "managed_by"])
    .where("managed_by", "in", FILE_MANAGERS)
    .execute();
  const workspaces = await tx.selectFrom("workspaces").select("id").where("managed_by", "=", "file").execute();
  const apps = await tx.selectFrom("apps").select(["id", "workspace_id"]).where("managed_by", "=", "file").execute();
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
      release: () => tx.updateTable("workspaces").set({ managed_by: "api" }).where("id", "=", id).execute(),
    })),
  ];
}

/** Releases an app together with the budgets that the file gave it. */
async function releaseApp(tx: SystemTransaction, id: string): Promise<void> {
  await tx.updateTable("apps").set({ managed_by: "api" }).where("id", "=", id).execute();
  await tx
    .updateTable("budgets")
    .set({ managed_by: "api" })
    .where("app_id", "=", id)
    .where("managed_by", "=", "file")
    .execute();
}
