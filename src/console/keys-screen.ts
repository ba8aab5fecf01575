// The keys of a workspace: owner, state, and last use.
import type { AppView } from "../contract/admin/apps.ts";
import type { KeyView } from "../contract/admin/keys.ts";
import { element } from "../page/element.ts";
import { NEW } from "./address.ts";
import { type Filter, filterView, filtersIn } from "./filter-view.ts";
import { ADMINISTRATOR, makeAdministratorsKey, makeKey } from "./key-form.ts";
import { changeKey, showKey } from "./key-view.ts";
import { keyTags, partsOf, stateView } from "./key-words.ts";
import { listView } from "./list-view.ts";
import type { Page, Visit } from "./visit.ts";
import { buttonLink, link, timeView } from "./words.ts";

export function showKeys(visit: Visit): Promise<readonly Node[]> {
  const [id, action] = visit.path;
  if (id === undefined) return list(visit);
  if (id === NEW) return action === ADMINISTRATOR ? makeAdministratorsKey(visit) : makeKey(visit);
  return action === "change" ? changeKey(visit, id) : showKey(visit, id);
}

async function list(visit: Visit): Promise<readonly Node[]> {
  const apps = await visit.read<Page<AppView>>("/apps?limit=100");
  const slugs = new Map(apps.data.map(({ id, slug }) => [id, slug]));
  const filterFields = filtersOf(apps, visit.query.get("app"));
  const filters = filtersIn(visit, filterFields);
  // A successor is newer, so it precedes the key that it replaces.
  const replaced = new Set<string>();
  const keys = await listView<KeyView>(visit, {
    caption: "Keys, newest first",
    path: `/keys?${filters}`,
    heads: ["Key", "App", "Role", "Scopes", "State", "Created", "Last used"],
    row: (key) => {
      if (key.replaces !== null) replaced.add(key.replaces);
      return [
        element(
          "div",
          {},
          link(visit.link("keys", [key.id]), key.name),
          ...keyTags(key, visit.ownKey),
          element("br"),
          element("code", {}, partsOf(key)),
        ),
        key.app_id === null ? "–" : (slugs.get(key.app_id) ?? key.app_id),
        key.role,
        key.scopes.join(", ") || "–",
        stateView(key, replaced.has(key.id)),
        timeView(key.created_at),
        key.last_used_at === null ? "never" : timeView(key.last_used_at),
      ];
    },
    empty: filters === "" ? "No keys yet. Create a key for an app to call the API." : "No keys match these filters.",
  });
  const app = visit.query.get("app") ?? "";
  return [
    element("p", {}, buttonLink(visit.link("keys", [NEW], { app }), "Create a key")),
    filterView(visit, filterFields),
    keys,
  ];
}

/** With more than a hundred apps, the app is typed. */
function filtersOf({ data, next_cursor: more }: Page<AppView>, requestedApp: string | null): readonly Filter[] {
  const slugs = data.map(({ slug }) => slug);
  const known =
    requestedApp === null || requestedApp === "" || slugs.includes(requestedApp) ? slugs : [...slugs, requestedApp];
  const app = { name: "app", label: "App" };
  return [
    more === null
      ? { ...app, kind: "select", choices: [["", "any"], ...known.map((slug) => [slug, slug] as const)] }
      : { ...app, kind: "text", placeholder: "slug or app_…" },
    {
      name: "state",
      label: "State",
      kind: "select",
      choices: [
        ["", "any"],
        ["active", "active"],
        ["expired", "expired"],
        ["revoked", "revoked"],
      ],
    },
    {
      name: "role",
      label: "Role",
      kind: "select",
      choices: [
        ["", "any"],
        ["member", "member"],
        ["admin", "admin"],
      ],
    },
  ];
}
