// Rejects the fields by which a caller would choose a provider or model: `provider`, `model`, `audio.provider` and `audio.model`
// [request-body.route-control].
import { GatewayError } from "../../contract/errors.ts";

export const ROUTE_CONTROL_FIELDS: ReadonlySet<string> = new Set([
  "provider",
  "model",
  "audio.provider",
  "audio.model",
]);

export function routeControlRejected(name: string): GatewayError {
  return new GatewayError("ROUTE_CONTROL_FIELD_REJECTED", {
    message: `\`${name}\` must not be sent: the route of the API key chooses provider and model. Remove it. To select a route, send a \`purpose\`.`,
    param: name,
  });
}
