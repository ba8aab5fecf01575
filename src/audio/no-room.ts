// A disk without room is a gateway that is too full at the moment, not an internal error [measuring.spool-full]: nothing was begun, retry.
import { GatewayError } from "../contract/errors.ts";
import { errorCode } from "../lib/error-code.ts";

/** The disk, the quota, and the limit of the process. */
const CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** What to tell the caller of a write that failed; null: it failed for another reason. */
export function noRoom(cause: unknown): GatewayError | null {
  if (!CODES.has(errorCode(cause) ?? "")) return null;
  return new GatewayError("OVERLOADED", { message: "The gateway has no room for more audio at the moment.", cause });
}
