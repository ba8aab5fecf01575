// A 400 about one field or header: named by `param`, and listed like every fault in `details.issues` (contract 1).
import { GatewayError } from "./errors.ts";

export function invalidRequest(param: string | null, message: string): GatewayError {
  return new GatewayError("INVALID_REQUEST", {
    message,
    param: param ?? undefined,
    details: { issues: [{ param, message }] },
  });
}
