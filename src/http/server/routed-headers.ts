// Reads the headers of routed requests. `head.ts` has already checked for every endpoint that each is sent once and is well-formed
// [api.single-headers]. Only the policy is validated here; the idempotency key is validated where it is used.
// Whether the body's purpose or the header counts is decided in `routing/resolve-purpose.ts` [routing.purpose-selects-route].
import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../contract/invalid-request.ts";

export interface RoutedHeaders {
  readonly purpose: string | null;
  readonly policy: "fallback" | "strict" | null;
  readonly idempotencyKey: string | null;
}

export function routedHeaders(headers: IncomingHttpHeaders): RoutedHeaders {
  const policy = single(headers["x-svc-purpose-policy"]);
  if (policy !== null && policy !== "fallback" && policy !== "strict") {
    throw invalidRequest("x-svc-purpose-policy", "The header X-SVC-Purpose-Policy must be fallback or strict.");
  }
  return {
    purpose: single(headers["x-svc-purpose"]),
    policy,
    idempotencyKey: idempotencyKeyOf(headers),
  };
}

/** For endpoints that use the key without being routed. `head.ts` has validated its form. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  return single(headers["idempotency-key"]);
}

/** Node's type allows a list, but Node returns none for these headers. */
function single(value: string | readonly string[] | undefined): string | null {
  return typeof value === "string" ? value : null;
}
