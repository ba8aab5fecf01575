// What the ids in usage are called.
import type { AppView } from "../contract/apps.ts";
import type { KeyView } from "../contract/keys.ts";
import type { UsageGroup } from "../contract/usage.ts";
import type { WorkspaceView } from "../contract/workspaces.ts";
import type { Page, Visit } from "./visit.ts";

export type UsageNames = Readonly<Record<"workspace" | "app" | "key", ReadonlyMap<string, string>>>;

/** Of the first hundred each; any other goes by its id. The apps are asked for in any case, for the filter has them. */
export async function usageNames(visit: Visit, groups: readonly UsageGroup[]): Promise<UsageNames> {
  const isPlatform = visit.scope.workspace === null;
  const [workspaces, apps, keys] = await Promise.all([
    isPlatform && groups.includes("workspace") ? firstOf<WorkspaceView>(visit, "/workspaces") : [],
    isPlatform ? [] : firstOf<AppView>(visit, "/apps"),
    !isPlatform && groups.includes("key") ? firstOf<KeyView>(visit, "/keys") : [],
  ]);
  return {
    workspace: new Map(workspaces.map(({ id, slug }) => [id, slug])),
    app: new Map(apps.map(({ id, slug }) => [id, slug])),
    key: new Map(keys.map(({ id, name }) => [id, name])),
  };
}

export async function firstOf<T>(visit: Visit, path: string): Promise<readonly T[]> {
  return (await visit.read<Page<T>>(`${path}?limit=100`)).data;
}
