// Prevents lost updates (`If-Match`) [admin.lost-update]: a change names the ETag of the state that it is based on, which is compared under the row's lock.
import { GatewayError } from "../contract/errors.ts";
import { etagOf } from "../lib/etag.ts";

/** `If-Match` as its tags, or `any` for `*`. `absent` for `If-None-Match: *`. Null: neither was sent. */
export type Precondition = readonly string[] | "any" | "absent" | null;

/** Fields that change by themselves, are shown only once, or belong to others and do not conflict with the edit. */
const UNSTABLE: ReadonlySet<string> = new Set([
  "failing_since",
  "global_domains",
  "last_used_at",
  "max_domains",
  // Expires by itself. Setting or ending it also changes `updated_at`.
  "previous_secret_until",
  "secret",
  "usage",
]);

export function viewEtag(view: object): string {
  return etagOf(view, UNSTABLE);
}

/** For a change that replaces the whole object: a precondition is required. */
export function requireMatch(precondition: Precondition, current: object): void {
  if (precondition === null) {
    throw new GatewayError("PRECONDITION_REQUIRED", {
      message: "This replaces the whole object: send the ETag of the state that you read as If-Match.",
      param: "if-match",
    });
  }
  allowMatch(precondition, current);
}

/** For any other change: a precondition is optional. `current` null: there is no such object yet. */
export function allowMatch(precondition: Precondition, current: object | null): void {
  if (precondition === null || isMet(precondition, current)) return;
  throw new GatewayError("PRECONDITION_FAILED", {
    message: "The object does not match the state that the request names. Read it again.",
    param: precondition === "absent" ? "if-none-match" : "if-match",
  });
}

function isMet(precondition: NonNullable<Precondition>, current: object | null): boolean {
  if (precondition === "absent") return current === null;
  return current !== null && (precondition === "any" || precondition.includes(viewEtag(current)));
}
