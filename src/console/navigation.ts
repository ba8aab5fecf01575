// The navigation: a choice of workspaces, and the screens of the current one under their headings.
import { byId, element } from "../page/element.ts";
import { type Address, linkTo } from "./address.ts";
import type { Screen } from "./visit.ts";

const nav = byId("nav", HTMLElement);
const places = byId("workspace", HTMLSelectElement);

export function showPlace({ workspace, screen: current }: Address, screens: readonly Screen[]): void {
  // A removed workspace, or one beyond the first hundred.
  if (workspace !== null && ![...places.options].some(({ value }) => value === workspace))
    places.append(element("option", { value: workspace }, workspace));
  places.value = workspace ?? "";
  const groups = [...new Set(screens.map(({ group }) => group))];
  const lists = groups.flatMap((group, index) => {
    const id = `nav-${index}`;
    const own = screens.filter((screen) => screen.group === group);
    const items = own.map((screen) => element("li", {}, itemOf(screen, workspace, current)));
    return [element("p", { id, class: "group" }, group), element("ul", { "aria-labelledby": id }, ...items)];
  });
  // A redrawn screen must not take the focus out of the navigation.
  const oldNodes = [...nav.childNodes];
  const isSame = lists.length === oldNodes.length && lists.every((each, at) => each.isEqualNode(oldNodes[at] ?? null));
  if (!isSame) nav.replaceChildren(...lists);
}

function itemOf({ name, title }: Screen, workspace: string | null, current: string): HTMLElement {
  const href = linkTo(workspace, name);
  return element("a", name === current ? { href, "aria-current": "page" } : { href }, title);
}
