// The apps of a workspace, and the page of one app: its routing, limits and settings.
import type { AppView } from "../contract/admin/apps.ts";
import { element } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { NEW } from "./address.ts";
import { appLink, appPath, changeApp, makeApp } from "./app-form.ts";
import { changePurpose, purposesPart } from "./app-purposes.ts";
import { listView } from "./list-view.ts";
import { fileNotice, fileTag, isOfFile } from "./owner-view.ts";
import { quotaText } from "./quota-fields.ts";
import type { Visit } from "./visit.ts";
import { buttonLink, factList, link, orNone, part, timeView } from "./words.ts";

export function showApps(visit: Visit): Promise<readonly Node[]> {
  const [app, section, label] = visit.path;
  if (app === undefined) return list(visit);
  if (app === NEW) return makeApp(visit);
  if (section === "change") return changeApp(visit, app);
  return section === "purposes" ? changePurpose(visit, app, label ?? null) : one(visit, app);
}

async function list(visit: Visit): Promise<readonly Node[]> {
  const apps = await listView<AppView>(visit, {
    caption: "Apps, newest first",
    path: "/apps",
    heads: ["App", "Route", "Audio route", "Purposes", "Quota", "Created"],
    row: (app) => [
      element("div", {}, link(appLink(visit, app), app.name), ...slugOf(app), ...fileTag(app)),
      orNone(app.route),
      app.audio_input_override ?? "same as route",
      app.purposes.map(({ purpose }) => purpose).join(", ") || "–",
      quotaText(app.quota),
      timeView(app.created_at),
    ],
    empty: "No apps yet. An app represents one program that calls the API. It has a route, keys and budgets.",
  });
  return [element("p", {}, buttonLink(visit.link("apps", [NEW]), "Create an app")), apps];
}

const slugOf = ({ name, slug }: AppView): readonly (Node | string)[] =>
  name === slug ? [] : [" ", element("code", {}, slug)];

async function one(visit: Visit, name: string): Promise<readonly Node[]> {
  const app = await visit.read<AppView>(appPath(name));
  const facts = factList([
    ["Name", element("div", {}, app.name, ...slugOf(app), ...fileTag(app))],
    ["Id", element("code", {}, app.id)],
    ["Route", orNone(app.route)],
    ["Audio route", app.audio_input_override ?? "same as route"],
    ["Default purpose", orNone(app.default_purpose)],
    [
      "Audio purpose policy",
      app.audio_purpose_policy === "strict"
        ? "strict: a request with an unusable purpose is rejected"
        : "fallback: an unusable purpose is skipped, with a warning in the response",
    ],
    ["Quota", quotaText(app.quota)],
    ["Created", timeView(app.created_at)],
  ]);
  const around = element(
    "p",
    { class: "row wrap" },
    buttonLink(visit.link("keys", [NEW], { app: app.slug }), "Create a key"),
    ...(isOfFile(app) ? [] : [buttonLink(appLink(visit, app, "change"), "Edit")]),
    link(visit.link("keys", [], { app: app.slug }), "Keys"),
    link(visit.link("requests", [], { app: app.id }), "Requests"),
    link(visit.link("jobs", [], { app: app.id }), "Jobs"),
    link(visit.link("usage", [], { app: app.id, by: "key" }), "Usage"),
    link(visit.link("budgets", [], { app: app.id }), "Budgets"),
  );
  return [
    link(visit.link("apps"), "All apps"),
    part(`App ${app.name}`, facts, around),
    purposesPart(visit, app),
    isOfFile(app) ? fileNotice("app", "You can still create keys for it.") : part("Remove", removal(visit, app)),
  ];
}

function removal(visit: Visit, app: AppView): HTMLElement {
  const action = actionView({
    label: "Remove app",
    title: `Remove the app ${app.name}?`,
    what: "Its inactive keys and budgets are removed too. Jobs, requests and usage are kept. This cannot be undone.",
    run: () => visit.ask("DELETE", appPath(app.id)),
    done: () => {
      visit.say(`The app ${app.slug} was removed.`);
      visit.go(visit.link("apps"));
    },
    help: (code) =>
      code === "CONFLICT"
        ? link(visit.link("keys", [], { app: app.slug, state: "active" }), "Revoke its active keys first")
        : null,
  });
  return element("div", {}, element("p", {}, "Only an app without active keys can be removed."), action);
}
