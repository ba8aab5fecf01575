// Computes the difference that `patchbay apply` prints: objects created, changed, removed or no longer managed. Both states are read from storage, so that
// the difference contains everything that was written.
import type { SetUpChangeView } from "../contract/admin/apply.ts";
import type { SetUpState, StateRow } from "./store/set-up-state.ts";

/** Returns the changes by kind and name. */
export function differenceOf(before: SetUpState, after: SetUpState): readonly SetUpChangeView[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => {
    const [previous, current] = [before.get(name), after.get(name)];
    const row = current ?? previous;
    const action = actionOf(previous, current);
    return row === undefined || action === null ? [] : [{ action, kind: row.kind, name: row.name }];
  });
}

function actionOf(previous: StateRow | undefined, current: StateRow | undefined): SetUpChangeView["action"] | null {
  if (previous === undefined) return "created";
  if (current === undefined) return "removed";
  if (previous.managed_by !== "api" && current.managed_by === "api") return "released";
  return previous.content === current.content && previous.managed_by === current.managed_by ? null : "changed";
}
