// Which routes each app uses, by its own settings and those of its keys: as its route, as its override for audio, and by purposes [retirement.users].
import type { AppInfo, RoutingSettings } from "../../auth/principal.ts";
import { type Capability, CAPABILITIES } from "../../contract/features.ts";
import { brand, type WorkspaceId } from "../../contract/ids.ts";
import type { Directory } from "../../directory/snapshot.ts";
import { settingsOf } from "../../directory/stored-schemas.ts";
import { contextRouteOf } from "../../routing/audio-input-override.ts";
import { combineDataPolicies, type RequiredDataPolicy } from "../../routing/data-policy.ts";
import { purposesOf } from "../../routing/resolve-purpose.ts";
import type { PurposeDefaults } from "../../routing/types.ts";
import type { Handle } from "../../storage/system.ts";
import { listAppsWithWorkspace, listRoutedKeys } from "../store/route-users.ts";

export interface WorkspaceUsers {
  readonly id: WorkspaceId;
  readonly hasPlan: boolean;
  readonly apps: readonly AppUser[];
}

export interface AppUser {
  readonly app: AppInfo;
  readonly slug: string;
  /** Routing settings of the app's keys, the first without any. */
  readonly keys: readonly RoutingSettings[];
}

/** One way in which an app reaches a route. */
export interface RouteUse {
  readonly route: string;
  readonly capability: Capability;
  readonly by: "route" | "audio_input_override" | "purpose";
  /** Null unless it is by a purpose. */
  readonly purpose: { readonly label: string; readonly defaults: PurposeDefaults } | null;
  /** Everything that applies to its requests, as in a decision. Null: nothing is required. */
  readonly dataPolicy: RequiredDataPolicy | null;
}

const NO_SETTINGS = settingsOf({}).routing;

/** Null: of all workspaces. */
export async function readRouteUsers(db: Handle, workspace: WorkspaceId | null): Promise<readonly WorkspaceUsers[]> {
  const apps = await listAppsWithWorkspace(db, workspace);
  const keys = Map.groupBy(await listRoutedKeys(db, workspace), ({ app_id: app }) => app);
  const workspaces = Map.groupBy(apps, ({ workspace_id: id }) => id);
  return [...workspaces].map(([id, rows]) => ({
    id: brand("workspace", id),
    hasPlan: (rows[0]?.plan ?? null) !== null,
    apps: rows.flatMap(({ id: appId, slug, name, settings }) => {
      if (appId === null || slug === null) return [];
      const ownKeys = (keys.get(appId) ?? []).map((key) => settingsOf(key.settings).routing);
      const app = { id: brand("app", appId), name: name ?? slug, ...settingsOf(settings) };
      return [{ app, slug, keys: [NO_SETTINGS, ...ownKeys] }];
    }),
  }));
}

/** Without duplicates. Purposes that are disabled or not published select no route. */
export function usesOf(directory: Directory, workspace: WorkspaceId, { app, keys }: AppUser): readonly RouteUse[] {
  const uses = keys.flatMap((key) => {
    const context = directory.contextOf(workspace, app, key);
    return CAPABILITIES.flatMap((capability): readonly RouteUse[] => {
      const contextRoute = contextRouteOf(context, capability);
      const purposes = [...purposesOf(context, contextRoute).values()].filter(
        ({ isEnabled, isPublished }) => isEnabled && isPublished,
      );
      const ofContext = [context.dataPolicy, contextRoute.dataPolicy];
      const isOverride = capability === "audio_input" && context.audioInputOverride !== null;
      return [
        {
          route: contextRoute.id,
          capability,
          by: isOverride ? "audio_input_override" : "route",
          purpose: null,
          dataPolicy: combineDataPolicies(ofContext),
        },
        ...purposes.map(({ route, label, defaults, dataPolicy }) => ({
          route,
          capability,
          by: "purpose" as const,
          purpose: { label, defaults },
          dataPolicy: combineDataPolicies([...ofContext, dataPolicy, context.routes.get(route)?.dataPolicy]),
        })),
      ];
    });
  });
  return [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()];
}
