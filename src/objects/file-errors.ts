// Recognises errors of the file system by their codes, above all a missing file, which another process may have removed.
import { errorCode } from "../lib/error-code.ts";

export function hasErrorCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes(errorCode(error) ?? "");
}

/** The result of a file operation, or null if there is no such file. */
export async function nullIfMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (hasErrorCode(error, ["ENOENT"])) return null;
    throw error;
  }
}
