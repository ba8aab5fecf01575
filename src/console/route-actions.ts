// Actions that publish another version of a route or remove the route. Each asks for confirmation and shows the differences.
import type { RouteView } from "../contract/admin/routes.ts";
import { element } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { changesView } from "./changes-view.ts";
import { sendConfirmingEnd } from "./confirm-ending.ts";
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
      live === null ? "This is the first published version." : `Roll back to return to version ${live}.`,
    ),
    run: () => switchTo(visit, read, "publish", to),
    done: () => leave(visit, id, `Version ${to.version} of ${id} is live.`),
    again: () => visit.redraw(),
  });
}

export function rollBackAction(visit: Visit, read: ReadRoute, to: Version): HTMLElement {
  const { id, version: live } = read.route;
  const undoText = `Version ${live ?? ""} is kept. You can roll back to it.`;
  return actionView<RouteView>({
    label: `Roll back to version ${to.version}`,
    tone: "plain",
    title: `Roll ${id} back to version ${to.version}?`,
    what: whatServes(visit, read.route, to, undoText),
    run: () => switchTo(visit, read, "roll-back", to),
    done: () => leave(visit, id, `Version ${to.version} of ${id} is live again.`),
    again: () => visit.redraw(),
  });
}

export function removeAction(visit: Visit, { route, etag }: ReadRoute): HTMLElement {
  const { id } = route;
  return actionView({
    label: "Remove route",
    title: `Remove ${id}?`,
    what: "Only a route that no app, key or other route's purpose uses can be removed. Accepted jobs continue. This cannot be undone. A new route with the same id continues its version numbers.",
    run: () => visit.ask("DELETE", routePath(id), { ifMatch: etag }),
    done: () => {
      visit.say(`The route ${id} was removed.`);
      visit.go(visit.link("routes"));
    },
    again: () => visit.redraw(),
  });
}

function switchTo(visit: Visit, { route, etag }: ReadRoute, step: "publish" | "roll-back", { version }: Version) {
  return sendConfirmingEnd(
    (body) => visit.ask<RouteView>("POST", `${routePath(route.id)}/${step}`, { body, ifMatch: etag }),
    { version },
    step === "publish" ? "Publish anyway" : "Roll back anyway",
  );
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
      `It takes effect from the next request on, on every process within 5 s. Accepted jobs keep their version. ${undoText}`,
    ),
    ...(definition === null
      ? []
      : [
          element("p", {}, "Compared with the live version:"),
          changesView(routeDiff(asDefinition(definition), to.definition)),
        ]),
    element("p", {}, tryLink(visit, route, to.version, "Dry-run a request on it first")),
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
