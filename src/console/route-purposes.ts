// The purposes that a route publishes, which callers can name. Each change is a version and is published at once.
import type { PurposeList, RouteView } from "../contract/admin/routes.ts";
import type { Visit } from "./visit.ts";
import { element } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { formView } from "./form-view.ts";
import { isOfFile } from "./owner-view.ts";
import { purposeFields, purposeTable } from "./purpose-view.ts";
import { readRoutes } from "./route-choice.ts";
import { routePath, shownOf } from "./route-shape.ts";
import { wholeBody } from "./whole-body.ts";
import { buttonLink, link, part } from "./words.ts";

/** No label contains a space, so this cannot clash. */
const NEW = "new purpose";

export function purposesPart(visit: Visit, route: RouteView): HTMLElement {
  const { purposes } = shownOf(route);
  const canChange = !isOfFile(route) && route.version !== null;
  const linked = (label: string, text: string) => link(visit.link("routes", [route.id, "purposes", label]), text);
  const nameOf = (label: string): Node | string => (canChange ? linked(label, label) : label);
  const add = buttonLink(visit.link("routes", [route.id, "purposes", NEW]), "Add a purpose");
  return part(
    "Purposes",
    purposes.length === 0
      ? element(
          "p",
          { class: "soft" },
          "None. A purpose is a name that callers send. It selects a route and provides defaults.",
        )
      : purposeTable(purposes, "Available to every app on this route", nameOf),
    ...(canChange ? [element("p", {}, add)] : []),
    ...(route.version === null && !isOfFile(route)
      ? [element("p", { class: "soft" }, "Publish a version before adding purposes.")]
      : []),
  );
}

export async function changePurpose(visit: Visit, id: string, label: string): Promise<readonly Node[]> {
  const [{ data: list, etag }, route, routes] = await Promise.all([
    visit.readWithEtag<PurposeList>(`${routePath(id)}/purposes`),
    visit.read<RouteView>(routePath(id)),
    readRoutes(visit),
  ]);
  const backLink = link(visit.link("routes", [id]), `The route ${id}`);
  const purpose = list.data.find((each) => each.purpose === label) ?? null;
  if (purpose === null && label !== NEW)
    return [backLink, element("p", { class: "empty" }, `${id} publishes no purpose “${label}”.`)];
  const leave = (message: string) => (): void => {
    visit.say(message);
    visit.go(visit.link("routes", [id]));
  };
  const all = purposeFields(purpose, routes, "", { taken: list.data.map((each) => each.purpose), route: id });
  // The label is part of the path and cannot be changed.
  const fields = all.filter(({ name }) => purpose === null || name !== "purpose");
  const form = formView<PurposeList>({
    fields,
    submit: "Save and publish",
    send: (given) => {
      const { purpose: typed, ...rest } = wholeBody(
        { ...purpose },
        ["object", ...fields.map(({ name }) => name)],
        given,
      );
      return visit.ask("PUT", pathOf(id, String(typed)), { body: rest, ifMatch: etag });
    },
    done: ({ version }) => leave(`The purpose was saved: version ${version} of ${id} is live.`)(),
    again: () => visit.redraw(),
  });
  const parts = [
    backLink,
    part(purpose === null ? `Add a purpose to ${id}` : `The purpose ${label}`, ...wordsOf(route), form),
  ];
  return purpose === null ? parts : [...parts, removalPart(visit, { id, label, etag }, leave)];
}

const pathOf = (id: string, label: string): string => `${routePath(id)}/purposes/${encodeURIComponent(label)}`;

/** Changes of purposes address callers directly, so they are published at once. */
function wordsOf({ draft, version }: RouteView): readonly Node[] {
  const message = element(
    "p",
    {},
    `Saving creates a version from the live one, ${version ?? ""}, and publishes it immediately. You can roll back.`,
  );
  if (draft === null) return [message];
  const warning = `Version ${draft.version} is an older draft without this change. Publishing it later reverts the change.`;
  return [message, element("p", { class: "warning" }, warning)];
}

function removalPart(
  visit: Visit,
  { id, label, etag }: { readonly id: string; readonly label: string; readonly etag: string | null },
  leave: (message: string) => () => void,
): HTMLElement {
  return part(
    "Remove",
    actionView({
      label: "Remove purpose",
      title: `Take ${label} from ${id}?`,
      what: "Requests that send it continue without it, or are rejected with purpose_policy strict. This creates a version of the route; roll back to restore the purpose.",
      run: () => visit.ask("DELETE", pathOf(id, label), { ifMatch: etag }),
      done: leave(`${id} no longer publishes ${label}.`),
      again: () => visit.redraw(),
    }),
  );
}
