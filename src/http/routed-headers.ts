// The headers of routed requests, in the published form or refused (contract 3 and 4; bad-input cases 229, 230).
// Doubled ones are refused for every endpoint in `head.ts`.
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError } from "../contract/errors.ts";

export interface RoutedHeaders {
  readonly purpose: string | null;
  readonly policy: "fallback" | "strict" | null;
  readonly idempotencyKey: string | null;
}

export function routedHeaders(headers: IncomingHttpHeaders): RoutedHeaders {
  const purpose = single(headers["x-svc-purpose"]);
  const policy = single(headers["x-svc-purpose-policy"]);
  const idempotencyKey = single(headers["idempotency-key"]);
  if (purpose !== null && !/^[\x20-\x7e]{1,200}$/.test(purpose))
    throw malformed("X-SVC-Purpose", "1 to 200 visible ASCII characters");
  if (idempotencyKey !== null && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey))
    throw malformed("Idempotency-Key", "1 to 255 visible ASCII characters");
  if (policy !== null && policy !== "fallback" && policy !== "strict")
    throw malformed("X-SVC-Purpose-Policy", "fallback or strict");
  return { purpose, policy, idempotencyKey };
}

function single(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === "string" ? value : value.join(",");
}

function malformed(header: string, expected: string): GatewayError {
  return new GatewayError("INVALID_REQUEST", {
    message: `The header ${header} must be ${expected}, sent once.`,
    param: header.toLowerCase(),
  });
}
