// Reads an own member of a record by a foreign name: `constructor` and other inherited members are not found.

export function ownProperty<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
