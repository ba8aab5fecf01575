// A paginated list: the first page, more on demand, and a text for an empty list.
import type { Outcome } from "../page/ask.ts";
import { failureView } from "../page/error-view.ts";
import { button, element, table } from "../page/element.ts";
import type { Page, Visit } from "./visit.ts";

export interface ListOptions<T> {
  readonly caption: string;
  /** Relative to the scope's base, including filters. */
  readonly path: string;
  readonly heads: readonly string[];
  readonly row: (item: T) => readonly (Node | string)[];
  /** Text of an empty list, with what to do. */
  readonly empty: Node | string;
}

/** Items per page. */
export const PAGE = 50;

export async function listView<T>(visit: Visit, options: ListOptions<T>): Promise<HTMLElement> {
  const { caption, path, heads, row, empty } = options;
  const first = await visit.read<Page<T>>(pagePath(path, null));
  if (first.data.length === 0) return element("p", { class: "empty" }, empty);
  const view = table(caption, heads, first.data.map(row));
  const box = element("div", {}, view);
  let cursor = first.next_cursor;
  if (cursor === null) return box;
  const more = moreButton(visit, box, async () => {
    const outcome = await visit.ask<Page<T>>("GET", pagePath(path, cursor));
    if (!outcome.ok) return outcome;
    const rows = outcome.data.data.map((item) =>
      element("tr", {}, ...row(item).map((cell) => element("td", {}, cell))),
    );
    view.querySelector("tbody")?.append(...rows);
    cursor = outcome.data.next_cursor;
    if (cursor === null) more.remove();
    return outcome;
  });
  box.append(more);
  return box;
}

/** `cursor`: end of the previous page. Null: the first page. */
export function pagePath(path: string, cursor: string | null, limit = PAGE): string {
  const [below = "", filters = ""] = path.split("?", 2);
  const query = new URLSearchParams(filters);
  query.set("limit", `${limit}`);
  if (cursor !== null) query.set("cursor", cursor);
  return `${below}?${query}`;
}

/** `load` shows and returns the next page; its error is shown at the end of `box`. */
export function moreButton(
  visit: Visit,
  box: HTMLElement,
  load: () => Promise<Outcome<Page<unknown>>>,
): HTMLButtonElement {
  return button("Show more", async (own) => {
    const isHeld = document.activeElement === own;
    const outcome = await load();
    // The button disappears after the last page.
    if (isHeld && (own.hidden || !own.isConnected))
      box.querySelector<HTMLElement>("[role=region]")?.focus({ preventScroll: true });
    box.querySelector(".failure")?.remove();
    if (!outcome.ok) return box.append(failureView(outcome.failure, outcome.requestId));
    visit.say(`${outcome.data.data.length} more.`);
  });
}
