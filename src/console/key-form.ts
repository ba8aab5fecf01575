// The form of a key, of an app or of an administrator, to create it or to change its settings.
import type { AppView } from "../contract/admin/apps.ts";
import type { KeyView } from "../contract/admin/keys.ts";
import type { Scope } from "../contract/scopes.ts";
import { element } from "../page/element.ts";
import { NEW } from "./address.ts";
import { POLICIES } from "./app-form.ts";
import { type Choice, type Field, formView } from "./form-view.ts";
import { showNewKey } from "./new-key.ts";
import { quotaFields } from "./quota-fields.ts";
import { type KnownRoutes, readRoutes, routeField } from "./route-choice.ts";
import type { Page, Visit } from "./visit.ts";
import { wholeBody } from "./whole-body.ts";
import { link, part } from "./words.ts";

/** Path segment of the form for an administrator's key. */
export const ADMINISTRATOR = "administrator";

const OF_KEY_ALONE = "Quota of this key. The smaller of the key's and the app's quota applies. Empty: unlimited.";
const NO_END = "Expiry. Empty: valid until revoked.";

export async function makeKey(visit: Visit): Promise<readonly Node[]> {
  const apps = await visit.read<Page<AppView>>("/apps?limit=100");
  const backLink = link(visit.link("keys"), "All keys");
  if (apps.data.length === 0)
    return [
      backLink,
      element(
        "p",
        { class: "empty" },
        "Keys belong to apps, and none exists yet. ",
        link(visit.link("apps", [NEW]), "Create an app"),
      ),
    ];
  const form = formView<KeyView>({
    fields: [
      appField(apps, visit.query.get("app")),
      nameField(null),
      {
        kind: "select",
        name: "mode",
        label: "Mode",
        isRequired: true,
        choices: [
          ["live", "live: providers answer"],
          ["test", "test: the sandbox answers, and nothing is charged"],
        ],
      },
      scopesField(["transcribe", "chat", "jobs"]),
      {
        kind: "select",
        name: "role",
        label: "Role",
        isRequired: true,
        choices: [
          ["member", "member: can call the API"],
          ["admin", "admin: can also administer the workspace"],
        ],
      },
      endField(null),
      ...quotaFields(null, OF_KEY_ALONE),
    ],
    submit: "Create key",
    send: (body) => visit.ask("POST", "/keys", { body }),
    done: (createdKey) => showCreated(visit, createdKey),
  });
  const other = link(visit.link("keys", [NEW, ADMINISTRATOR]), "Administrator key");
  return [backLink, part("Create an app key", form), element("p", {}, other)];
}

export async function makeAdministratorsKey(visit: Visit): Promise<readonly Node[]> {
  const form = formView<KeyView>({
    fields: [nameField(null), endField(null)],
    submit: "Create key",
    send: (body) => visit.ask("POST", "/keys", { body: { ...body, role: "admin" } }),
    done: (createdKey) => showCreated(visit, createdKey),
  });
  const what = "Signs in to this console and administers the workspace. It belongs to no app and cannot transcribe.";
  return [link(visit.link("keys"), "All keys"), part("Create an administrator key", element("p", {}, what), form)];
}

async function showCreated(visit: Visit, createdKey: KeyView): Promise<void> {
  await showNewKey(visit, createdKey);
  visit.say(`The key ${createdKey.name} was created.`);
  visit.go(visit.link("keys", [createdKey.id]));
}

export async function changePart(visit: Visit, key: KeyView, etag: string | null): Promise<HTMLElement> {
  const isOfApp = key.app_id !== null;
  const formFields = isOfApp ? OFFERED : ["name", "expires_at"];
  const form = formView<KeyView>({
    fields: isOfApp ? fieldsOf(key, await readRoutes(visit)) : [nameField(key.name), endField(key.expires_at)],
    submit: "Save",
    send: (given) =>
      visit.ask("PUT", `/keys/${key.id}`, { body: wholeBody(settingsOf(key), formFields, given), ifMatch: etag }),
    done: (changed) => {
      visit.say(`The key ${changed.name} was saved. It takes effect on all processes within seconds.`);
      visit.go(visit.link("keys", [changed.id]));
    },
    again: () => visit.redraw(),
  });
  return part(`Edit ${key.name}`, form);
}

const OFFERED = [
  "name",
  "scopes",
  "expires_at",
  "route",
  "audio_input_override",
  "audio_purpose_policy",
  "quota",
] as const;

/** The writable fields of a key. */
function settingsOf(key: KeyView): Readonly<Record<string, unknown>> {
  const { name, scopes, expires_at, route, audio_input_override, purposes, audio_purpose_policy, quota } = key;
  return { name, scopes, expires_at, route, audio_input_override, purposes, audio_purpose_policy, quota };
}

function fieldsOf(key: KeyView, routes: KnownRoutes): readonly Field[] {
  return [
    nameField(key.name),
    scopesField(key.scopes),
    endField(key.expires_at),
    routeField(routes, {
      name: "route",
      label: "Route",
      hint: "Overrides the route of the app.",
      value: key.route,
      none: "same as app",
    }),
    routeField(routes, {
      name: "audio_input_override",
      label: "Audio route",
      hint: "Overrides the audio route of the app.",
      value: key.audio_input_override,
      none: "same as app",
    }),
    {
      kind: "select",
      name: "audio_purpose_policy",
      label: "If an audio purpose cannot be used",
      choices: [["", "same as app"], ...POLICIES],
      value: key.audio_purpose_policy ?? "",
    },
    ...quotaFields(key.quota, OF_KEY_ALONE),
  ];
}

/** With more than a hundred apps, the app is typed. */
function appField({ data, next_cursor: more }: Page<AppView>, app: string | null): Field {
  const common = { name: "app", label: "App", isRequired: true, ...(app === null ? {} : { value: app }) };
  const slugs = data.map(({ slug }) => slug);
  if (more !== null) return { kind: "text", ...common, hint: "Slug or id.", suggestions: slugs };
  const first: readonly Choice[] = slugs.length === 1 ? [] : [["", "choose one"]];
  return { kind: "select", ...common, choices: [...first, ...slugs.map((slug) => [slug, slug] as const)] };
}

function nameField(name: string | null): Field {
  return {
    kind: "text",
    name: "name",
    label: "Name",
    hint: "Name of the caller.",
    placeholder: "ios-production",
    ...(name === null ? {} : { value: name }),
  };
}

function endField(end: string | null): Field {
  return {
    kind: "time",
    name: "expires_at",
    label: "Expires",
    hint: NO_END,
    ...(end === null ? {} : { value: end }),
  };
}

const SCOPES: readonly (readonly [scope: Scope, label: string])[] = [
  ["transcribe", "transcribe"],
  ["chat", "chat"],
  ["jobs", "jobs"],
  ["routing:read", "routing:read: can see provider names"],
];

function scopesField(value: readonly Scope[]): Field {
  return { kind: "checks", name: "scopes", label: "Scopes", choices: SCOPES, value };
}
