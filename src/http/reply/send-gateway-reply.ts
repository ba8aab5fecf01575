// Converts the gateway's response, new or stored, to a reply with the same status, headers and body. The header
// `X-SVC-Idempotent-Replay` of a stored response comes from `gateway/idempotency/with-slot.ts`.
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
