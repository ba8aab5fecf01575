// Decides which requests leave a record, and who owns it: all requests to endpoints that pick a model, and requests with a key that reached no
// endpoint [requests.one-record] [requests.no-endpoint].
import type { FastifyReply, FastifyRequest } from "fastify";
import { brand } from "../../contract/ids.ts";
import { type EndpointContract, endpointName } from "../../contract/endpoints/endpoint.ts";
import type { EdgePrincipal } from "./endpoint.ts";
import { exchangeOf } from "./exchange.ts";
import { type RecordedExchange, recordUntilEnd } from "./record-until-end.ts";
import type { Frame } from "./frame.ts";

/** As proxies log it. Never sent, because the client has disconnected. */
export const CLIENT_GONE = 499;

interface Opening<P> {
  readonly endpoint: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly principal: P | null;
}

/** Null: this endpoint leaves no record. */
export function openRecord<P extends EdgePrincipal>(
  contract: EndpointContract,
  frame: Pick<Frame<P>, "openRecord">,
  opening: Opening<P>,
): RecordedExchange | null {
  return contract.isRouted === true ? open(frame, opening) : null;
}

/**
 * For requests refused because of their head, or because there is no such endpoint (null), before their key was checked. The key is checked now,
 * while the response is being sent; if that fails, the record has no owner, as without a key.
 */
export async function recordRefused<P extends EdgePrincipal>(
  contract: EndpointContract | null,
  frame: Frame<P>,
  { request, reply }: Pick<Opening<P>, "request" | "reply">,
): Promise<void> {
  if (frame.openRecord === undefined || (contract !== null && contract.isRouted !== true)) return;
  const authorization = onlyAuthorization(request.raw.rawHeaders);
  const principal = authorization === undefined ? null : await frame.authenticate(authorization).catch(() => null);
  const endpoint = contract === null ? `${request.method} (none)` : endpointName(contract);
  if (contract !== null) openRecord(contract, frame, { endpoint, request, reply, principal });
  // Anyone can send such requests: without a key they are counted and logged like any exchange, but not recorded.
  else if (principal !== null) open(frame, { endpoint, request, reply, principal });
}

function open<P extends EdgePrincipal>(
  frame: Pick<Frame<P>, "openRecord">,
  { endpoint, request, reply, principal }: Opening<P>,
): RecordedExchange | null {
  const exchange = exchangeOf(request.raw);
  if (frame.openRecord === undefined || exchange === null) return null;
  const record = frame.openRecord({
    requestId: brand("request", request.id),
    endpoint,
    principal,
    receivedAtMs: exchange.receivedAtMs,
    hasIdempotencyKey: request.headers["idempotency-key"] !== undefined,
  });
  return recordUntilEnd(record, exchange, () => (exchange.isGone ? CLIENT_GONE : reply.raw.statusCode));
}

/** With two keys the owner of the request is ambiguous. */
function onlyAuthorization(rawHeaders: readonly string[]): string | undefined {
  const values = rawHeaders.filter(
    (_text, index) => rawHeaders[index - 1]?.toLowerCase() === "authorization" && index % 2 === 1,
  );
  return values.length === 1 ? values[0] : undefined;
}
