// Maps a full disk to a temporary overload error, not an internal error [measuring.spool-full]: nothing was started, and the caller may retry.
import { GatewayError } from "../contract/errors.ts";
import { errorCode } from "../lib/error-code.ts";

/** Disk full, quota exceeded, and the process's file size limit. */
const CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** The error to return for a failed write. Null: it failed for another reason. */
export function diskFullError(cause: unknown): GatewayError | null {
  if (!CODES.has(errorCode(cause) ?? "")) return null;
  return new GatewayError("OVERLOADED", { message: "The gateway cannot store more audio at the moment.", cause });
}
