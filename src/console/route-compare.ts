// Two versions of a route beside each other: what the later one would change, or did.
import type { RouteVersionView, RouteView } from "../contract/routes.ts";
import { element } from "../page/element.ts";
import { changesView } from "./changes-view.ts";
import { type Filter, filterView } from "./filter-view.ts";
import type { Choice } from "./form-view.ts";
import { isOfFile } from "./owner-view.ts";
import { publishAction, type ReadRoute, rollBackAction, tryLink } from "./route-actions.ts";
import { routeDiff } from "./route-diff.ts";
import { asDefinition, routePath, VERSION_STATES } from "./route-shape.ts";
import type { Page, Visit } from "./visit.ts";
import { link, part } from "./words.ts";

export async function comparePart(visit: Visit, id: string): Promise<readonly Node[]> {
  const path = routePath(id);
  const [{ data: route, etag }, { data: listed }] = await Promise.all([
    visit.readWithEtag<RouteView>(path),
    visit.read<Page<RouteVersionView>>(`${path}/versions?limit=100`),
  ]);
  const { from, to } = chosenOf(visit, route);
  const back = link(visit.link("routes", [id]), `The route ${id}`);
  if (from === null || to === null)
    return [back, element("p", { class: "empty" }, "There is one version, so there is nothing to compare it with.")];
  const [before, after] = await Promise.all(
    [from, to].map(
      async (version) =>
        listed.find((each) => `${each.version}` === version) ??
        visit.read<RouteVersionView>(`${path}/versions/${encodeURIComponent(version)}`),
    ),
  );
  if (before === undefined || after === undefined) return [back];
  const versions = [...new Map([...listed, before, after].map((each) => [each.version, each])).values()];
  // The form shows what is compared, also where the address leaves it to be found.
  const shown: Visit = { ...visit, query: new URLSearchParams({ from, to }) };
  const changes = routeDiff(asDefinition(before.definition), asDefinition(after.definition));
  return [
    back,
    filterView(shown, filtersOf(versions), { submit: "Compare" }),
    part(
      `From version ${before.version} to version ${after.version}`,
      changesView(changes),
      element(
        "p",
        {},
        tryLink(visit, route, after.version, "What it changes for a request, tried without calling anybody"),
      ),
    ),
    ...switchPart(visit, { route, etag }, after),
  ];
}

/** Unless told: from what serves to the draft; without one, from what served before to what serves. */
function chosenOf({ query }: Visit, { version, previous_version: previous, draft }: RouteView) {
  const [from, to] = draft === null ? [previous, version] : [version ?? draft.version - 1, draft.version];
  // The number 0 is that of no version.
  const named = (each: number | null) => (each === null || each === 0 ? null : `${each}`);
  return { from: query.get("from") ?? named(from), to: query.get("to") ?? named(to) };
}

function filtersOf(versions: readonly RouteVersionView[]): readonly Filter[] {
  const choices = versions
    .toSorted((one, other) => other.version - one.version)
    .map(({ version, state }): Choice => [`${version}`, `version ${version} (${VERSION_STATES[state][1]})`]);
  return [
    { name: "from", label: "From", kind: "select", choices },
    { name: "to", label: "To", kind: "select", choices },
  ];
}

/** Whoever has seen what differs can let it serve. */
function switchPart(visit: Visit, read: ReadRoute, { version, state, definition }: RouteVersionView): readonly Node[] {
  if (isOfFile(read.route) || state === "live") return [];
  const to = { version, definition: asDefinition(definition) };
  return [
    state === "draft"
      ? part(
          "Let it serve?",
          element("p", {}, `Version ${version} is a draft: it serves nobody until it is published.`),
          publishAction(visit, read, to),
        )
      : part("Let it serve again?", rollBackAction(visit, read, to)),
  ];
}
