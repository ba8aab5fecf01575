// The public format of an Idempotency-Key [idempotency.key-format]: enforced only on endpoints that use the key [idempotency.ignored].
import { GatewayError } from "./errors.ts";
import { invalidRequest } from "./invalid-request.ts";

const FORM = /^[\x21-\x7e]{1,255}$/;

/** The refusal, or null. */
export function malformedKey(key: string): GatewayError | null {
  if (FORM.test(key)) return null;
  return invalidRequest("idempotency-key", "Idempotency-Key must be 1 to 255 visible ASCII characters.");
}

export function keyReused(): GatewayError {
  return new GatewayError("IDEMPOTENCY_KEY_REUSED", {
    message:
      "This Idempotency-Key was used before with another payload or on another endpoint. Use a new key for a new request.",
    param: "idempotency-key",
  });
}

export function refuseMalformedKey(key: string): void {
  const refusal = malformedKey(key);
  if (refusal !== null) throw refusal;
}
