// The form of an app, to create it or to change its settings.
import type { AppView } from "../contract/admin/apps.ts";
import { element } from "../page/element.ts";
import { linkTo, NEW } from "./address.ts";
import { dataPolicyField } from "./data-policy-field.ts";
import type { Field } from "./form-view.ts";
import { formView } from "./form-view.ts";
import { quotaFields } from "./quota-fields.ts";
import { type KnownRoutes, readRoutes, routeField } from "./route-choice.ts";
import type { Visit } from "./visit.ts";
import { wholeBody } from "./whole-body.ts";
import { link, part } from "./words.ts";

export const appLink = (visit: Visit, { slug, id }: AppView, ...below: readonly string[]): string =>
  visit.link("apps", [slug === NEW ? id : slug, ...below]);

export const appPath = (app: string): string => `/apps/${encodeURIComponent(app)}`;

export async function makeApp(visit: Visit): Promise<readonly Node[]> {
  const routes = await readRoutes(visit);
  const backLink = link(visit.link("apps"), "All apps");
  if (routes.areAll && routes.routes.size === 0) return [backLink, noRouteYet()];
  const form = formView<AppView>({
    fields: [
      {
        kind: "text",
        name: "slug",
        label: "Slug",
        isRequired: true,
        placeholder: "mobile",
        hint: "Used in URLs and commands. Cannot be changed later.",
      },
      ...fieldsOf(null, routes),
    ],
    submit: "Create app",
    send: (body) => visit.ask("POST", "/apps", { body }),
    done: (made) => {
      visit.say(`The app ${made.slug} was created. Next: create a key for it.`);
      visit.go(appLink(visit, made));
    },
  });
  return [backLink, part("Create an app", form)];
}

/** Link to the shared routes, which every workspace can use: only the operator can list all routes. */
function noRouteYet(): HTMLElement {
  return element(
    "p",
    { class: "empty" },
    "An app needs a route, and none exists yet. ",
    link(linkTo(null, "routes"), "Create a route"),
  );
}

export async function changeApp(visit: Visit, name: string): Promise<readonly Node[]> {
  const [{ data: app, etag }, routes] = await Promise.all([
    visit.readWithEtag<AppView>(appPath(name)),
    readRoutes(visit),
  ]);
  const form = formView<AppView>({
    fields: fieldsOf(app, routes),
    submit: "Save",
    send: (given) =>
      visit.ask("PUT", appPath(name), { body: wholeBody(settingsOf(app), OFFERED, given), ifMatch: etag }),
    done: (changed) => {
      visit.say(`The app ${changed.slug} was saved. It takes effect on all processes within seconds.`);
      visit.go(appLink(visit, changed));
    },
    again: () => visit.redraw(),
  });
  return [link(appLink(visit, app), `The app ${app.slug}`), part(`Edit ${app.slug}`, form)];
}

/** The writable fields of an app. */
export function settingsOf(app: AppView): Readonly<Record<string, unknown>> {
  const { object: _kind, id: _id, workspace_id: _of, slug: _slug, managed_by: _by, created_at: _at, ...settings } = app;
  return settings;
}

const OFFERED = [
  "name",
  "route",
  "audio_input_override",
  "default_purpose",
  "audio_purpose_policy",
  "quota",
  "data_policy",
];

export const POLICIES = [
  ["fallback", "fallback: continue without the purpose and add a warning"],
  ["strict", "strict: reject the request"],
] as const;

function fieldsOf(app: AppView | null, routes: KnownRoutes): readonly Field[] {
  return [
    {
      kind: "text",
      name: "name",
      label: "Name",
      hint: "Display name. Defaults to the slug.",
      ...(app === null || app.name === app.slug ? {} : { value: app.name }),
    },
    routeField(routes, {
      name: "route",
      label: "Route",
      hint: "Route of its requests.",
      value: app?.route ?? null,
      none: null,
    }),
    routeField(routes, {
      name: "audio_input_override",
      label: "Audio route",
      hint: "Route for requests with audio.",
      value: app?.audio_input_override ?? null,
      none: "the same route",
    }),
    {
      kind: "text",
      name: "default_purpose",
      label: "Default purpose",
      hint: "Used when a request does not name a purpose.",
      placeholder: "meetings",
      suggestions: app?.purposes.map(({ purpose }) => purpose) ?? [],
      ...(app === null || app.default_purpose === null ? {} : { value: app.default_purpose }),
    },
    {
      kind: "select",
      name: "audio_purpose_policy",
      label: "If an audio purpose cannot be used",
      isRequired: true,
      choices: POLICIES,
      value: app?.audio_purpose_policy ?? "fallback",
    },
    ...quotaFields(app?.quota ?? null, "Quota of the app, shared by all its keys. Empty: unlimited."),
    dataPolicyField("data_policy", app?.data_policy),
  ];
}
