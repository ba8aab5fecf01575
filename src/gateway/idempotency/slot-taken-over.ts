// The error of a request after its idempotency slot was taken over: its lease lapsed before anything was dispatched, and another request answers
// [idempotency.fencing].
import { GatewayError } from "../../contract/errors.ts";

export function slotTakenOver(): GatewayError {
  return new GatewayError("IDEMPOTENCY_REPLAY_IN_PROGRESS", {
    message: "Another request with this Idempotency-Key has taken over. Retry after a few seconds with the same key.",
  });
}
