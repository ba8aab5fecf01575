// A list that refreshes every few seconds while an item may change, until the user stops it.
import type { Outcome, Refused } from "../page/ask.ts";
import { element } from "../page/element.ts";
import { wordsOf } from "../page/error-view.ts";
import { kept } from "../page/keep.ts";
import { type Changed, keyedRows } from "./keyed-rows.ts";
import { type ListOptions, moreButton, PAGE, pagePath } from "./list-view.ts";
import { type Repeating, repeatWhileShown } from "./repeat-while-shown.ts";
import type { Page, Visit } from "./visit.ts";

interface LiveListOptions<T> extends ListOptions<T> {
  readonly keyOf: (item: T) => string;
  /** The word that announces its change: `succeeded`. */
  readonly stateOf: (item: T) => string;
  /** Whether its state may change soon. */
  readonly isMoving: (item: T) => boolean;
  readonly noun: readonly [one: string, many: string];
}

export interface LiveList<T> {
  readonly view: HTMLElement;
  /** Updates one item after a change made here. */
  put(item: T): void;
}

const MOVING_MS = 5_000;
const RESTING_MS = 30_000;

export async function liveList<T>(visit: Visit, options: LiveListOptions<T>): Promise<LiveList<T>> {
  const { path, empty, keyOf, isMoving } = options;
  const first = await visit.read<Page<T>>(pagePath(path, null));
  const rows = keyedRows(options);
  rows.merge(first.data, true);
  let cursor = first.next_cursor;
  let pages = 1;
  let isReadingMore = false;
  let puts = 0;
  let hasFailed = false;
  const emptyView = element("p", { class: "empty" }, empty);
  const statusLine = element("span", { role: "status" });
  const box = element("div", {});
  const more = moreButton(visit, box, async () => {
    isReadingMore = true;
    const outcome = await visit.ask<Page<T>>("GET", pagePath(path, cursor));
    isReadingMore = false;
    if (!outcome.ok) return outcome;
    rows.append(outcome.data.data);
    cursor = outcome.data.next_cursor;
    pages += 1;
    showWhatThereIs();
    return outcome;
  });
  const repeating = repeatWhileShown(visit.signal, refresh, () =>
    hasFailed || !rows.items().some(isMoving) ? RESTING_MS : MOVING_MS,
  );
  box.append(switchOf(repeating, options.noun, statusLine), emptyView, rows.view, more);
  showWhatThereIs();
  return {
    view: box,
    put: (item) => {
      puts += 1;
      rows.put(item);
      repeating.now();
    },
  };

  /** Rereads the list from the top to the last item that may change. */
  async function refresh(): Promise<void> {
    const [pagesBefore, before] = [pages, puts];
    const fresh: T[] = [];
    let next: string | null = null;
    let read = 0;
    do {
      const outcome: Outcome<Page<T>> = await visit.ask("GET", pagePath(path, next));
      if (visit.signal.aborted) return;
      if (!outcome.ok) return failed(outcome);
      fresh.push(...outcome.data.data);
      next = outcome.data.next_cursor;
      read += 1;
    } while (next !== null && read < pagesBefore && !covers(fresh));
    if (hasFailed) statusLine.textContent = "";
    hasFailed = false;
    // Dropped if "Show more" or a local change happened meanwhile; the next refresh comes soon.
    if (isReadingMore || pages !== pagesBefore || puts !== before) return;
    const isWhole = next === null || read === pagesBefore;
    if (isWhole) cursor = next;
    announce(rows.merge(fresh, isWhole));
    showWhatThereIs();
  }

  /** Whether it includes all changing items without a gap. A list that grew by a page is read whole, otherwise it would grow for ever. */
  function covers(fresh: readonly T[]): boolean {
    const keys = new Set(fresh.map(keyOf));
    const currentItems = rows.items();
    const isMet = currentItems.some((item) => keys.has(keyOf(item)));
    return (
      isMet &&
      currentItems.length <= (pages + 1) * PAGE &&
      currentItems.every((item) => !isMoving(item) || keys.has(keyOf(item)))
    );
  }

  function failed({ failure }: Refused): void {
    hasFailed = true;
    if (failure.kind === "refused" && failure.status === 401) return void visit.redraw();
    statusLine.textContent = `Not refreshed: ${wordsOf(failure)}`;
  }

  function announce(changes: readonly Changed<T>[]): void {
    const text = changesText(changes, options);
    if (text !== "") statusLine.textContent = text;
  }

  function showWhatThereIs(): void {
    const isEmpty = rows.items().length === 0;
    emptyView.hidden = !isEmpty;
    rows.view.hidden = isEmpty;
    more.hidden = cursor === null;
  }
}

/** `1 new job, 2 succeeded.` */
function changesText<T>(
  changes: readonly Changed<T>[],
  { noun, stateOf }: Pick<LiveListOptions<T>, "noun" | "stateOf">,
): string {
  const added = changes.filter(({ before }) => before === null).length;
  const changedItems = changes.filter(({ item, before }) => before !== null && stateOf(before) !== stateOf(item));
  const words = added === 0 ? [] : [`${added} new ${noun[added === 1 ? 0 : 1]}`];
  for (const [state, same] of Map.groupBy(changedItems, ({ item }) => stateOf(item)))
    words.push(`${same.length} ${state}`);
  return words.length === 0 ? "" : `${words.join(", ")}.`;
}

const KEPT = "patchbay.console-refresh";

function switchOf(repeating: Repeating, [one]: readonly [string, string], statusLine: HTMLElement): HTMLElement {
  const box = element("input", { type: "checkbox", id: "refresh" });
  box.checked = kept()?.getItem(KEPT) !== "off";
  box.addEventListener("change", () => {
    kept()?.setItem(KEPT, box.checked ? "on" : "off");
    if (!box.checked) return repeating.stop();
    repeating.start();
    repeating.now();
  });
  if (box.checked) repeating.start();
  const how = `every ${MOVING_MS / 1000} s while a ${one} is in progress, otherwise every ${RESTING_MS / 1000} s`;
  return element(
    "div",
    { class: "row wrap" },
    element("label", {}, box, "Auto-refresh"),
    element("span", { class: "soft" }, how),
    statusLine,
  );
}
