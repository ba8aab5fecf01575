// An answer as the gateway made it, or stored it, on its way out: status, headers and bytes as they are.
import type { GatewayReply } from "../gateway/reply.ts";
import type { Reply } from "./endpoint.ts";

export function sendGatewayReply({ status, headers, body }: GatewayReply): Reply {
  return { status, headers, body: { bytes: body, contentType: headers["content-type"] ?? "application/json" } };
}
