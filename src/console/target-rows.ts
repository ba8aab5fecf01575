// The form rows of a route's targets, in the order of fallback, moved by buttons.
import type { AssignableModel } from "../contract/admin/workspace-models.ts";
import { button, element } from "../page/element.ts";
import { type TargetRow, targetRow } from "./target-row.ts";
import { NEW_TARGET, type Target } from "./route-shape.ts";

interface TargetRows {
  readonly view: HTMLElement;
  /** The targets; an Error if one is invalid. */
  readonly value: () => readonly Target[] | Error;
}

/** The API refuses more. */
const MAX_TARGETS = 20;

/** `say` announces a move to screen readers. */
export function targetRows(
  models: readonly AssignableModel[],
  targets: readonly Target[],
  say: (text: string) => void,
): TargetRows {
  const list = element("ol", { class: "plain" });
  let rows: readonly TargetRow[] = [];
  const place = (next: readonly TargetRow[]): void => {
    rows = next;
    list.replaceChildren(...rows.map(({ box }) => element("li", {}, box)));
    for (const [index, row] of rows.entries()) row.number(index, rows.length);
  };
  const make = (target: Target): TargetRow => {
    const row: TargetRow = targetRow(models, target, {
      move: (by) => {
        const at = rows.indexOf(row);
        place(rows.toSpliced(at, 1).toSpliced(at + by, 0, row));
        row.focusMove(by);
        say(`${row.name()} is target ${at + by + 1} of ${rows.length} now.`);
      },
      remove: () => {
        const at = rows.indexOf(row);
        place(rows.toSpliced(at, 1));
        (rows[Math.min(at, rows.length - 1)]?.focus ?? (() => add.focus()))();
        say(`${row.name()} was removed from the targets.`);
      },
    });
    return row;
  };
  const add = button("Add a target", () => {
    const row = make(newTarget(models, rows));
    place([...rows, row]);
    row.focus();
  });
  place(targets.map(make));
  return {
    view: element("div", {}, list, add),
    value: () => {
      if (rows.length === 0) return new Error("A route needs at least one target.");
      if (rows.length > MAX_TARGETS) return new Error(`A route has at most ${MAX_TARGETS} targets: remove some.`);
      const values: Target[] = [];
      for (const [index, row] of rows.entries()) {
        const value = row.value(index);
        if (value instanceof Error) return value;
        values.push(value);
      }
      return values;
    },
  };
}

/** The first model that is not a target yet. */
function newTarget(models: readonly AssignableModel[], rows: readonly TargetRow[]): Target {
  const names = new Set(rows.map((row) => row.name()));
  const callable = models.filter(({ assignable }) => assignable);
  const free = callable.find(({ connection, model }) => !names.has(`${connection ?? ""}: ${model}`)) ?? callable[0];
  return {
    ...NEW_TARGET,
    connection: free?.connection ?? "",
    model: free?.model ?? "",
  };
}
