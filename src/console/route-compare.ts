// Compares two versions of a route: what the later one changes.
import type { RouteVersionView, RouteView } from "../contract/admin/routes.ts";
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
  const backLink = link(visit.link("routes", [id]), `The route ${id}`);
  if (from === null || to === null) return [backLink, element("p", { class: "empty" }, "There is only one version.")];
  const [before, after] = await Promise.all(
    [from, to].map(
      async (version) =>
        listed.find((each) => `${each.version}` === version) ??
        visit.read<RouteVersionView>(`${path}/versions/${encodeURIComponent(version)}`),
    ),
  );
  if (before === undefined || after === undefined) return [backLink];
  const versions = [...new Map([...listed, before, after].map((each) => [each.version, each])).values()];
  // The form shows the compared versions, even if the address leaves them to defaults.
  const filterVisit: Visit = { ...visit, query: new URLSearchParams({ from, to }) };
  const changes = routeDiff(asDefinition(before.definition), asDefinition(after.definition));
  return [
    backLink,
    filterView(filterVisit, filtersOf(versions), { submit: "Compare" }),
    part(
      `From version ${before.version} to version ${after.version}`,
      changesView(changes),
      element("p", {}, tryLink(visit, route, after.version, "Dry-run a request to see the effect")),
    ),
    ...switchPart(visit, { route, etag }, after),
  ];
}

/** Default: from the live version to the draft; without a draft, from the previous live version to the current one. */
function chosenOf({ query }: Visit, { version, previous_version: previous, draft }: RouteView) {
  const [from, to] = draft === null ? [previous, version] : [version ?? draft.version - 1, draft.version];
  // The number 0 means no version.
  const versionParam = (each: number | null) => (each === null || each === 0 ? null : `${each}`);
  return { from: query.get("from") ?? versionParam(from), to: query.get("to") ?? versionParam(to) };
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

/** After reviewing the differences, the user can publish the version. */
function switchPart(visit: Visit, read: ReadRoute, { version, state, definition }: RouteVersionView): readonly Node[] {
  if (isOfFile(read.route) || state === "live") return [];
  const to = { version, definition: asDefinition(definition) };
  return [
    state === "draft"
      ? part(
          "Publish?",
          element("p", {}, `Version ${version} is a draft. It takes effect when published.`),
          publishAction(visit, read, to),
        )
      : part("Roll back?", rollBackAction(visit, read, to)),
  ];
}
