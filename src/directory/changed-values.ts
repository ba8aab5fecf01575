// Compares two JSON values and lists the leaves that differ, named as in the configuration file: `targets[0].model`.

export interface ChangedValue {
  readonly path: string;
  /** Undefined: there was none. */
  readonly before: unknown;
  readonly after: unknown;
}

/** A setting that is `null` is not set. */
export function changedValues(before: unknown, after: unknown): readonly ChangedValue[] {
  return compare(before, after, "").map((each) => ({ ...each, path: each.path.replace(/^\./u, "") }));
}

function compare(before: unknown, after: unknown, path: string): readonly ChangedValue[] {
  if (isEmpty(before) && isEmpty(after)) return [];
  const parts = partsOf(before, after);
  if (parts !== null) return parts.flatMap(([name, one, other]) => compare(one, other, `${path}${name}`));
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

type Part = readonly [name: string, before: unknown, after: unknown];

/** Null: at least one of them has no parts, so they are compared as a whole. */
function partsOf(before: unknown, after: unknown): readonly Part[] | null {
  if (isList(before) && isList(after))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) => [
      `[${index}]`,
      before[index],
      after[index],
    ]);
  if (!isObject(before) || !isObject(after)) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].toSorted().map((name) => [`.${asInFile(name)}`, before[name], after[name]]);
}

/** Settings are stored in camel case. Other names, such as those of models and purposes, are kept. */
function asInFile(name: string): string {
  return /^[a-z]+(?:[A-Z][a-z]+)+$/u.test(name)
    ? name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)
    : name;
}

function isEmpty(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
