// The page of one route: the live version, the draft, and the history.
import type { RouteVersionView, RouteView } from "../contract/admin/routes.ts";
import { element, table } from "../page/element.ts";
import { listView } from "./list-view.ts";
import { fileNotice, isOfFile } from "./owner-view.ts";
import { publishAction, type ReadRoute, removeAction, rollBackAction } from "./route-actions.ts";
import { purposesPart } from "./route-purposes.ts";
import { asDefinition, type Definition, routePath, shownOf, SWITCHES, VERSION_STATES } from "./route-shape.ts";
import type { Visit } from "./visit.ts";
import { buttonLink, factList, link, mark, part, timeView } from "./words.ts";

export async function showRoute(visit: Visit, id: string): Promise<readonly Node[]> {
  const { data: route, etag } = await visit.readWithEtag<RouteView>(routePath(id));
  const { previous_version: previous } = route;
  const [before, versions] = await Promise.all([
    previous === null ? null : visit.read<RouteVersionView>(`${routePath(id)}/versions/${previous}`),
    versionsPart(visit, route),
  ]);
  const read: ReadRoute = { route, etag };
  return [
    link(visit.link("routes"), "All routes"),
    ...(isOfFile(route) ? [fileNotice("route")] : []),
    standingPart(visit, read, before),
    targetsPart(route),
    purposesPart(visit, route),
    versions,
    tryPart(visit, route),
    ...(isOfFile(route) ? [] : [part("Remove", removeAction(visit, read))]),
  ];
}

function standingPart(visit: Visit, read: ReadRoute, before: RouteVersionView | null): HTMLElement {
  const { route } = read;
  const { id, version, draft, updated_at: changed, created_at: createdAt } = route;
  const facts = factList([
    ["Live", version === null ? mark("warn", "not published") : mark("good", `version ${version}`)],
    ["Draft", draft === null ? "none" : mark("warn", `version ${draft.version}`)],
    ["Created", timeView(createdAt)],
    ["Changed", timeView(changed)],
  ]);
  const canCompare = draft === null ? before !== null : version !== null;
  const own = isOfFile(route)
    ? []
    : [
        buttonLink(visit.link("routes", [id, "edit"]), "Edit"),
        ...(draft === null
          ? []
          : [publishAction(visit, read, { ...draft, definition: asDefinition(draft.definition) })]),
        ...(before === null
          ? []
          : [rollBackAction(visit, read, { ...before, definition: asDefinition(before.definition) })]),
      ];
  const compare = draft === null ? "Compare with the previous version" : "Compare with live";
  return part(
    "Live version",
    facts,
    element(
      "div",
      { class: "row wrap" },
      ...own,
      ...(canCompare ? [buttonLink(visit.link("routes", [id, "compare"]), compare)] : []),
    ),
  );
}

function targetsPart(route: RouteView): HTMLElement {
  const definition = shownOf(route);
  const versionName =
    route.version === null ? `of the draft, version ${route.draft?.version ?? ""}` : `of version ${route.version}`;
  const rows = definition.targets.map((target, index) => [
    `${index + 1}`,
    target.connection,
    target.model,
    target.profiles.length === 0 ? "all" : target.profiles.join(", "),
    Object.keys(target.settings).length === 0 ? "–" : element("code", {}, JSON.stringify(target.settings)),
    `${target.first_content_timeout_seconds} s`,
  ]);
  return part(
    "Targets",
    table(
      `In order of preference, ${versionName}`,
      ["Position", "Connection", "Model", "Profiles", "Settings", "First chat content timeout"],
      rows,
    ),
    switchesView(definition),
  );
}

function switchesView(definition: Definition): HTMLElement {
  const weak = definition["accept_weak"];
  return table(
    "Options",
    ["Option", "Value"],
    [
      ...SWITCHES.map(([name, label]) => [label, definition[name] === true ? "yes" : "no"] as const),
      ["Accept weak emulation for", Array.isArray(weak) && weak.length > 0 ? weak.join(", ") : "none"],
    ],
  );
}

async function versionsPart(visit: Visit, { id, version: live }: RouteView): Promise<HTMLElement> {
  const versions = await listView<RouteVersionView>(visit, {
    caption: "Newest first. A version never changes.",
    path: `${routePath(id)}/versions`,
    heads: ["Version", "State", "Created", "Author", "First published", ""],
    row: ({ version, state, created_at: createdAt, actor_key_id: actor, published_at: published }) => [
      `${version}`,
      mark(...VERSION_STATES[state]),
      timeView(createdAt),
      actor === null ? "configuration file" : element("code", {}, actor),
      timeView(published),
      live === null || state === "live"
        ? ""
        : link(
            visit.link("routes", [id, "compare"], { from: `${live}`, to: `${version}` }),
            `Compare ${version} with ${live}`,
          ),
    ],
    empty: "None.",
  });
  return part("Versions", versions);
}

function tryPart(visit: Visit, { id, draft }: RouteView): HTMLElement {
  const by = draft === null ? "" : " and by the draft";
  return part(
    "Dry run",
    element(
      "p",
      {},
      `Shows how a request with any recording and options would be routed by the live version${by}. No provider is called.`,
    ),
    element("p", {}, buttonLink(visit.link("routes", [id, "try"]), "Start dry run")),
  );
}
