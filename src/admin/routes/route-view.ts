// Describes a route and its versions for the API, with definitions in the configuration file's format.
import { inFileForm } from "../../config/print-configuration.ts";
import type { PurposeList, RouteVersionView, RouteView } from "../../contract/admin/routes.ts";
import { purposeSection, routeSection } from "../../contract/settings/route.ts";
import { type StoredRoute, storedRoute } from "../../directory/stored-schemas.ts";
import type { RouteRow, RouteVersionRow } from "../../storage/schema/tables.ts";
import { shownManager } from "../refuse-managed.ts";

/** `latest`: the version of the row's `latest_version`. */
export function viewRoute(row: RouteRow, latest: RouteVersionRow | null): RouteView {
  const isDraft = latest !== null && latest.published_at === null;
  return {
    object: "route",
    id: row.id,
    version: row.version,
    definition: row.definition === null ? null : inFileFormat(row.id, row.definition),
    previous_version: row.previous_version,
    draft: isDraft ? { version: latest.version, definition: inFileFormat(row.id, latest.definition) } : null,
    managed_by: shownManager(row.managed_by),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function viewVersion(row: RouteVersionRow, live: number | null): RouteVersionView {
  return {
    object: "route_version",
    id: row.route_id,
    version: row.version,
    state: versionState(row, live),
    definition: inFileFormat(row.route_id, row.definition),
    created_at: row.created_at.toISOString(),
    actor_key_id: row.actor_key_id,
    published_at: row.published_at?.toISOString() ?? null,
  };
}

/** `live`: the published version. */
export function versionState(
  { version, published_at: publishedAt }: Pick<RouteVersionRow, "version" | "published_at">,
  live: number | null,
): RouteVersionView["state"] {
  return publishedAt === null ? "draft" : version === live ? "live" : "retired";
}

export function viewPurposes(version: number, { purposes }: StoredRoute): PurposeList {
  return {
    object: "list",
    version,
    data: purposes.map((purpose) => ({
      object: "purpose",
      ...(inFileForm(purposeSection, purpose) as Omit<PurposeList["data"][number], "object">),
    })),
  };
}

function inFileFormat(id: string, definition: unknown): Record<string, unknown> {
  return inFileForm(routeSection, { id, ...storedRoute.parse(definition) }) as Record<string, unknown>;
}
