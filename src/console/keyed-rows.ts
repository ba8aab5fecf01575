// A table whose rows stay the same elements while what they show changes, newest first.
import { element, table } from "../page/element.ts";
import type { ListOptions } from "./list-view.ts";
import { renew } from "./renew.ts";

interface KeyedRows<T> {
  readonly view: HTMLElement;
  items(): readonly T[];
  /**
   * `fresh`: how the list begins now. Rows that should stand among them and do not are gone; those behind the last of them stay unless
   * this is the whole of it. Answers what is new, and what was another.
   */
  merge(fresh: readonly T[], isWhole: boolean): readonly Changed<T>[];
  /** What follows. */
  append(items: readonly T[]): void;
  /** Another state of one that is shown. */
  put(item: T): void;
}

export interface Changed<T> {
  readonly item: T;
  /** null: it is new. */
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
  let shown: readonly Shown<T>[] = [];

  function updated(item: T, known: Shown<T> | undefined): Shown<T> {
    const fresh = element("tr", {}, ...row(item).map((cell) => element("td", {}, cell)));
    if (known === undefined) return { key: keyOf(item), row: fresh, item };
    renew(known.row, fresh);
    known.item = item;
    return known;
  }

  /** Rows that stay are not moved: that would cost them their focus. */
  function place(next: readonly Shown<T>[]): void {
    const staying = new Set(next);
    for (const each of shown) {
      if (staying.has(each)) continue;
      if (each.row.contains(document.activeElement)) view.focus({ preventScroll: true });
      each.row.remove();
    }
    for (const [at, each] of next.entries())
      if (body.rows[at] !== each.row) body.insertBefore(each.row, body.rows[at] ?? null);
    shown = next;
  }

  const byKey = (): ReadonlyMap<string, Shown<T>> => new Map(shown.map((each) => [each.key, each]));

  return {
    view,
    items: () => shown.map(({ item }) => item),
    merge: (fresh, isWhole) => {
      const known = byKey();
      const changes: Changed<T>[] = [];
      const head = fresh.map((item) => {
        const same = known.get(keyOf(item));
        changes.push({ item, before: same?.item ?? null });
        return updated(item, same);
      });
      const isFresh = new Set(head);
      const reached = shown.findLastIndex((each) => isFresh.has(each));
      place([...head, ...(isWhole ? [] : shown.slice(reached + 1))]);
      return changes;
    },
    append: (items) => {
      const known = byKey();
      const rows = items.map((item) => updated(item, known.get(keyOf(item))));
      place([...shown, ...rows.filter(({ key }) => !known.has(key))]);
    },
    put: (item) => {
      const known = byKey().get(keyOf(item));
      if (known !== undefined) updated(item, known);
    },
  };
}
