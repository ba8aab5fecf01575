// What a schema cannot see: references that dangle, names and secrets used twice, models without an adapter (contract 10).
// Works on the plain data as written, however broken, so that these faults come together with the schema's.
import type { Capability } from "../contract/features.ts";
import { PROVIDER_KINDS } from "../providers/provider.ts";
import type { FaultPath } from "./fault.ts";
import {
  credentialFault,
  hasChatAdapter,
  hasSpeechAdapter,
  knownCapabilities,
  knownModelNames,
} from "./known-models.ts";
import { checkKeySecrets } from "./check-secrets.ts";
import { checkSettings } from "./check-settings.ts";
import { duplicates, entries, type Entry, field, map, text, unique } from "./raw-data.ts";
import { type SchemaFault, suggestion } from "./schema-faults.ts";
import { suggest } from "./suggest.ts";

export interface CrossCheck {
  readonly faults: readonly SchemaFault[];
  readonly warnings: readonly SchemaFault[];
}

/** Kinds that do nothing but speech: without an adapter they are of no use at all. */
const SPEECH_KINDS = new Set(["assemblyai", "elevenlabs", "google-speech"]);

/** What can be referred to, by id. */
export interface SetUpScope {
  readonly connections: ReadonlyMap<string, Entry>;
  readonly routes: ReadonlyMap<string, Entry>;
}

export function crossCheck(data: unknown): CrossCheck {
  const faults: SchemaFault[] = [];
  const warnings: SchemaFault[] = [];
  const platform: SetUpScope = {
    connections: byId(entries(data, ["connections"])),
    routes: byId(entries(data, ["routes"])),
  };
  for (const list of ["connections", "routes", "workspaces", "plans", "operator_keys"])
    faults.push(...unique(entries(data, [list]), "id"));
  faults.push(
    ...duplicates(
      entries(data, ["prices"]),
      (price) => `${text(price.value, "provider") ?? ""}/${text(price.value, "model") ?? ""}`,
      "this model has a price already",
    ),
  );
  for (const connection of entries(data, ["connections"])) faults.push(...checkConnection(connection));
  for (const route of entries(data, ["routes"])) faults.push(...checkRoute(route, platform));
  for (const workspace of entries(data, ["workspaces"])) checkWorkspace(data, workspace, platform, faults, warnings);
  faults.push(...checkKeySecrets(data), ...checkInstallationSecrets(data));
  faults.push(...checkObjectStore(field(field(data, "storage"), "objects")));
  return { faults, warnings };
}

/** Half a credential would send the driver looking for another one elsewhere. */
function checkObjectStore(objects: unknown): readonly SchemaFault[] {
  if (text(objects, "kind") !== "s3") return [];
  const halves = ["access_key_id", "secret_access_key"];
  const missing = halves.filter((name) => (text(objects, name) ?? "") === "");
  if (missing.length !== 1) return [];
  return missing.map((name) => ({
    path: ["storage", "objects", name],
    message: `is required: ${halves.join(" and ")} go together`,
  }));
}

export function checkConnection(connection: Entry): readonly SchemaFault[] {
  const kind = text(connection.value, "kind");
  const faults: SchemaFault[] = [];
  if (kind === undefined) return faults;
  const hasText = (name: string) => (text(connection.value, name) ?? "") !== "";
  if (lacksAdapter(kind))
    faults.push({ path: [...connection.path, "kind"], message: `kind '${kind}' has no adapter in this version` });
  else if (["openai", "deepgram", "anthropic", "gemini", "google-speech"].includes(kind) && !hasText("api_key")) {
    faults.push({ path: [...connection.path, "api_key"], message: `is required for kind '${kind}'` });
  }
  const fault = credentialFault(kind, text(connection.value, "api_key") ?? "");
  if (fault !== null) faults.push({ path: [...connection.path, "api_key"], message: fault });
  if (kind === "openai-compatible" && !hasText("base_url"))
    faults.push({ path: [...connection.path, "base_url"], message: "is required for kind 'openai-compatible'" });
  return faults;
}

export function checkRoute(route: Entry, scope: SetUpScope): readonly SchemaFault[] {
  const targets = entries(route.value, ["targets"], route.path).flatMap((target) => checkTarget(target, scope));
  return [...targets, ...checkPurposes(route, scope)];
}

