// Validates what a schema cannot express [configuration.references]: dangling references, duplicate names and secrets, incomplete pairs. Works on the raw
// data, however broken, so that these faults are reported together with the schema's.
import { checkConnection } from "./check-connection.ts";
import {
  checkPurposes,
  checkReference,
  checkRoute,
  danglingReference,
  endingTargets,
  type SetUpScope,
  takesAudio,
} from "./check-route.ts";
import { checkKeySecrets } from "./check-secrets.ts";
import { findDuplicates, entries, type Entry, field, text, unique } from "./raw-data.ts";
import type { SchemaFault } from "./schema-faults.ts";

export interface CrossCheck {
  readonly faults: readonly SchemaFault[];
  readonly warnings: readonly SchemaFault[];
}

/** `nowMs`: for warnings of models that end. */
export function crossCheck(data: unknown, nowMs: number): CrossCheck {
  const faults: SchemaFault[] = [];
  const warnings: SchemaFault[] = [];
  const platform: SetUpScope = {
    connections: byId(entries(data, ["connections"])),
    routes: byId(entries(data, ["routes"])),
  };
  for (const list of ["connections", "routes", "workspaces", "plans", "operator_keys"])
    faults.push(...unique(entries(data, [list]), "id"));
  faults.push(
    ...findDuplicates(
      entries(data, ["prices"]),
      (price) => `${text(price.value, "provider") ?? ""}/${text(price.value, "model") ?? ""}`,
      "this model already has a price",
    ),
  );
  for (const price of entries(data, ["prices"])) faults.push(...checkPrice(price));
  for (const connection of entries(data, ["connections"])) faults.push(...checkConnection(connection));
  faults.push(...checkAlerts(data, entries(data, ["alerts"])));
  for (const route of entries(data, ["routes"])) {
    faults.push(...checkRoute(route, platform));
    warnings.push(...endingTargets(route, platform, nowMs));
  }
  for (const workspace of entries(data, ["workspaces"])) {
    checkWorkspace(data, workspace, platform, faults, warnings);
    const connections = byId(entries(workspace.value, ["connections"], workspace.path));
    const scope = { ...platform, connections: new Map([...platform.connections, ...connections]) };
    for (const route of entries(workspace.value, ["routes"], workspace.path))
      warnings.push(...endingTargets(route, scope, nowMs));
  }
  faults.push(...checkKeySecrets(data), ...checkInstallationSecrets(data));
  faults.push(...checkObjectStore(field(field(data, "storage"), "objects")));
  return { faults, warnings };
}

/** Each destination once, and http:// only where webhooks allow it, because no alert would ever be sent [alerts.url-rules]. */
function checkAlerts(data: unknown, destinations: readonly Entry[]): readonly SchemaFault[] {
  const allowsHttp = field(field(data, "webhooks"), "allow_http") === true;
  return [
    ...findDuplicates(destinations, ({ value }) => text(value, "url") ?? "", "this destination is already listed").map(
      (fault) => ({ ...fault, path: [...fault.path, "url"] }),
    ),
    ...destinations
      .filter(({ value }) => !allowsHttp && text(value, "url")?.startsWith("http://") === true)
      .map(({ path }) => ({
        path: [...path, "url"],
        message: "must begin with https://; for a receiver of your own, set webhooks.allow_http",
      })),
  ];
}

const AMOUNTS = ["usd_per_audio_hour", "usd_per_million_input_tokens", "usd_per_million_output_tokens"];

/** A price requires its source. A free model must not have prices. */
function checkPrice({ value, path }: Entry): readonly SchemaFault[] {
  const isSet = (name: string): boolean => (field(value, name) ?? null) !== null;
  if (field(value, "free") === true)
    return AMOUNTS.filter(isSet).map((name) => ({
      path: [...path, name],
      message: "is not allowed with `free: true`; remove one of them",
    }));
  return ["source", "as_of"]
    .filter((name) => !isSet(name))
    .map((name) => ({ path: [...path, name], message: "is required" }));
}

/** With half a credential the driver would search for another one elsewhere. */
function checkObjectStore(objects: unknown): readonly SchemaFault[] {
  if (text(objects, "kind") !== "s3") return [];
  const pairNames = ["access_key_id", "secret_access_key"];
  const missing = pairNames.filter((name) => (text(objects, name) ?? "") === "");
  if (missing.length !== 1) return [];
  return missing.map((name) => ({
    path: ["storage", "objects", name],
    message: `is required: ${pairNames.join(" and ")} must be set together`,
  }));
}

