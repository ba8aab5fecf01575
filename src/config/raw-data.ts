// Reads fields of data that no schema has checked yet: a value that is absent or of the wrong type counts as absent, and the schema reports it later.
import type { FaultPath } from "./fault.ts";
import type { SchemaFault } from "./schema-faults.ts";

/** A list item with its path from the root of the file. */
export interface Entry {
  readonly path: FaultPath;
  readonly value: unknown;
}

export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

export function text(value: unknown, name: string): string | undefined {
  const content = field(value, name);
  return typeof content === "string" ? content : undefined;
}

export function map(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Returns the maps in the list at `names` below `value`. */
export function entries(value: unknown, names: readonly string[], base: FaultPath = []): readonly Entry[] {
  const list = names.reduce(field, value);
  if (!Array.isArray(list)) return [];
  return list.flatMap((member: unknown, index) =>
    typeof member === "object" && member !== null ? [{ path: [...base, ...names, index], value: member }] : [],
  );
}

/** Reports each entry that repeats the `name` of an earlier one. */
export function unique(list: readonly Entry[], name: string): readonly SchemaFault[] {
  const namedEntries = list
    .filter((entry) => text(entry.value, name) !== undefined)
    .map((entry) => ({ ...entry, path: [...entry.path, name] }));
  return findDuplicates(
    namedEntries,
    (entry) => text(entry.value, name) ?? "",
    "this name is already used by an earlier entry",
  );
}

export function findDuplicates(
  list: readonly Entry[],
  nameOf: (entry: Entry) => string,
  message: string,
): readonly SchemaFault[] {
  const seen = new Set<string>();
  return list.flatMap((entry) => {
    const name = nameOf(entry);
    if (seen.has(name)) return [{ path: entry.path, message }];
    seen.add(name);
    return [];
  });
}
