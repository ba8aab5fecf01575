// The frame around a handler: checks key, scope and content encoding, then runs the handler unless the exchange is cut first [errors.head-order].
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type EndpointContract, endpointName, isLimited } from "../../contract/endpoints/endpoint.ts";
import { brand } from "../../contract/ids.ts";
import {
  throwIfDatabaseUnavailable,
  mapDatabaseUnavailable,
  mapRolledBack,
} from "../../gateway/calls/database-unavailable.ts";
import { createAnswerRoom } from "../reply/answer-room.ts";
import { onFirstRead, watchBodyRate } from "../body/body-rate.ts";
import { refuseEncoding } from "../body/content-type.ts";
import type { Edge } from "./edge.ts";
import type { EdgePrincipal, Endpoint, EndpointWithToken, TokenCaller } from "./endpoint.ts";
import { type Exchange, exchangeOf } from "./exchange.ts";
import { openRecord } from "./open-record.ts";
import type { RecordedExchange } from "./record-until-end.ts";
import { requireOperator, requireScope } from "./require-scope.ts";
import { refuseAnyQuery } from "../body/refuse-query.ts";
import { sendReply } from "../reply/send.ts";
import type { Frame } from "./frame.ts";

interface Admitted<P> {
  readonly principal: P;
  readonly recorded: RecordedExchange | null;
  /** Re-authenticates the caller, for long-lived responses. */
  readonly authenticate: () => Promise<P>;
}

const NO_CALLER = { principal: null, recorded: null, authenticate: null };

declare module "fastify" {
  interface FastifyContextConfig {
    /** The contract of an endpoint. Absent for a path without one. */
    readonly contract?: EndpointContract;
  }
}

export function serve<P extends EdgePrincipal>(
  app: FastifyInstance,
  each: Endpoint<P> | EndpointWithToken<P>,
  edge: Edge,
  frame: Frame<P>,
): void {
  const { contract, handle } = each;
  const endpoint = endpointName(contract);
  const authenticateByToken = "authenticate" in each ? each.authenticate : () => null;
  // Routed endpoints validate their query after quotas, together with their fields. Probes and pages without a key accept any query.
  const refusesQuery = contract.query === undefined && contract.isRouted !== true && contract.auth !== "none";
  const admit = async (request: FastifyRequest, reply: FastifyReply, exchange: Exchange): Promise<Admitted<P>> => {
    const authenticateByKey = () => frame.authenticate(request.headers.authorization);
    let caller: TokenCaller<P>;
    try {
      const tokenCaller = authenticateByToken(request);
      caller =
        tokenCaller === null
          ? { principal: await authenticateByKey(), authenticate: authenticateByKey }
          : await tokenCaller;
    } catch (error) {
      openRecord(contract, frame, { endpoint, request, reply, principal: null });
      return throwIfDatabaseUnavailable(error);
    }
    const { principal, authenticate } = caller;
    const { quotaFields } = frame;
    if (isLimited(contract) && quotaFields !== undefined) exchange.fields = () => quotaFields(principal);
    const recorded = openRecord(contract, frame, { endpoint, request, reply, principal });
    requireRights(contract, principal);
    return { principal, recorded, authenticate };
  };
  app.route({
    method: contract.method,
    url: contract.path,
    config: { contract },
    handler: async (request, reply) => {
      const { raw } = request;
      const exchange = openedExchange(request);
      const { principal, recorded, authenticate } =
        contract.auth === "none" ? NO_CALLER : await admit(request, reply, exchange);
      refuseEncoding(request.headers);
      if (refusesQuery) refuseAnyQuery(request.query);
      onFirstRead(raw, () => {
        if (raw.headers.expect !== undefined && !reply.raw.headersSent) reply.raw.writeContinue();
        watchBodyRate(raw, reply.raw, {
          socket: exchange.socket,
          limits: edge.limits,
          schedule: edge.schedule,
          tooSlow: (error) => exchange.cut(error),
        });
      });
      const result = handle({
        requestId: brand("request", request.id),
        request,
        endpoint,
        principal,
        callerNow: async () => {
          const caller = await (authenticate ?? (() => frame.authenticate(request.headers.authorization)))();
          requireRights(contract, caller);
          return caller;
        },
        clientGone: exchange.signal,
        room: createAnswerRoom(edge.unread, exchange),
        receivedAtMs: exchange.receivedAtMs,
        recorder: recorded?.recorder ?? null,
      });
      edge.underWay.add(result);
      recorded?.during(result);
      const answer = exchange.unlessCut(result);
      const sending = sendReply(edge, request, reply, await mapDatabaseFailure(contract, answer));
      if (sending === null) return undefined;
      edge.underWay.add(sending);
      recorded?.during(sending);
      return sending;
    },
  });
}

function requireRights({ auth, scope }: EndpointContract, principal: EdgePrincipal): void {
  if (auth === "operator") requireOperator(principal);
  if (scope !== undefined) requireScope(principal, scope);
}

/** A read can always be retried, and a change only if it was rolled back. For a routed call only its own steps know. */
function mapDatabaseFailure<T>({ method, isRouted }: EndpointContract, answer: Promise<T>): Promise<T> {
  if (method === "GET") return mapDatabaseUnavailable(answer);
  return isRouted === true ? answer : mapRolledBack(answer);
}

function openedExchange({ raw }: FastifyRequest): Exchange {
  const exchange = exchangeOf(raw);
  if (exchange === null) throw new Error("the exchange was not opened");
  return exchange;
}
