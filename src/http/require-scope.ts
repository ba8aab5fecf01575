// The 403 of a key without the scope that an endpoint, or a mode of it, asks for (contract 2).
import { GatewayError } from "../contract/errors.ts";
import type { EdgePrincipal } from "./endpoint.ts";

export function requireScope({ scopes }: EdgePrincipal, scope: string): void {
  if (scopes.includes(scope)) return;
  throw new GatewayError("FORBIDDEN", {
    message: `This key lacks the scope ${scope}.`,
    details: { required: [scope] },
  });
}
