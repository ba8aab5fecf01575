// Chooses the route of an app, a key or a purpose: from a list if all routes can be read, else typed.
import type { AppView } from "../contract/admin/apps.ts";
import type { RouteView } from "../contract/admin/routes.ts";
import type { Field } from "./form-view.ts";
import type { Page, Visit } from "./visit.ts";

export interface KnownRoutes {
  /** Id and text in the list. */
  readonly routes: ReadonlyMap<string, string>;
  readonly areAll: boolean;
}

const ROUTES = "/routes?limit=100";

export async function readRoutes(visit: Visit): Promise<KnownRoutes> {
  const [own, platform] = await Promise.all([
    visit.read<Page<RouteView>>(ROUTES),
    visit.readPlatform<Page<RouteView>>(ROUTES),
  ]);
  const routes = new Map([...(platform?.data ?? []), ...own.data].map((route) => [route.id, labelOf(route)]));
  if (platform !== null) return { routes, areAll: own.next_cursor === null && platform.next_cursor === null };
  // Administrators cannot list shared routes; they see those that their apps use.
  const apps = await visit.read<Page<AppView>>("/apps?limit=100");
  for (const { route, audio_input_override: audio } of apps.data)
    for (const id of [route, audio]) if (id !== null && !routes.has(id)) routes.set(id, id);
  return { routes, areAll: false };
}

const labelOf = ({ id, version }: RouteView): string => (version === null ? `${id} (draft, not published)` : id);

interface RouteField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string | null;
  /** Text for no route. Null: a route is required. */
  readonly none: string | null;
}

export function routeField({ routes, areAll }: KnownRoutes, { name, label, hint, value, none }: RouteField): Field {
  const common = { name, label, hint, isRequired: none === null, ...(value === null ? {} : { value }) };
  const ids = [...routes.keys()];
  if (!areAll) {
    const known = ids.length === 0 ? "Shared routes are set by the operator." : `Known here: ${ids.join(", ")}.`;
    const empty = none === null ? "" : ` Empty: ${none}.`;
    return { kind: "text", ...common, hint: `${hint}${empty} ${known}`, suggestions: ids };
  }
  const missing: readonly (readonly [string, string])[] = value === null || routes.has(value) ? [] : [[value, value]];
  return { kind: "select", ...common, choices: [["", none ?? "choose one"], ...routes, ...missing] };
}
