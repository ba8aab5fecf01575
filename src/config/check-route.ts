// Validates a route beyond its schema: existing connections, models that they have and that can be called [configuration.models], settings that these accept
// [configuration.target-settings], and purposes with existing routes.
import type { Capability } from "../contract/features.ts";
import { isKind } from "../contract/provider-kinds.ts";
import { checkSettings } from "./check-settings.ts";
import type { FaultPath } from "./fault.ts";
import {
  hasChatAdapter,
  hasSpeechAdapter,
  knownCapabilities,
  knownLife,
  knownModelNames,
  knownNotOffered,
} from "./known-models.ts";
import { entries, type Entry, field, map, text, unique } from "./raw-data.ts";
import { type SchemaFault, suggestion } from "./schema-faults.ts";
import { nearEnd, nearEndText, notOfferedText } from "../providers/life-status.ts";
import { suggest } from "../lib/text/suggest.ts";

/** The objects that can be referenced, by id. */
export interface SetUpScope {
  readonly connections: ReadonlyMap<string, Entry>;
  readonly routes: ReadonlyMap<string, Entry>;
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
    return [danglingReference([...target.path, "connection"], "connection", id, scope.connections.keys())];
  const kind = text(connection.value, "kind");
  // An unknown kind is reported once, not again for every target.
  if (model === undefined || kind === undefined || !isKind(kind)) return [];
  const path = [...target.path, "model"];
  const capabilities = capabilitiesOf(connection, model);
  if (capabilities === null) {
    const notOffered = knownNotOffered(kind, model);
    if (notOffered !== null) return [{ path, message: notOfferedText(`\`${model}\` of kind '${kind}'`, notOffered) }];
    const names = [...Object.keys(map(field(connection.value, "models"))), ...knownModelNames(kind)];
    const similarName = suggest(model, names);
    const others = similarName === undefined && names.length > 0 ? `; known models: ${someOf(names)}` : "";
    const message = `the catalogue does not know \`${model}\` of kind '${kind}'${others}; declare it under \`models\` of connection \`${id}\``;
    return [{ path, message, ...suggestion(similarName) }];
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

/** Warns of targets whose model has ended or ends in fewer than 30 days, by the catalogue [configuration.ending-models]. */
export function endingTargets(route: Entry, scope: SetUpScope, nowMs: number): readonly SchemaFault[] {
  return entries(route.value, ["targets"], route.path).flatMap((target) => {
    const id = text(target.value, "connection");
    const model = text(target.value, "model");
    const kind = text(scope.connections.get(id ?? "")?.value, "kind");
    if (id === undefined || model === undefined || kind === undefined || !isKind(kind)) return [];
    const end = nearEnd(knownLife(kind, model), nowMs);
    return end === null ? [] : [{ path: [...target.path, "model"], message: nearEndText(`${id}/${model}`, end) }];
  });
}

const MAX_SHOWN_NAMES = 3;

/** Lists some names as a hint for a name that resembles none. */
function someOf(names: readonly string[]): string {
  const more = names.length > MAX_SHOWN_NAMES ? ` and ${names.length - MAX_SHOWN_NAMES} more (docs/providers.md)` : "";
  return `${names
    .slice(0, MAX_SHOWN_NAMES)
    .map((name) => `\`${name}\``)
    .join(", ")}${more}`;
}

/** A declaration overrides the catalogue. Null: neither has the model. */
function capabilitiesOf(connection: Entry, model: string): readonly Capability[] | null {
  const models = map(field(connection.value, "models"));
  const kind = text(connection.value, "kind");
  if (!Object.hasOwn(models, model)) return kind === undefined || !isKind(kind) ? null : knownCapabilities(kind, model);
  const declared = field(models[model], "capabilities");
  if (!Array.isArray(declared)) return ["chat"];
  return declared.filter((name): name is Capability => name === "audio_input" || name === "chat");
}

export function checkPurposes(owner: Entry, scope: SetUpScope): readonly SchemaFault[] {
  const purposes = entries(owner.value, ["purposes"], owner.path);
  return [
    ...purposes.flatMap((purpose) => checkReference(purpose, "route", scope.routes)),
    ...unique(purposes, "purpose"),
  ];
}

export function takesAudio(route: Entry, scope: SetUpScope): boolean {
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

export function checkReference(owner: Entry, name: string, known: ReadonlyMap<string, Entry>): readonly SchemaFault[] {
  const id = text(owner.value, name);
  if (id === undefined || known.has(id)) return [];
  return [danglingReference([...owner.path, name], name === "plan" ? "plan" : "route", id, known.keys())];
}

export function danglingReference(path: FaultPath, what: string, id: string, known: Iterable<string>): SchemaFault {
  return { path, message: `unknown ${what} \`${id}\``, ...suggestion(suggest(id, known)) };
}
