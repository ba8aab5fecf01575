// Objects that the file no longer lists become unmanaged and editable through the API [configuration.release]: no app loses its route by a
// line less, and nothing is left that neither file nor API may change.
import type { Transacting } from "../storage/database.ts";
import { setConnectionManager } from "../storage/connections.ts";
import { setRouteManager } from "../storage/routes.ts";
import { auditFile } from "./apply-scope.ts";
import type { DirectoryScope } from "./snapshot.ts";

type Noun = "connection" | "route" | "workspace" | "app";

/** `id` is the object's own; of a workspace, which lies in no other, `scope` is its id too. */
export function keptName(noun: Noun, scope: DirectoryScope, id: string): string {
  return `${noun} ${scope}/${id}`;
}

/** `kept`: what the file brought, by `keptName`. */
export async function unmanageRemoved(tx: Transacting, kept: ReadonlySet<string>): Promise<void> {
  for (const { noun, scope, id, managed_by, release } of await ownedByFile(tx)) {
    if (kept.has(keptName(noun, scope, id))) continue;
    await release();
    await auditFile(tx, scope, `${noun}.released`, id, { managed_by }, { managed_by: "api" });
  }
}

interface Owned {
  readonly noun: Noun;
  readonly scope: DirectoryScope;
  readonly id: string;
  readonly managed_by: string;
  readonly release: () => Promise<unknown>;
}

const OWNED = ["file", "bootstrap"];

async function ownedByFile(tx: Transacting): Promise<readonly Owned[]> {
  const connections = await tx
    .selectFrom("connections")
    .select(["scope", "id", "managed_by"])
    .where("managed_by", "in", OWNED)
    .execute();
  const routes = await tx
    .selectFrom("routes")
    .select(["scope", "id", "managed_by"])
    .where("managed_by", "in", OWNED)
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

/** With the budgets that the file gave it. */
async function releaseApp(tx: Transacting, id: string): Promise<void> {
  await tx.updateTable("apps").set({ managed_by: "api" }).where("id", "=", id).execute();
  await tx
    .updateTable("budgets")
    .set({ managed_by: "api" })
    .where("app_id", "=", id)
    .where("managed_by", "=", "file")
    .execute();
}