function checkWorkspace(
  data: unknown,
  workspace: Entry,
  platform: SetUpScope,
  faults: SchemaFault[],
  warnings: SchemaFault[],
): void {
  const connections = entries(workspace.value, ["connections"], workspace.path);
  const routes = entries(workspace.value, ["routes"], workspace.path);
  const apps = entries(workspace.value, ["apps"], workspace.path);
  const keys = [
    ...apps.flatMap((app) => entries(app.value, ["keys"], app.path)),
    ...entries(workspace.value, ["admin_keys"], workspace.path),
  ];
  const scope: SetUpScope = {
    connections: new Map([...platform.connections, ...byId(connections)]),
    routes: new Map([...platform.routes, ...byId(routes)]),
  };
  faults.push(...unique(connections, "id"), ...unique(routes, "id"), ...unique(apps, "id"), ...unique(keys, "id"));
  faults.push(...checkReference(workspace, "plan", byId(entries(data, ["plans"]))));
  faults.push(...checkAlerts(data, entries(workspace.value, ["alerts"], workspace.path)));
  for (const connection of connections) faults.push(...checkConnection(connection));
  for (const route of routes) {
    const id = text(route.value, "id");
    if (id !== undefined && platform.routes.has(id))
      faults.push({
        path: [...route.path, "id"],
        message: `\`${id}\` is already the id of a shared route; choose another id`,
      });
    faults.push(...checkRoute(route, scope));
  }
  for (const app of apps) {
    checkRouting(app, scope, faults, warnings);
    checkDefaultPurpose(app, scope, faults);
    for (const key of entries(app.value, ["keys"], app.path)) checkRouting(key, scope, faults, warnings);
  }
}

/** Checks the route, override and purposes of an app or a key. */
function checkRouting(owner: Entry, scope: SetUpScope, faults: SchemaFault[], warnings: SchemaFault[]): void {
  faults.push(
    ...checkReference(owner, "route", scope.routes),
    ...checkReference(owner, "audio_input_override", scope.routes),
    ...checkPurposes(owner, scope),
  );
  const override = scope.routes.get(text(owner.value, "audio_input_override") ?? "");
  if (override !== undefined && !takesAudio(override, scope)) {
    warnings.push({
      path: [...owner.path, "audio_input_override"],
      message: "this route has no audio model; every audio request will be rejected",
    });
  }
}

/** The default must be a label that some key of the app can reach. */
function checkDefaultPurpose(app: Entry, scope: SetUpScope, faults: SchemaFault[]): void {
  const label = text(app.value, "default_purpose");
  if (label === undefined) return;
  const owners = [app, ...entries(app.value, ["keys"], app.path)];
  const routes = owners.flatMap((owner) =>
    ["route", "audio_input_override"].flatMap((name) => scope.routes.get(text(owner.value, name) ?? "") ?? []),
  );
  const labels = new Set(
    [...owners, ...routes].flatMap((owner) =>
      entries(owner.value, ["purposes"]).flatMap((purpose) => text(purpose.value, "purpose") ?? []),
    ),
  );
  if (!labels.has(label)) faults.push(danglingReference([...app.path, "default_purpose"], "purpose", label, labels));
}

/** With a server database, secrets in the data directory of one process would be missing on the others. */
function checkInstallationSecrets(data: unknown): readonly SchemaFault[] {
  const secrets = field(data, "secrets");
  if ((text(field(data, "storage"), "database_url") ?? "") === "") return [];
  const faults: SchemaFault[] = [];
  const keys = field(secrets, "encryption_keys");
  if ((text(secrets, "key_pepper") ?? "") === "")
    faults.push({
      path: ["secrets", "key_pepper"],
      message:
        "is required with a server database (`storage.database_url` or DATABASE_URL); PATCHBAY_KEY_PEPPER sets it too",
    });
  if (!Array.isArray(keys) || !keys.some((key) => typeof key === "string" && key !== "")) {
    faults.push({
      path: ["secrets", "encryption_keys"],
      message:
        "needs at least one key with a server database (`storage.database_url` or DATABASE_URL); PATCHBAY_ENCRYPTION_KEY sets it too",
    });
  }
  return faults;
}

function byId(list: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(
    list.flatMap((entry) => {
      const id = text(entry.value, "id");
      return id === undefined ? [] : [[id, entry] as const];
    }),
  );
}
