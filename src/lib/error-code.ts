// Reads the `code` of errors from Node.js and the database driver (`ENOENT`, `40P01`), which their types do not declare.

/** Null: it has none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
