// Actions that publish another version of a route or remove the route. Each asks for confirmation and shows the differences.
import type { RouteView } from "../contract/admin/routes.ts";
import { element } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { changesView } from "./changes-view.ts";
import { routeDiff } from "./route-diff.ts";
import { asDefinition, type Definition, routePath } from "./route-shape.ts";
import type { Visit } from "./visit.ts";
import { link } from "./words.ts";

export interface ReadRoute {
  readonly route: RouteView;
  readonly etag: string | null;
}

interface Version {
  readonly version: number;
  readonly definition: Definition;
}

export function publishAction(visit: Visit, read: ReadRoute, to: Version): HTMLElement {
  const { id, version: live } = read.route;
  return actionView<RouteView>({
    label: `Publish version ${to.version}`,
    tone: "primary",
    title: `Publish version ${to.version} of ${id}?`,
    what: whatServes(
      visit,
      read.route,
      to,
      live === null ? "Nothing served before." : `A roll-back leads to version ${live}.`,
    ),
    run: () => switchTo(visit, read, "publish", to),
    done: () => leave(visit, id, `Version ${to.version} of ${id} serves.`),
    again: () => visit.redraw(),
  });
}

export function rollBackAction(visit: Visit, read: ReadRoute, to: Version): HTMLElement {
  const { id, version: live } = read.route;
  const undoText = `Version ${live ?? ""} stays, and can be rolled back to in turn.`;
  return actionView<RouteView>({
    label: `Roll back to version ${to.version}`,
    tone: "plain",
    title: `Roll ${id} back to version ${to.version}?`,
    what: whatServes(visit, read.route, to, undoText),
    run: () => switchTo(visit, read, "roll-back", to),
    done: () => leave(visit, id, `Version ${to.version} of ${id} serves again.`),
    again: () => visit.redraw(),
  });
}

export function removeAction(visit: Visit, { route, etag }: ReadRoute): HTMLElement {
  const { id } = route;
  return actionView({
    label: "Remove the route",
    title: `Remove ${id}?`,
    what: "It is removed only where no app, key or purpose of another route names it. Jobs that were accepted on it go on. It cannot be undone; a route made anew under its id counts its versions on.",
    run: () => visit.ask("DELETE", routePath(id), { ifMatch: etag }),
    done: () => {
      visit.say(`The route ${id} is removed.`);
      visit.go(visit.link("routes"));
    },
    again: () => visit.redraw(),
  });
}

function switchTo(visit: Visit, { route, etag }: ReadRoute, step: "publish" | "roll-back", { version }: Version) {
  return visit.ask<RouteView>("POST", `${routePath(route.id)}/${step}`, { body: { version }, ifMatch: etag });
}

/** The effective time, the affected callers, the differences, and how to undo it. */
function whatServes(visit: Visit, route: RouteView, to: Version, undoText: string): HTMLElement {
  const { definition } = route;
  return element(
    "div",
    {},
    element(
      "p",
      {},
      `It serves from the next request on, on every process within 5 s. Jobs that were accepted keep the version they were accepted on. ${undoText}`,
    ),
    ...(definition === null
      ? []
      : [
          element("p", {}, "Compared with what serves now:"),
          changesView(routeDiff(asDefinition(definition), to.definition)),
        ]),
    element("p", {}, tryLink(visit, route, to.version, "Try a request on it first, without calling anybody")),
  );
}

/** Link to a dry run on this version, next to the live one. */
export function tryLink(visit: Visit, { id, draft }: RouteView, version: number, text: string): HTMLElement {
  return link(visit.link("routes", [id, "try"], draft?.version === version ? {} : { version: `${version}` }), text);
}

function leave(visit: Visit, id: string, message: string): void | Promise<void> {
  visit.say(message);
  if (visit.path.length === 1) return visit.redraw();
  visit.go(visit.link("routes", [id]));
}
