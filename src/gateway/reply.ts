// An answer of the gateway, as it is passed to the HTTP layer and stored in an idempotency slot: status, a few headers and a body.
import { jsonBytes } from "../lib/json/write-json.ts";

export interface GatewayReply {
  readonly status: number;
  /** The content type and facts that the body has no field for. The request id is not among them: the HTTP layer adds it. */
  readonly headers: Readonly<Record<string, string>>;
  /** A string is sent in one piece with the head, a buffer in a second one. */
  readonly body: string | Buffer;
  /** The body is not referenced elsewhere: its memory can be freed as soon as it is sent. */
  readonly isExclusive?: true;
}

type Headers = GatewayReply["headers"];

export function jsonReply(status: number, value: unknown, headers: Headers = {}): GatewayReply {
  return { status, headers: withContentType("application/json", headers), body: JSON.stringify(value) };
}

/** Serialises a transcript over several event-loop ticks if it is long. */
export async function transcriptReply(value: unknown, headers: Headers = {}): Promise<GatewayReply> {
  return { status: 200, headers: withContentType("application/json", headers), body: await jsonBytes(value) };
}

export function textReply(contentType: string, text: string, headers: Headers): GatewayReply {
  return { status: 200, headers: withContentType(contentType, headers), body: text };
}

function withContentType(contentType: string, headers: Headers): Headers {
  return { "content-type": `${contentType}; charset=utf-8`, ...headers };
}
