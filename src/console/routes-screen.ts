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
    heads: ["Route", "Serves", "Draft", "Targets, in the order they are tried", "Purposes"],
    row: (route) => rowOf(visit, route),
    empty:
      visit.scope.workspace === null
        ? "No routes yet. A route says which models are tried, and in which order; apps and keys name one."
        : "No routes of this workspace's own. Its apps can name those of the platform; one made here is seen by this workspace alone.",
  });
  return [element("p", {}, buttonLink(visit.link("routes", [NEW]), "Make a route")), routes];
}

function rowOf(visit: Visit, route: RouteView): readonly (Node | string)[] {
  const { id, version, draft } = route;
  const { targets, purposes } = shownOf(route);
  return [
    element("div", {}, link(visit.link("routes", [id]), id), ...fileTag(route)),
    version === null ? mark("soft", "nothing yet") : mark("good", `version ${version}`),
    draft === null ? "–" : mark("warn", `version ${draft.version}`),
    element("ol", { class: "plain" }, ...targets.map((target) => element("li", {}, nameOf(target)))),
    `${purposes.length}`,
  ];
}
