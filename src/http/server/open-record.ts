// Decides which requests leave a record, and who owns it: all requests to endpoints that pick a model, and requests with a key that reached no
// endpoint [requests.one-record] [requests.no-endpoint].
import { type EndpointContract, endpointName } from "../../contract/endpoints/endpoint.ts";
import type { EdgePrincipal } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { type RecordedExchange, recordUntilEnd } from "./record-until-end.ts";
import type { Frame } from "./frame.ts";

/** Null: this endpoint leaves no record. */
export function openRecord<P extends EdgePrincipal>(
  contract: EndpointContract,
  frame: Pick<Frame<P>, "openRecord">,
  exchange: Exchange,
  principal: P | null,
): RecordedExchange | null {
  return contract.isRouted === true ? open(endpointName(contract), frame, exchange, principal) : null;
}

/**
 * For requests refused because of their head, or because there is no such endpoint (null), before their key was checked. The key is checked now,
 * while the response is being sent; if that fails, the record has no owner, as without a key.
 */
export async function recordRefused<P extends EdgePrincipal>(
  contract: EndpointContract | null,
  frame: Frame<P>,
  exchange: Exchange,
): Promise<void> {
  if (frame.openRecord === undefined || (contract !== null && contract.isRouted !== true)) return;
  const authorization = onlyAuthorization(exchange.raw.rawHeaders);
  const principal = authorization === undefined ? null : await frame.authenticate(authorization).catch(() => null);
  if (contract !== null) openRecord(contract, frame, exchange, principal);
  // Anyone can send such requests: without a key they are counted and logged like any exchange, but not recorded.
  else if (principal !== null) open(`${exchange.method} (none)`, frame, exchange, principal);
}

function open<P extends EdgePrincipal>(
  endpoint: string,
  frame: Pick<Frame<P>, "openRecord">,
  exchange: Exchange,
  principal: P | null,
): RecordedExchange | null {
  const record = frame.openRecord?.({
    requestId: exchange.id,
    endpoint,
    principal,
    receivedAtMs: exchange.receivedAtMs,
    hasIdempotencyKey: exchange.headers["idempotency-key"] !== undefined,
  });
  return record === undefined ? null : recordUntilEnd(record, exchange);
}

/** With two keys the owner of the request is ambiguous. */
function onlyAuthorization(rawHeaders: readonly string[]): string | undefined {
  const values = rawHeaders.filter(
    (_text, index) => rawHeaders[index - 1]?.toLowerCase() === "authorization" && index % 2 === 1,
  );
  return values.length === 1 ? values[0] : undefined;
}
