// Routes of the operator and of workspaces [admin.route-draft]: saved as drafts, validated like those of the configuration file, published, rolled back.
// Each change has an audit entry, and versions are immutable.
import { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { RouteView } from "../../contract/admin/routes.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import { storedRoute } from "../../directory/stored-schemas.ts";
import { pageOf } from "../../lib/list-page.ts";
import { isSameData } from "../../lib/json/is-same-data.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import {
  addRouteVersion,
  deleteRoute,
  listRoutes,
  publishRouteVersion,
  readRoute,
  readRouteVersion,
} from "../../directory/store/routes.ts";
import type { RouteRow, RouteVersionRow } from "../../storage/schema/tables.ts";
import type { Handle } from "../../storage/system.ts";
import { judgeRoute, judgeStoredRoute } from "../validate-settings.ts";
import { refuseManagedByFile } from "../refuse-managed.ts";
import { allowMatch, type Precondition, requireMatch } from "../precondition.ts";
import { inUse, noSuch, alreadyExists } from "../refusals.ts";
import { refuseEnding } from "./refuse-ending.ts";
import { viewRoute } from "./route-view.ts";
import type { Page, PageRequest } from "../services.ts";
import { auditSetUp, changeSetUp, readAs, readSetUp, type SetUpActor, type SetUpServices } from "../set-up-scope.ts";
import { isRouteElsewhere, type RouteUser, usersOfRoute } from "../store/route-references.ts";

export interface RouteChange extends SetUpActor {
  readonly id: string;
  readonly precondition: Precondition;
}

type RouteName = Pick<RouteChange, "scope" | "id">;

export async function listRouteViews(
  services: SetUpServices,
  { scope, limit, after }: Pick<SetUpActor, "scope"> & PageRequest,
): Promise<Page<RouteView>> {
  return readAs(services, { scope }, async (db) => {
    const { page, nextCursor } = pageOf(await listRoutes(db, scope, { after, limit: limit + 1 }), limit);
    const data: RouteView[] = [];
    for (const row of page) data.push(viewRoute(row, await latestOf(db, row)));
    return { data, end: nextCursor };
  });
}

export async function describeRoute(services: SetUpServices, routeName: RouteName): Promise<RouteView> {
  return readAs(services, routeName, (db) => view(db, routeName));
}

export async function createRoute(
  services: SetUpServices,
  { body, ...change }: SetUpActor & { readonly body: object },
): Promise<RouteView> {
  return changeSetUp(services, change, async (tx) => {
    const setUp = await readSetUpWithRoute(tx, change.scope, body);
    const { id, confirmEnding, ...definition } = judgeRoute(body, setUp);
    const name = { scope: change.scope, id };
    if ((await readRoute(tx, name)) !== null) throw alreadyExists("route");
    await refuseOtherScope(tx, name);
    if (!confirmEnding) refuseEnding(services, change.scope, setUp.connections, definition);
    return addDraft(tx, { ...change, id }, definition, "route.created");
  });
}

export async function reviseRoute(
  services: SetUpServices,
  { body, ...change }: RouteChange & { readonly body: object },
): Promise<RouteView> {
  return changeSetUp(services, change, async (tx) => {
    const before = await requireEditableRoute(tx, change);
    const latest = await latestOf(tx, before);
    const currentView = viewRoute(before, latest);
    requireMatch(change.precondition, currentView);
    const setUp = await readSetUp(tx, change.scope);
    const { id: _, confirmEnding, ...definition } = judgeRoute(body, setUp);
    // An identical revision is not a change: neither of the draft, nor of the published version if there is no draft.
    const latestDefinition =
      latest === null ? before.definition : currentView.draft === null ? null : latest.definition;
    if (latestDefinition !== null && isSameData(storedRoute.parse(latestDefinition), storedRoute.parse(definition)))
      return currentView;
    if (!confirmEnding) refuseEnding(services, change.scope, setUp.connections, definition);
    return addDraft(tx, change, definition, "route.revised");
  });
}

interface VersionSwitch extends RouteChange {
  /** Null: the latest version to publish, the previously published one to roll back to. */
  readonly version: number | null;
  readonly confirmEnding: boolean;
}

export async function publishRoute(
  services: SetUpServices,
  { version, confirmEnding, ...change }: VersionSwitch,
): Promise<RouteView> {
  return changeSetUp(services, change, async (tx) => {
    const before = await requireEditableRoute(tx, change);
    allowMatch(change.precondition, viewRoute(before, await latestOf(tx, before)));
    return publish(services, tx, change, before, {
      version: version ?? before.latest_version,
      confirmEnding,
      action: "route.published",
      isFit: () => true,
    });
  });
}

