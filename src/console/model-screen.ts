// The page of a declared model: name, features and limits.
import type { ConnectionView } from "../contract/admin/connections.ts";
import type { AssignableModels } from "../contract/admin/workspace-models.ts";
import type { ModelLifeView } from "../contract/model-life.ts";
import type { Outcome } from "../page/ask.ts";
import { actionView } from "./action-view.ts";
import { connectionPath } from "./connection-kinds.ts";
import { type Field, formView } from "./form-view.ts";
import { lifePart } from "./life-view.ts";
import {
  AUDIO_FEATURES,
  AUDIO_PREFERENCES,
  CHAT_FEATURES,
  type Declaration,
  declaredFeatures,
  featuresOf,
} from "./model-features.ts";
import { fileNotice, isOfFile } from "./owner-view.ts";
import { refusedAt } from "./refused-at.ts";
import type { Visit } from "./visit.ts";
import { link, part } from "./words.ts";

/** Null `name`: a new model. */
export async function declareModel(visit: Visit, id: string, name: string | null): Promise<readonly Node[]> {
  const path = connectionPath(id);
  const { data: connection, etag } = await visit.readWithEtag<ConnectionView>(path);
  const toConnection = link(visit.link("connections", [id]), `Back to ${id}`);
  if (isOfFile(connection)) return [toConnection, fileNotice("connection", "Its models can be declared there, too.")];
  const models = connection.models as Readonly<Record<string, Declaration>>;
  const before = name !== null && Object.hasOwn(models, name) ? (models[name] ?? null) : null;
  const { kind, base_url, region, data_policy, timeout_seconds } = connection;
  const putModels = (changed: Readonly<Record<string, Declaration>>): Promise<Outcome<ConnectionView>> =>
    visit.ask("PUT", path, {
      ifMatch: etag,
      body: { kind, base_url, region, data_policy, timeout_seconds, models: changed },
    });
  const goBack = (message: string): void => {
    visit.say(message);
    visit.go(visit.link("connections", [id]));
  };
  const form = formView<ConnectionView>({
    fields: fieldsOf(name, before),
    submit: before === null ? "Declare model" : "Save",
    send: async (body) => {
      const model = typeof body["model"] === "string" ? body["model"] : (name ?? "");
      const outcome = await putModels({ ...models, [model]: declarationOf(body, before ?? {}) });
      return refusedAt(outcome, (param) => fieldOf(param, model));
    },
    done: () => goBack("The model was declared. Routes can use it."),
    again: () => visit.redraw(),
  });
  const life = name === null ? null : await lifeOf(visit, id, name);
  return [
    toConnection,
    ...(life === null ? [] : [lifePart(life)]),
    part(before === null ? "Declare a model" : `What ${name ?? ""} is`, form),
    ...(before === null || name === null
      ? []
      : [
          removalPart(
            name,
            () => putModels(omitModel(models, name)),
            goBack,
            () => visit.redraw(),
          ),
        ]),
  ];
}

/** Null: nothing is known of it, or the list could not be read. */
async function lifeOf(visit: Visit, id: string, name: string): Promise<ModelLifeView | null> {
  const models = await visit.ask<AssignableModels>("GET", "/models");
  if (!models.ok) return null;
  const isOwn = visit.scope.workspace !== null;
  const found = models.data.data.find(
    ({ connection, connection_owner: owner, model }) =>
      connection === id && (owner === "workspace") === isOwn && model === name,
  );
  return found?.life ?? null;
}

const CAPABILITIES = [
  ["audio_input", "Audio"],
  ["chat", "Chat"],
] as const;

function fieldsOf(name: string | null, before: Declaration | null): readonly Field[] {
  const { capabilities: _capabilities, features: _features, ...rest } = before ?? {};
  const set = Object.fromEntries(Object.entries(rest).filter(([, value]) => isSet(value)));
  const ticked = declaredFeatures(before ?? {});
  const checks = (field: string, label: string, choices: typeof AUDIO_FEATURES): Field => ({
    kind: "checks",
    name: field,
    label,
    choices,
    value: ticked,
  });
  return [
    ...(before === null
      ? [
          {
            kind: "text",
            name: "model",
            label: "Name",
            hint: "The provider's name for it.",
            isRequired: true,
            value: name ?? "",
          } as const,
        ]
      : []),
    {
      kind: "checks",
      name: "capabilities",
      label: "Capabilities",
      choices: CAPABILITIES,
      value: before?.capabilities ?? [],
    },
    checks("audio", "Audio features", AUDIO_FEATURES),
    checks("preferences", "Audio preferences", AUDIO_PREFERENCES),
    checks("chat", "Chat features", CHAT_FEATURES),
    {
      kind: "json",
      name: "rest",
      label: "Languages and limits, as JSON",
      hint: 'languages ("any" or tags), default_language, dialect, and limits: max_bytes, max_seconds, max_channels, max_keyterms, max_keyterm_characters, formats, max_output_tokens.',
      placeholder: '{ "languages": ["en", "de"], "limits": { "max_bytes": 26214400 } }',
      value: Object.keys(set).length === 0 ? "" : JSON.stringify(set, (_key, value: unknown) => value ?? undefined, 2),
    },
  ];
}

/** Whether it was set explicitly: the API fills in unset values. */
function isSet(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  return typeof value !== "object" || Array.isArray(value) || Object.values(value).some((each) => each !== null);
}

function declarationOf(body: Readonly<Record<string, unknown>>, before: Declaration): Declaration {
  const { capabilities, rest } = body;
  const ticked = ["audio", "preferences", "chat"].flatMap((field) => (body[field] ?? []) as readonly string[]);
  return {
    ...(typeof rest === "object" ? rest : {}),
    capabilities: capabilities as NonNullable<Declaration["capabilities"]>,
    features: featuresOf(ticked, before),
  };
}

/** A refusal contains the path in the connection: `models.whisper.limits.max_bytes`. */
function fieldOf(param: string, model: string): string {
  const own = [`models.${model}`, `models.${JSON.stringify(model)}`].find((path) => param.startsWith(`${path}.`));
  if (own === undefined) return param.startsWith("models") ? "model" : param;
  return param.slice(own.length + 1).startsWith("capabilities") ? "capabilities" : "rest";
}

function omitModel(models: Readonly<Record<string, Declaration>>, name: string): Readonly<Record<string, Declaration>> {
  return Object.fromEntries(Object.entries(models).filter(([each]) => each !== name));
}

function removalPart(
  name: string,
  send: () => Promise<Outcome<unknown>>,
  goBack: (message: string) => void,
  again: () => Promise<void>,
): Node {
  const action = actionView({
    label: "Remove declaration",
    title: `Take ${name} back?`,
    what: "If Patchbay knows the model, its defaults apply again. Otherwise routes can no longer use it. A model that a published route uses cannot be removed.",
    run: send,
    done: () => goBack(`${name} is no longer declared.`),
    again,
  });
  return part("Remove", action);
}
