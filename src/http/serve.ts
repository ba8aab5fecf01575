// The frame around a handler: key, scope, content encoding, then the handler, unless the exchange is cut first
// (contract 1, order of judgement).
import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../contract/errors.ts";
import { brand } from "../contract/ids.ts";
import { onFirstRead, watchBodyRate } from "./body-rate.ts";
import type { Edge } from "./edge.ts";
import type { EdgePrincipal, Endpoint } from "./endpoint.ts";
import { requireScope } from "./require-scope.ts";
import { sendReply } from "./send.ts";

export type Authenticate<P extends EdgePrincipal> = (authorization: string | undefined) => Promise<P>;

export function serve<P extends EdgePrincipal>(
  app: FastifyInstance,
  endpoint: Endpoint<P>,
  edge: Edge,
  authenticate: Authenticate<P>,
): void {
  const { contract, handle } = endpoint;
  const principals = new WeakMap<FastifyRequest, P>();
  app.route({
    method: contract.method,
    url: contract.path,
    onRequest: async (request) => {
      if (contract.auth === "none") return;
      const principal = await authenticate(request.headers.authorization);
      if (contract.scope !== undefined) requireScope(principal, contract.scope);
      principals.set(request, principal);
    },
    handler: async (request, reply) => {
      const { raw } = request;
      const exchange = edge.exchanges.get(raw);
      if (exchange === undefined) throw new Error("the exchange was not opened");
      refuseEncoding(request);
      onFirstRead(raw, () => {
        if (raw.headers.expect !== undefined && !reply.raw.headersSent) reply.raw.writeContinue();
        watchBodyRate(raw, reply.raw, {
          socket: exchange.socket,
          limits: edge.limits,
          schedule: edge.schedule,
          tooSlow: exchange.cut,
        });
      });
      const handled = handle({
        requestId: brand("request", request.id),
        request,
        principal: principals.get(request) ?? null,
        clientGone: exchange.signal,
        receivedAt: exchange.receivedAt,
      });
      return sendReply(edge, request, reply, await Promise.race([handled, exchange.cutOff]));
    },
  });
}

/** Request bodies are never decompressed, which removes decompression bombs altogether (bad-input case 105). */
function refuseEncoding(request: FastifyRequest): void {
  const encoding = request.headers["content-encoding"];
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", {
    message: "Compressed request bodies are not taken; send the body without Content-Encoding.",
    param: "content-encoding",
  });
}
