// The code that errors of Node.js and of database drivers carry (`ENOENT`, `40P01`), and that their types do not show.

/** Null: it carries none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
