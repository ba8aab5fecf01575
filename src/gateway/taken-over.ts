// A request whose idempotency slot is another's by now: its lease lapsed before anything was dispatched (contract 3), and that one answers.
import { GatewayError } from "../contract/errors.ts";

export function takenOver(): GatewayError {
  return new GatewayError("IDEMPOTENCY_REPLAY_IN_PROGRESS", {
    message: "Another request with this Idempotency-Key has taken over. Retry after a few seconds with the same key.",
  });
}
