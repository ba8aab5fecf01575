// What the ids in usage are called.
import type { AppView } from "../contract/apps.ts";
import type { KeyView } from "../contract/keys.ts";
import type { UsageGroup } from "../contract/usage.ts";
import type { WorkspaceView } from "../contract/workspaces.ts";
import type { Page, Visit } from "./visit.ts";

export type UsageNames = Readonly<Record<"workspace" | "app" | "key", ReadonlyMap<string, string>>>;

/** Of the newest hundreds each; any other goes by its id. The apps are asked for in any case, for the filter has them. */
export async function usageNames(visit: Visit, groups: readonly UsageGroup[]): Promise<UsageNames> {
  const isPlatform = visit.scope.workspace === null;
  const [workspaces, apps, keys] = await Promise.all([
    isPlatform && groups.includes("workspace") ? newestOf<WorkspaceView>(visit, "/workspaces") : [],
    isPlatform ? [] : newestOf<AppView>(visit, "/apps"),
    !isPlatform && groups.includes("key") ? newestOf<KeyView>(visit, "/keys") : [],
  ]);
  return {
    workspace: new Map(workspaces.map(({ id, slug }) => [id, slug])),
    app: new Map(apps.map(({ id, slug }) => [id, slug])),
    key: new Map(keys.map(({ id, name }) => [id, name])),
  };
}

const MOST_PAGES = 5;

/** Keys that are long in use are the oldest, behind many newer ones. */
async function newestOf<T>(visit: Visit, path: string): Promise<readonly T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const query: string = cursor === null ? "limit=100" : `limit=100&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await visit.read<Page<T>>(`${path}?${query}`);
    all.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === null) break;
  }
  return all;
}
