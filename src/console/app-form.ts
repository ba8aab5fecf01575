// The form of an app, to create it or to change its settings.
import type { AppView } from "../contract/admin/apps.ts";
import { element } from "../page/element.ts";
import { linkTo, NEW } from "./address.ts";
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
        hint: "Its name in addresses and commands. It stays.",
      },
      ...fieldsOf(null, routes),
    ],
    submit: "Make the app",
    send: (body) => visit.ask("POST", "/apps", { body }),
    done: (made) => {
      visit.say(`The app ${made.slug} is made. Next: a key for it.`);
      visit.go(appLink(visit, made));
    },
  });
  return [backLink, part("Make an app", form)];
}

/** Link to the shared routes, which every workspace can use: only the operator can list all routes. */
function noRouteYet(): HTMLElement {
  return element(
    "p",
    { class: "empty" },
    "An app goes a route, and there is none yet. ",
    link(linkTo(null, "routes"), "Make a route"),
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
      visit.say(`The app ${changed.slug} is saved. Every process goes by it within seconds.`);
      visit.go(appLink(visit, changed));
    },
    again: () => visit.redraw(),
  });
  return [link(appLink(visit, app), `The app ${app.slug}`), part(`Set ${app.slug} up anew`, form)];
}

/** The writable fields of an app. */
export function settingsOf(app: AppView): Readonly<Record<string, unknown>> {
  const { object: _kind, id: _id, workspace_id: _of, slug: _slug, managed_by: _by, created_at: _at, ...settings } = app;
  return settings;
}

const OFFERED = ["name", "route", "audio_input_override", "default_purpose", "audio_purpose_policy", "quota"];

export const POLICIES = [
  ["fallback", "fallback: it goes on without the purpose, and says so"],
  ["strict", "strict: the request is refused"],
] as const;

function fieldsOf(app: AppView | null, routes: KnownRoutes): readonly Field[] {
  return [
    {
      kind: "text",
      name: "name",
      label: "Name",
      hint: "What people call it. Empty: its slug.",
      ...(app === null || app.name === app.slug ? {} : { value: app.name }),
    },
    routeField(routes, {
      name: "route",
      label: "Route",
      hint: "Where its requests go.",
      value: app?.route ?? null,
      none: null,
    }),
    routeField(routes, {
      name: "audio_input_override",
      label: "Route of audio requests",
      hint: "Where requests with audio go instead.",
      value: app?.audio_input_override ?? null,
      none: "the same route",
    }),
    {
      kind: "text",
      name: "default_purpose",
      label: "Default purpose",
      hint: "Applied where a request names none.",
      placeholder: "meetings",
      suggestions: app?.purposes.map(({ purpose }) => purpose) ?? [],
      ...(app === null || app.default_purpose === null ? {} : { value: app.default_purpose }),
    },
    {
      kind: "select",
      name: "audio_purpose_policy",
      label: "When an audio purpose cannot be used",
      isRequired: true,
      choices: POLICIES,
      value: app?.audio_purpose_policy ?? "fallback",
    },
    ...quotaFields(app?.quota ?? null, "Quota of the whole app, all of its keys together. Empty: no bound."),
  ];
}
