// A table that keeps its row elements while their content changes, newest first.
import { element, table } from "../page/element.ts";
import type { ListOptions } from "./list-view.ts";
import { renew } from "./renew.ts";

interface KeyedRows<T> {
  readonly view: HTMLElement;
  items(): readonly T[];
  /** `fresh`: the current start of the list. Rows missing from it are removed; rows after its last one stay unless `isWhole`. Returns new and changed items. */
  merge(fresh: readonly T[], isWhole: boolean): readonly Changed<T>[];
  /** Appends the next page. */
  append(items: readonly T[]): void;
  /** Updates one item. */
  put(item: T): void;
}

export interface Changed<T> {
  readonly item: T;
  /** Null: it is new. */
  readonly before: T | null;
}

interface Shown<T> {
  readonly key: string;
  readonly row: HTMLTableRowElement;
  item: T;
}

type RowOptions<T> = Pick<ListOptions<T>, "caption" | "heads" | "row"> & { readonly keyOf: (item: T) => string };

export function keyedRows<T>({ caption, heads, row, keyOf }: RowOptions<T>): KeyedRows<T> {
  const view = table(caption, heads, []);
  const body = element("tbody");
  view.querySelector("tbody")?.replaceWith(body);
  let currentRows: readonly Shown<T>[] = [];

  function updated(item: T, known: Shown<T> | undefined): Shown<T> {
    const fresh = element("tr", {}, ...row(item).map((cell) => element("td", {}, cell)));
    if (known === undefined) return { key: keyOf(item), row: fresh, item };
    renew(known.row, fresh);
    known.item = item;
    return known;
  }

  /** Unchanged rows are not moved, because moving loses their focus. */
  function place(next: readonly Shown<T>[]): void {
    const staying = new Set(next);
    for (const each of currentRows) {
      if (staying.has(each)) continue;
      if (each.row.contains(document.activeElement)) view.focus({ preventScroll: true });
      each.row.remove();
    }
    for (const [at, each] of next.entries())
      if (body.rows[at] !== each.row) body.insertBefore(each.row, body.rows[at] ?? null);
    currentRows = next;
  }

  const byKey = (): ReadonlyMap<string, Shown<T>> => new Map(currentRows.map((each) => [each.key, each]));

  return {
    view,
    items: () => currentRows.map(({ item }) => item),
    merge: (fresh, isWhole) => {
      const known = byKey();
      const changes: Changed<T>[] = [];
      const head = fresh.map((item) => {
        const same = known.get(keyOf(item));
        changes.push({ item, before: same?.item ?? null });
        return updated(item, same);
      });
      const isFresh = new Set(head);
      const reached = currentRows.findLastIndex((each) => isFresh.has(each));
      place([...head, ...(isWhole ? [] : currentRows.slice(reached + 1))]);
      return changes;
    },
    append: (items) => {
      const known = byKey();
      const rows = items.map((item) => updated(item, known.get(keyOf(item))));
      place([...currentRows, ...rows.filter(({ key }) => !known.has(key))]);
    },
    put: (item) => {
      const known = byKey().get(keyOf(item));
      if (known !== undefined) updated(item, known);
    },
  };
}
