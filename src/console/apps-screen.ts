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
    heads: ["App", "Route", "Audio goes", "Purposes", "Quota", "Made"],
    row: (app) => [
      element("div", {}, link(appLink(visit, app), app.name), ...slugOf(app), ...fileTag(app)),
      orNone(app.route),
      app.audio_input_override ?? "the same way",
      app.purposes.map(({ purpose }) => purpose).join(", ") || "–",
      quotaText(app.quota),
      timeView(app.created_at),
    ],
    empty: "No apps yet. An app stands for one program that calls the API: it has a route, keys and budgets. Make one.",
  });
  return [element("p", {}, buttonLink(visit.link("apps", [NEW]), "Make an app")), apps];
}

const slugOf = ({ name, slug }: AppView): readonly (Node | string)[] =>
  name === slug ? [] : [" ", element("code", {}, slug)];

async function one(visit: Visit, name: string): Promise<readonly Node[]> {
  const app = await visit.read<AppView>(appPath(name));
  const facts = factList([
    ["Name", element("div", {}, app.name, ...slugOf(app), ...fileTag(app))],
    ["Id", element("code", {}, app.id)],
    ["Route", orNone(app.route)],
    ["Audio goes", app.audio_input_override ?? "the same way"],
    ["Default purpose", orNone(app.default_purpose)],
    [
      "Audio purpose policy",
      app.audio_purpose_policy === "strict"
        ? "strict: a request whose purpose cannot be used is refused"
        : "fallback: a purpose that cannot be used is left out, and the answer says so",
    ],
    ["Quota", quotaText(app.quota)],
    ["Made", timeView(app.created_at)],
  ]);
  const around = element(
    "p",
    { class: "row wrap" },
    buttonLink(visit.link("keys", [NEW], { app: app.slug }), "Make a key"),
    ...(isOfFile(app) ? [] : [buttonLink(appLink(visit, app, "change"), "Change it")]),
    link(visit.link("keys", [], { app: app.slug }), "Its keys"),
    link(visit.link("requests", [], { app: app.id }), "Its requests"),
    link(visit.link("jobs", [], { app: app.id }), "Its jobs"),
    link(visit.link("usage", [], { app: app.id, by: "key" }), "Its usage"),
    link(visit.link("budgets", [], { app: app.id }), "Its budgets"),
  );
  return [
    link(visit.link("apps"), "All apps"),
    part(`App ${app.name}`, facts, around),
    purposesPart(visit, app),
    isOfFile(app)
      ? fileNotice("app", "Keys of your own can be made for it all the same.")
      : part("Remove it", removal(visit, app)),
  ];
}

function removal(visit: Visit, app: AppView): HTMLElement {
  const action = actionView({
    label: "Remove the app",
    title: `Remove the app ${app.name}?`,
    what: "Its ended keys and its budgets go with it; its jobs, requests and usage stay. It cannot be undone.",
    run: () => visit.ask("DELETE", appPath(app.id)),
    done: () => {
      visit.say(`The app ${app.slug} is removed.`);
      visit.go(visit.link("apps"));
    },
    help: (code) =>
      code === "CONFLICT"
        ? link(
            visit.link("keys", [], { app: app.slug, state: "active" }),
            "Its keys that still work: revoke them, then come back",
          )
        : null,
  });
  return element("div", {}, element("p", {}, "Only an app none of whose keys works any more can be removed."), action);
}
