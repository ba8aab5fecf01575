// Loads the names of ids in usage.
import type { UsageGroup } from "../contract/usage.ts";
import { type Names, namesAt, NO_NAMES } from "./names.ts";
import type { Visit } from "./visit.ts";

export type UsageNames = Readonly<Record<"workspace" | "app" | "key", Names>>;

/** Keys in long use are old, behind many newer ones. */
const MOST_PAGES = 5;

/** Apps are always loaded, because the filter needs them. */
export async function usageNames(visit: Visit, groups: readonly UsageGroup[]): Promise<UsageNames> {
  const isPlatform = visit.scope.workspace === null;
  const [workspace, app, key] = await Promise.all([
    isPlatform && groups.includes("workspace") ? namesAt(visit, "/workspaces", MOST_PAGES) : NO_NAMES,
    isPlatform ? NO_NAMES : namesAt(visit, "/apps", MOST_PAGES),
    !isPlatform && groups.includes("key") ? namesAt(visit, "/keys", MOST_PAGES) : NO_NAMES,
  ]);
  return { workspace, app, key };
}
