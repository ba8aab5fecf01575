// The headers of routed requests. `head.ts` has checked for every endpoint that each came once and in its published form
// [api.single-headers]; what is left is the one with words of its own, and the key, which is judged where it counts.
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

/** Where it counts beside routed requests; its form is judged by `head.ts`. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  return single(headers["idempotency-key"]);
}

/** Node's type leaves room for a list, which it makes of no header of these. */
function single(value: string | readonly string[] | undefined): string | null {
  return typeof value === "string" ? value : null;
}
