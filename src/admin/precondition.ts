// Lost updates are refused (contract 10): a change names the state it was made from, judged under the lock of the row.
import { GatewayError } from "../contract/errors.ts";
import { etagOf } from "../lib/etag.ts";

/** What `If-Match` said: tags, `any` for `*`, or null when it was not sent. */
export type Precondition = readonly string[] | "any" | null;

/** Moves by itself, or is in one answer only. */
const UNSTABLE: ReadonlySet<string> = new Set(["last_used_at", "secret", "usage"]);

export function viewEtag(view: object): string {
  return etagOf(view, UNSTABLE);
}

/** Of a change that replaces the whole: it must say what it replaces. */
export function requireMatch(precondition: Precondition, current: object): void {
  if (precondition === null) {
    throw new GatewayError("PRECONDITION_REQUIRED", {
      message: "This replaces the whole object: send the ETag of the state that you read as If-Match.",
      param: "if-match",
    });
  }
  allowMatch(precondition, current);
}

/** Of any other change: what was sent must hold. `null`: there is no such object yet. */
export function allowMatch(precondition: Precondition, current: object | null): void {
  if (precondition === null || (precondition === "any" && current !== null)) return;
  if (current !== null && precondition !== "any" && precondition.includes(viewEtag(current))) return;
  throw new GatewayError("PRECONDITION_FAILED", {
    message: "The object is not, or no longer, in the state that If-Match names. Read it again.",
    param: "if-match",
  });
}
