// Which requests leave a record, and who owns it: those to endpoints that pick a model, whatever their outcome, and those that reached no
// endpoint, if they came with a key [requests.one-record] [requests.no-endpoint].
import type { FastifyReply, FastifyRequest } from "fastify";
import { brand } from "../../contract/ids.ts";
import { type EndpointContract, endpointName } from "../../contract/endpoint.ts";
import type { Edge } from "./edge.ts";
import type { EdgePrincipal } from "./endpoint.ts";
import { type Recorded, recordUntilEnd } from "./record-until-end.ts";
import type { Frame } from "./frame.ts";

/** As proxies write it; never sent, for nobody was left to read it. */
export const CLIENT_GONE = 499;

interface Opening<P> {
  readonly endpoint: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly principal: P | null;
}

/** Null where the endpoint leaves none. */
export function openRecord<P extends EdgePrincipal>(
  edge: Edge,
  contract: EndpointContract,
  frame: Pick<Frame<P>, "openRecord">,
  opening: Opening<P>,
): Recorded | null {
  return contract.isRouted === true ? open(edge, frame, opening) : null;
}

/**
 * Of a request that was refused for its head, or for want of an endpoint (null): before anybody asked for its key. So that is asked
 * now, with the answer on its way; where it is not to be had, the record is nobody's, as without a key.
 */
export async function recordRefused<P extends EdgePrincipal>(
  edge: Edge,
  contract: EndpointContract | null,
  frame: Frame<P>,
  { request, reply }: Pick<Opening<P>, "request" | "reply">,
): Promise<void> {
  if (frame.openRecord === undefined || (contract !== null && contract.isRouted !== true)) return;
  const authorization = onlyAuthorization(request.raw.rawHeaders);
  const principal =
    authorization === undefined ? null : await Promise.resolve(frame.authenticate(authorization)).catch(() => null);
  const endpoint = contract === null ? `${request.method} (none)` : endpointName(contract);
  if (contract !== null) openRecord(edge, contract, frame, { endpoint, request, reply, principal });
  // Anybody can ask for anything: without a key these are counted and logged like any exchange, and no more.
  else if (principal !== null) open(edge, frame, { endpoint, request, reply, principal });
}

function open<P extends EdgePrincipal>(
  edge: Edge,
  frame: Pick<Frame<P>, "openRecord">,
  { endpoint, request, reply, principal }: Opening<P>,
): Recorded | null {
  const exchange = edge.exchanges.get(request.raw);
  if (frame.openRecord === undefined || exchange === undefined) return null;
  const opened = frame.openRecord({
    requestId: brand("request", request.id),
    endpoint,
    principal,
    receivedAtMs: exchange.receivedAtMs,
    hasIdempotencyKey: request.headers["idempotency-key"] !== undefined,
  });
  return recordUntilEnd(opened, exchange, () => (exchange.isGone ? CLIENT_GONE : reply.raw.statusCode));
}

/** Of two keys it is not known whose request it is. */
function onlyAuthorization(rawHeaders: readonly string[]): string | undefined {
  const values = rawHeaders.filter(
    (_text, index) => rawHeaders[index - 1]?.toLowerCase() === "authorization" && index % 2 === 1,
  );
  return values.length === 1 ? values[0] : undefined;
}
