// A list: its first page, the next ones on demand, and what to say when there is nothing.
import { failureView } from "../page/error-view.ts";
import { button, element, table } from "../page/element.ts";
import type { Page, Visit } from "./visit.ts";

export interface ListOptions<T> {
  readonly caption: string;
  /** Below the scope's base, with its filters. */
  readonly path: string;
  readonly heads: readonly string[];
  readonly row: (item: T) => readonly (Node | string)[];
  /** What to do about it, too. */
  readonly empty: Node | string;
}

const PAGE = 50;

export async function listView<T>(visit: Visit, options: ListOptions<T>): Promise<HTMLElement> {
  const { caption, path, heads, row, empty } = options;
  const [below = "", filters = ""] = path.split("?", 2);
  const query = new URLSearchParams(filters);
  query.set("limit", `${PAGE}`);
  const first = await visit.read<Page<T>>(`${below}?${query}`);
  if (first.data.length === 0) return element("p", { class: "empty" }, empty);
  const view = table(caption, heads, first.data.map(row));
  const box = element("div", {}, view);
  let cursor = first.next_cursor;
  if (cursor === null) return box;
  const more = button("Show more", async (own) => {
    own.disabled = true;
    query.set("cursor", cursor ?? "");
    const outcome = await visit.ask<Page<T>>("GET", `${below}?${query}`);
    own.disabled = false;
    box.querySelector(".failure")?.remove();
    if (!outcome.ok) return box.append(failureView(outcome.failure, outcome.requestId));
    const rows = outcome.data.data.map((item) =>
      element("tr", {}, ...row(item).map((cell) => element("td", {}, cell))),
    );
    view.querySelector("tbody")?.append(...rows);
    visit.say(`${rows.length} more.`);
    cursor = outcome.data.next_cursor;
    if (cursor === null) own.remove();
  });
  box.append(more);
  return box;
}
