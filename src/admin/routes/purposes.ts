// Changes the purposes that a route publishes [admin.purposes]. Each change creates a version from the published one and publishes it immediately, because an
// administrator who changes a purpose means what callers see.
import { GatewayError } from "../../contract/errors.ts";
import type { PurposeList } from "../../contract/admin/routes.ts";
import { purposeSection } from "../../contract/settings/route.ts";
import { type StoredRoute, storedRoute } from "../../directory/stored-schemas.ts";
import { isSameData } from "../../lib/json/is-same-data.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { addRouteVersion, publishRouteVersion } from "../../directory/store/routes.ts";
import { judgeStoredRoute, parse } from "../validate-settings.ts";
import { allowMatch } from "../precondition.ts";
import { noSuch } from "../refusals.ts";
import { viewPurposes } from "./route-view.ts";
import { find, type RouteChange, requireEditableRoute } from "./routes.ts";
import { auditSetUp, changeSetUp, readAs, readSetUp, type SetUpServices } from "../set-up-scope.ts";

export async function listPurposes(
  services: SetUpServices,
  routeName: Pick<RouteChange, "scope" | "id">,
): Promise<PurposeList> {
  const { version, definition } = await readAs(services, routeName, (db) => find(db, routeName));
  if (version === null) throw unpublished();
  return viewPurposes(version, storedRoute.parse(definition));
}

export interface PurposeChange extends RouteChange {
  readonly label: string;
}

export async function putPurpose(
  services: SetUpServices,
  { body, ...change }: PurposeChange & { readonly body: object },
): Promise<PurposeList> {
  const wanted = parse(purposeSection, body);
  return changePurposes(services, change, "purpose.put", (purposes) =>
    purposes.some(({ purpose }) => purpose === change.label)
      ? purposes.map((each) => (each.purpose === change.label ? wanted : each))
      : [...purposes, wanted],
  );
}

export async function removePurpose(services: SetUpServices, change: PurposeChange): Promise<PurposeList> {
  return changePurposes(services, change, "purpose.removed", (purposes) => {
    const remaining = purposes.filter(({ purpose }) => purpose !== change.label);
    if (remaining.length === purposes.length) throw noSuch("purpose");
    return remaining;
  });
}

type Purposes = StoredRoute["purposes"];

async function changePurposes(
  services: SetUpServices,
  change: PurposeChange,
  action: string,
  edit: (purposes: Purposes) => Purposes,
): Promise<PurposeList> {
  return changeSetUp(services, change, async (tx) => {
    const before = await requireEditableRoute(tx, change);
    if (before.version === null) throw unpublished();
    const stored = storedRoute.parse(before.definition);
    const currentView = viewPurposes(before.version, stored);
    allowMatch(change.precondition, currentView);
    const definition = { ...stored, purposes: edit(stored.purposes) };
    if (isSameData(storedRoute.parse(definition), stored)) return currentView;
    judgeStoredRoute(definition, await readSetUp(tx, change.scope, { onlyPublished: true }));
    const version = await republish(tx, change, definition);
    const after = viewPurposes(version, definition);
    await auditSetUp(tx, change, {
      action,
      object: `${change.id}/${change.label}`,
      before: { version: before.version, purpose: findPurpose(currentView, change.label) },
      after: { version, purpose: findPurpose(after, change.label) },
    });
    return after;
  });
}

async function republish(tx: DatabaseTransaction, change: PurposeChange, definition: object): Promise<number> {
  const version = await addRouteVersion(tx, change, { definition, managedBy: "api", actorKeyId: change.actor });
  await publishRouteVersion(tx, change, version);
  return version;
}

function findPurpose({ data }: PurposeList, label: string): PurposeList["data"][number] | null {
  return data.find(({ purpose }) => purpose === label) ?? null;
}

function unpublished(): GatewayError {
  return new GatewayError("CONFLICT", {
    message: "The route has no published version, so it has no purposes. Publish a version first.",
    details: { reason: "not_published" },
  });
}
