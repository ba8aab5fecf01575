// Takes each request from the router to its response: refuses it by its head, or runs its endpoint at the end of the event-loop tick, and answers
// every error [errors.one-body] [errors.head-order].
import type { EndpointContract } from "../../contract/endpoints/endpoint.ts";
import type { GatewayError } from "../../contract/errors.ts";
import { sendError } from "../reply/send.ts";
import type { Edge } from "./edge.ts";
import type { EdgePrincipal } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import type { Frame } from "./frame.ts";
import { canonicalPath, refuseHead } from "./head.ts";
import { recordRefused } from "./open-record.ts";

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** An endpoint that the router has found. */
export interface Route {
  readonly contract: EndpointContract;
  /** Sends the response. Rejects with the error to send instead. */
  readonly run: (exchange: Exchange) => Promise<void>;
}

/** Each calls back at the end of the tick. */
export interface RequestBatches {
  /** In groups: what calls a provider takes long enough for others to wait. */
  readonly routed: (work: () => void) => void;
  /** All of a tick. A tick later a client that closed its side after its request would count as disconnected. */
  readonly other: (work: () => void) => void;
}

/**
 * Returns the function that is called for each request; null means that no endpoint has its method and path, and `noEndpoint` returns the error of such
 * a target.
 */
export function createDispatcher<P extends EdgePrincipal>(
  edge: Edge,
  frame: Frame<P>,
  noEndpoint: (target: string) => GatewayError,
  batches: RequestBatches,
): (exchange: Exchange, found: Route | null) => void {
  const answer = async (exchange: Exchange, found: Route | null): Promise<void> => {
    const { raw, response } = exchange;
    try {
      const target = raw.url ?? "";
      // The router compares decoded paths, but here a path has only one spelling.
      const isPlain = canonicalPath(target) !== null || found?.contract.aliasPattern?.test(target) === true;
      const route = isPlain ? found : null;
      // Reads ignore an idempotency key, and so does a routed request that turns out to be a stream or a dry run.
      const judgesIdempotencyKey = !READS.has(exchange.method) && route?.contract.isRouted !== true;
      const refusal = refuseHead(raw, { ...edge, judgesIdempotencyKey });
      if (refusal !== null || route === null) {
        void recordRefused(route?.contract ?? null, frame, exchange);
        throw refusal ?? noEndpoint(target);
      }
      if (!skipsBatch(exchange))
        await new Promise<void>(route.contract.isRouted === true ? batches.routed : batches.other);
      await route.run(exchange);
    } catch (error) {
      if (response.headersSent) throw error;
      sendError(edge, exchange, error);
    }
  };

  return (exchange, found) => {
    observe(edge, exchange);
    // The response had begun, or its error cannot be sent.
    answer(exchange, found).catch((err: unknown) => {
      edge.logger.error({ request_id: exchange.id, route: exchange.route, err });
      if (!exchange.response.writableEnded) exchange.response.destroy();
    });
  };
}

/**
 * These requests do not wait for the end of the tick. By then a client that closed its side after several requests would count as disconnected, and
 * the body of a request with `Expect` may have arrived early: Node closes a connection to which 100 was not sent.
 */
function skipsBatch({ raw, headers }: Exchange): boolean {
  return raw.wasQueued || headers.expect !== undefined;
}

/** Reports the exchange to the trace and the metrics, and logs it when it ends. */
function observe(edge: Edge, exchange: Exchange): void {
  const { id, method, route, receivedAtMs: startedAtMs } = exchange;
  // Node joins repeated headers, and the result is no valid `traceparent`.
  edge.watch?.arrived(id, exchange.headers["traceparent"]?.toString());
  exchange.onClose(() => {
    const { status, code } = exchange;
    const endedAtMs = edge.nowMs();
    const traceIdOf = edge.watch?.traceIdOf ?? null;
    const line = { request_id: id, method, route, status, code, ms: endedAtMs - startedAtMs };
    edge.logger.info(traceIdOf === null ? line : { ...line, trace_id: traceIdOf(id) });
    edge.watch?.exchanged({ requestId: id, method, route, status, startedAtMs, endedAtMs });
  });
}
