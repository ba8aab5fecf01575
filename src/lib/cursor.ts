// Opaque pagination cursors. A cursor is valid only for the list that returned it.

export function encodeCursor(list: string, position: string): string {
  return Buffer.from(JSON.stringify([list, position])).toString("base64url");
}

/** Null: not a cursor of this list. */
export function decodeCursor(list: string, cursor: string): string | null {
  if (!/^[A-Za-z0-9_-]+$/u.test(cursor)) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || parsed.length !== 2) return null;
  const [of, position] = parsed as readonly unknown[];
  return of === list && typeof position === "string" ? position : null;
}