export async function rollBackRoute(
  services: SetUpServices,
  { version, confirmEnding, ...change }: VersionSwitch,
): Promise<RouteView> {
  return changeSetUp(services, change, async (tx) => {
    const before = await requireEditableRoute(tx, change);
    allowMatch(change.precondition, viewRoute(before, await latestOf(tx, before)));
    const target = version ?? before.previous_version;
    if (target === null) {
      throw new GatewayError("CONFLICT", {
        message: "No other version of this route was published before.",
        details: { reason: "no_previous_version" },
      });
    }
    return publish(services, tx, change, before, {
      version: target,
      confirmEnding,
      action: "route.rolled_back",
      isFit: ({ published_at }) => published_at !== null,
    });
  });
}

export async function removeRoute(services: SetUpServices, change: RouteChange): Promise<void> {
  await changeSetUp(services, change, async (tx) => {
    const before = await requireEditableRoute(tx, change);
    allowMatch(change.precondition, viewRoute(before, await latestOf(tx, before)));
    const users = await usersOfRoute(tx, change.scope, change.id);
    if (users.length > 0) throw inUse("route", `${namesOf(users)} would have no target`, { used_by: users });
    await deleteRoute(tx, change);
    await auditSetUp(tx, change, {
      action: "route.deleted",
      object: change.id,
      before: { version: before.version },
      after: null,
    });
  });
}

const USER_LABELS: Readonly<Record<RouteUser["object"], string>> = {
  app: "app",
  key: "key",
  route: "a purpose of route",
};

function namesOf(users: readonly RouteUser[]): string {
  const named = users.map(
    ({ object, id, workspace }) => `${USER_LABELS[object]} \`${id}\`${workspace === null ? "" : ` (${workspace})`}`,
  );
  return new Intl.ListFormat("en").format(named);
}

async function addDraft(tx: DatabaseTransaction, change: SetUpActor & RouteName, definition: object, action: string) {
  const { actor, id } = change;
  const version = await addRouteVersion(tx, change, { definition, managedBy: "api", actorKeyId: actor });
  await auditSetUp(tx, change, { action, object: id, before: null, after: { draft: version } });
  return view(tx, change);
}

interface Publication {
  readonly version: number;
  readonly confirmEnding: boolean;
  readonly action: string;
  readonly isFit: (row: RouteVersionRow) => boolean;
}

async function publish(
  services: SetUpServices,
  tx: DatabaseTransaction,
  change: SetUpActor & RouteName,
  before: RouteRow,
  { version, confirmEnding, action, isFit }: Publication,
): Promise<RouteView> {
  const row = await readRouteVersion(tx, change, version);
  if (row === null || !isFit(row))
    throw invalidRequest("version", `version: the route has no such version to switch to.`);
  const setUp = await readSetUp(tx, change.scope, { onlyPublished: true });
  judgeStoredRoute(row.definition, withRoute(setUp, change.id));
  if (before.version !== version) {
    if (!confirmEnding) refuseEnding(services, change.scope, setUp.connections, storedRoute.parse(row.definition));
    await publishRouteVersion(tx, change, version);
    await auditSetUp(tx, change, {
      action,
      object: change.id,
      before: { version: before.version },
      after: { version },
    });
  }
  return view(tx, change);
}

/** A purpose may select the route that publishes it. */
async function readSetUpWithRoute(tx: DatabaseTransaction, scope: string, body: object) {
  const setUp = await readSetUp(tx, scope);
  return "id" in body && typeof body.id === "string" ? withRoute(setUp, body.id) : setUp;
}

function withRoute(setUp: Awaited<ReturnType<typeof readSetUp>>, id: string): typeof setUp {
  return { ...setUp, routes: new Map([...setUp.routes, [id, { path: [], value: { id } }]]) };
}

/** As in the file, a name means one route for every reader. */
async function refuseOtherScope(tx: DatabaseTransaction, { scope, id }: RouteName): Promise<void> {
  if (!(await isRouteElsewhere(tx, scope, id))) return;
  throw invalidRequest(
    "id",
    scope === PLATFORM
      ? `id: a workspace has a route \`${id}\` already; choose another id.`
      : `id: \`${id}\` is already the id of a shared route; choose another id.`,
  );
}

/** Throws 404, and 409 for objects of the file. The caller holds the directory's lock. */
export async function requireEditableRoute(tx: DatabaseTransaction, routeName: RouteName): Promise<RouteRow> {
  const row = await find(tx, routeName);
  refuseManagedByFile(row);
  return row;
}

export async function find(db: Handle, routeName: RouteName): Promise<RouteRow> {
  const row = await readRoute(db, routeName);
  if (row === null) throw noSuch("route");
  return row;
}

async function view(db: Handle, routeName: RouteName): Promise<RouteView> {
  const row = await find(db, routeName);
  return viewRoute(row, await latestOf(db, row));
}

/** Null: the latest version is published, so there is no draft. */
async function latestOf(db: Handle, row: RouteRow): Promise<RouteVersionRow | null> {
  return row.latest_version === row.version ? null : readRouteVersion(db, row, row.latest_version);
}
