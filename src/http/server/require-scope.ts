// Throws 403 for a key that lacks the scope of an endpoint, or of one mode of it, or the operator role [keys.scopes].
import { GatewayError } from "../../contract/errors.ts";
import type { EdgePrincipal } from "./endpoint.ts";

export function requireScope({ scopes }: EdgePrincipal, scope: string): void {
  if (scopes.includes(scope)) return;
  throw new GatewayError("FORBIDDEN", {
    message: `This key lacks the scope ${scope}.`,
    details: { required: [scope] },
  });
}

export function requireOperator({ key }: EdgePrincipal): void {
  if (key?.role === "operator") return;
  throw new GatewayError("FORBIDDEN", {
    message: "This requires an operator key.",
    details: { required: ["operator"] },
  });
}
