// A member of a record that is named by somebody else: `constructor` and its like are in every object, and mean nothing there.

export function memberOf<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