function checkTarget(target: Entry, scope: SetUpScope): readonly SchemaFault[] {
  const id = text(target.value, "connection");
  const model = text(target.value, "model");
  if (id === undefined) return [];
  const connection = scope.connections.get(id);
  if (connection === undefined)
    return [dangling([...target.path, "connection"], "connection", id, scope.connections.keys())];
  const kind = text(connection.value, "kind");
  if (model === undefined || kind === undefined || !isKind(kind) || lacksAdapter(kind)) return [];
  const path = [...target.path, "model"];
  const capabilities = capabilitiesOf(connection, model);
  if (capabilities === null) {
    const names = [...Object.keys(map(field(connection.value, "models"))), ...knownModelNames(kind)];
    const near = suggest(model, names);
    const others = near === undefined && names.length > 0 ? `; it knows ${someOf(names)}` : "";
    const message = `the catalogue does not know \`${model}\` of kind '${kind}'${others}; declare it under \`models\` of connection \`${id}\``;
    return [{ path, message, ...suggestion(near) }];
  }
  if (capabilities.length === 0)
    return [{ path, message: `\`${model}\` is declared without any capability, so nothing can be routed to it` }];
  if (capabilities.includes("audio_input") && !hasSpeechAdapter(kind)) {
    return [
      { path, message: `kind '${kind}' has no adapter for audio in this version; it can be routed for \`chat\`` },
    ];
  }
  if (capabilities.includes("chat") && !hasChatAdapter(kind))
    return [{ path, message: `kind '${kind}' has no adapter for chat; it can be routed for \`audio_input\`` }];
  return checkSettings(target, kind, capabilities, text(map(field(connection.value, "models"))[model], "dialect"));
}

const SHOWN_NAMES = 3;

/** For a name that resembles none. */
function someOf(names: readonly string[]): string {
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more (docs/providers.md)` : "";
  return `${names
    .slice(0, SHOWN_NAMES)
    .map((name) => `\`${name}\``)
    .join(", ")}${more}`;
}

/** A kind that does not exist is one fault, not one more for every target. */
function isKind(kind: string): boolean {
  return PROVIDER_KINDS.some((name) => name === kind);
}

function lacksAdapter(kind: string): boolean {
  return SPEECH_KINDS.has(kind) && !hasSpeechAdapter(kind);
}

/** A declaration beats the catalogue; null: neither has the model. */
function capabilitiesOf(connection: Entry, model: string): readonly Capability[] | null {
  const models = map(field(connection.value, "models"));
  const kind = text(connection.value, "kind") ?? "";
  if (!Object.hasOwn(models, model)) return knownCapabilities(kind, model);
  const declared = field(models[model], "capabilities");
  if (!Array.isArray(declared)) return ["chat"];
  return declared.filter((name): name is Capability => name === "audio_input" || name === "chat");
}

function checkPurposes(owner: Entry, scope: SetUpScope): readonly SchemaFault[] {
  const purposes = entries(owner.value, ["purposes"], owner.path);
  return [
    ...purposes.flatMap((purpose) => checkReference(purpose, "route", scope.routes)),
    ...unique(purposes, "purpose"),
  ];
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
  for (const connection of connections) faults.push(...checkConnection(connection));
  for (const route of routes) {
    const id = text(route.value, "id");
    if (id !== undefined && platform.routes.has(id))
      faults.push({ path: [...route.path, "id"], message: `\`${id}\` is a platform route already; choose another id` });
    faults.push(...checkRoute(route, scope));
  }
  for (const app of apps) {
    checkRouting(app, scope, faults, warnings);
    checkDefaultPurpose(app, scope, faults);
    for (const key of entries(app.value, ["keys"], app.path)) checkRouting(key, scope, faults, warnings);
  }
}

/** Route, override and purposes of an app or a key. */
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
      message: "this route has no model that takes audio; every audio request will be refused",
    });
  }
}

function takesAudio(route: Entry, scope: SetUpScope): boolean {
  return entries(route.value, ["targets"]).some((target) => {
    const connection = scope.connections.get(text(target.value, "connection") ?? "");
    const model = text(target.value, "model");
    return (
      connection !== undefined &&
      model !== undefined &&
      capabilitiesOf(connection, model)?.includes("audio_input") === true
    );
  });
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
  if (!labels.has(label)) faults.push(dangling([...app.path, "default_purpose"], "purpose", label, labels));
}

function checkReference(owner: Entry, name: string, known: ReadonlyMap<string, Entry>): readonly SchemaFault[] {
  const id = text(owner.value, name);
  if (id === undefined || known.has(id)) return [];
  return [dangling([...owner.path, name], name === "plan" ? "plan" : "route", id, known.keys())];
}

function dangling(path: FaultPath, what: string, id: string, known: Iterable<string>): SchemaFault {
  return { path, message: `there is no ${what} \`${id}\``, ...suggestion(suggest(id, known)) };
}

/** Files made beside an embedded database would be lost to the other processes of a server database. */
function checkInstallationSecrets(data: unknown): readonly SchemaFault[] {
  const secrets = field(data, "secrets");
  if ((text(field(data, "storage"), "database_url") ?? "") === "") return [];
  const faults: SchemaFault[] = [];
  const keys = field(secrets, "encryption_keys");
  if ((text(secrets, "key_pepper") ?? "") === "")
    faults.push({
      path: ["secrets", "key_pepper"],
      message: "is required with a server database (`storage.database_url`)",
    });
  if (!Array.isArray(keys) || !keys.some((key) => typeof key === "string" && key !== "")) {
    faults.push({
      path: ["secrets", "encryption_keys"],
      message: "needs at least one key with a server database (`storage.database_url`)",
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
