// Routes [console.routes]: targets in order, and the published version.
import type { RouteView } from "../contract/admin/routes.ts";
import { element } from "../page/element.ts";
import { listView } from "./list-view.ts";
import { fileTag } from "./owner-view.ts";
import { comparePart } from "./route-compare.ts";
import { editRoute, makeRoute } from "./route-editor.ts";
import { changePurpose } from "./route-purposes.ts";
import { showRoute } from "./route-screen.ts";
import { nameOf, shownOf } from "./route-shape.ts";
import { showTry } from "./try-screen.ts";
import type { Visit } from "./visit.ts";
import { buttonLink, link, mark } from "./words.ts";

/** No id contains a space, so this cannot clash. */
const NEW = "new route";

export function showRoutes(visit: Visit): Promise<readonly Node[]> {
  const [id, section, label] = visit.path;
  if (id === undefined) return list(visit);
  if (id === NEW) return makeRoute(visit);
  if (section === "edit") return editRoute(visit, id);
  if (section === "compare") return comparePart(visit, id);
  if (section === "try") return showTry(visit, id);
  if (section === "purposes" && label !== undefined) return changePurpose(visit, id, label);
  return showRoute(visit, id);
}

async function list(visit: Visit): Promise<readonly Node[]> {
  const routes = await listView<RouteView>(visit, {
    caption: "Routes, by id",
    path: "/routes",
    heads: ["Route", "Live", "Draft", "Targets, in order of preference", "Purposes"],
    row: (route) => rowOf(visit, route),
    empty:
      visit.scope.workspace === null
        ? "No routes yet. A route defines which models are tried in which order. Apps and keys refer to routes."
        : "This workspace has no routes of its own. Its apps can use shared routes. Routes created here are visible to this workspace only.",
  });
  return [element("p", {}, buttonLink(visit.link("routes", [NEW]), "Create a route")), routes];
}

function rowOf(visit: Visit, route: RouteView): readonly (Node | string)[] {
  const { id, version, draft } = route;
  const { targets, purposes } = shownOf(route);
  return [
    element("div", {}, link(visit.link("routes", [id]), id), ...fileTag(route)),
    version === null ? mark("soft", "not published") : mark("good", `version ${version}`),
    draft === null ? "–" : mark("warn", `version ${draft.version}`),
    element("ol", { class: "plain" }, ...targets.map((target) => element("li", {}, nameOf(target)))),
    `${purposes.length}`,
  ];
}
