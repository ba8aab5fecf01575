// What somebody else's JSON holds, as far as it is what was hoped for.

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
