// An answer as the gateway hands it to the edge, and as an idempotency slot keeps it: status, a few headers, bytes.

export interface GatewayReply {
  readonly status: number;
  /** Content type and facts beside the body; never the request id, which is the edge's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): GatewayReply {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

export function textReply(contentType: string, text: string, headers: Readonly<Record<string, string>>): GatewayReply {
  return {
    status: 200,
    headers: { "content-type": `${contentType}; charset=utf-8`, ...headers },
    body: Buffer.from(text),
  };
}
