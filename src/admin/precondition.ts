// Refuses lost updates [admin.lost-update]: a change names the state it was made from, judged under the lock of the row.
import { GatewayError } from "../contract/errors.ts";
import { etagOf } from "../lib/etag.ts";

/** What `If-Match` said: tags, `any` for `*`; `absent` for `If-None-Match: *`; or null when neither was sent. */
export type Precondition = readonly string[] | "any" | "absent" | null;

/** Moves by itself, is in one answer only, or belongs to somebody whose change undoes nothing of the editor's. */
const UNSTABLE: ReadonlySet<string> = new Set([
  "failing_since",
  "global_domains",
  "last_used_at",
  "max_domains",
  // Ended by its hour. Whoever makes or ends one also moves `updated_at`.
  "previous_secret_until",
  "secret",
  "usage",
]);

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
  if (precondition === null || isMet(precondition, current)) return;
  throw new GatewayError("PRECONDITION_FAILED", {
    message: "The object is not, or no longer, in the state that the request names. Read it again.",
    param: precondition === "absent" ? "if-none-match" : "if-match",
  });
}

function isMet(precondition: NonNullable<Precondition>, current: object | null): boolean {
  if (precondition === "absent") return current === null;
  return current !== null && (precondition === "any" || precondition.includes(viewEtag(current)));
}
