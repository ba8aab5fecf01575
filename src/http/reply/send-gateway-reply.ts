// An answer as the gateway made it, or stored it, on its way out: status, headers and body as they are.
import type { GatewayReply } from "../../gateway/reply.ts";
import type { Reply } from "../server/endpoint.ts";

export function sendGatewayReply({ status, headers, body, isExclusive }: GatewayReply): Reply {
  const contentType = headers["content-type"] ?? "application/json; charset=utf-8";
  return {
    status,
    headers,
    body:
      typeof body === "string"
        ? { text: body, contentType }
        : isExclusive === true
          ? { pieces: [body], contentType }
          : { bytes: body, contentType },
  };
}
