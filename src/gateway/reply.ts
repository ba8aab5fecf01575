// An answer as the gateway hands it to the edge, and as an idempotency slot keeps it: status, a few headers, a body.
import { jsonBytes } from "../lib/json/write-json.ts";

export interface GatewayReply {
  readonly status: number;
  /** Content type and facts beside the body; never the request id, which is the edge's. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text leaves in one piece with its head, where bytes are a second one. */
  readonly body: string | Buffer;
  /** Nothing else holds the body: its memory can be freed as soon as it is sent. */
  readonly isExclusive?: true;
}

type Headers = GatewayReply["headers"];

export function jsonReply(status: number, value: unknown, headers: Headers = {}): GatewayReply {
  return { status, headers: typed("application/json", headers), body: JSON.stringify(value) };
}

/** Of a transcript, which may be long: then others have their turns while it is written. */
export async function transcriptReply(value: unknown, headers: Headers = {}): Promise<GatewayReply> {
  return { status: 200, headers: typed("application/json", headers), body: await jsonBytes(value) };
}

export function textReply(contentType: string, text: string, headers: Headers): GatewayReply {
  return { status: 200, headers: typed(contentType, headers), body: text };
}

function typed(contentType: string, headers: Headers): Headers {
  return { "content-type": `${contentType}; charset=utf-8`, ...headers };
}
