// Computes the difference that `patchbay apply` prints: objects created, changed, removed or no longer managed. Both states are read from storage, so that
// the difference contains everything that was written.
import type { SetUpChangeView } from "../contract/admin/apply.ts";
import { formatUsd } from "../metering/money.ts";
import { type ChangedValue, changedValues } from "./changed-values.ts";
import type { SetUpState, StateRow } from "./store/set-up-state.ts";

export interface SetUpChange extends SetUpChangeView {
  /** What differs in an object that was there before. */
  readonly values: readonly ChangedValue[];
}

/** Returns the changes by kind and name. */
export function differenceOf(before: SetUpState, after: SetUpState): readonly SetUpChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => {
    const [previous, current] = [before.get(name), after.get(name)];
    const row = current ?? previous;
    const action = actionOf(previous, current);
    return row === undefined || action === null
      ? []
      : [{ action, kind: row.kind, name: row.name, values: valuesOf(previous, current) }];
  });
}

function actionOf(previous: StateRow | undefined, current: StateRow | undefined): SetUpChangeView["action"] | null {
  if (previous === undefined) return "created";
  if (current === undefined) return "removed";
  if (previous.managed_by !== "api" && current.managed_by === "api") return "released";
  return previous.content === current.content && previous.managed_by === current.managed_by ? null : "changed";
}

function valuesOf(previous: StateRow | undefined, current: StateRow | undefined): readonly ChangedValue[] {
  if (previous === undefined || current === undefined) return [];
  const values = changedValues(settingsOf(previous), settingsOf(current));
  if (previous.managed_by === current.managed_by) return values;
  return [...values, { path: "managed_by", before: previous.managed_by, after: current.managed_by }];
}

/** Amounts of plans and budgets are stored in billionths of a dollar. */
function settingsOf({ kind, content }: StateRow): unknown {
  return JSON.parse(content, (name, value: unknown) =>
    (kind === "plan" || kind === "budget") && name.endsWith("_usd") && typeof value === "string"
      ? formatUsd(BigInt(value))
      : value,
  );
}
