// The frame around a handler: key, scope, content encoding, then the handler, unless the exchange is cut first [errors.head-order].
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type EndpointContract, endpointName, isLimited } from "../../contract/endpoint.ts";
import { brand } from "../../contract/ids.ts";
import {
  throwIfDatabaseUnavailable,
  mapDatabaseUnavailable,
  mapRolledBack,
} from "../../gateway/calls/database-unavailable.ts";
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import { createAnswerRoom } from "../reply/answer-room.ts";
import { onFirstRead, watchBodyRate } from "../body/body-rate.ts";
import { refuseEncoding } from "../body/content-type.ts";
import type { Edge } from "./edge.ts";
import type { EdgePrincipal, Endpoint, EndpointWithToken, TokenCaller } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { openRecord } from "./open-record.ts";
import type { Recorded } from "./record-until-end.ts";
import { requireOperator, requireScope } from "./require-scope.ts";
import { refuseAnyQuery } from "../body/refuse-query.ts";
import { sendReply } from "../reply/send.ts";
import type { Frame } from "./frame.ts";

interface Admitted<P> {
  readonly principal: P;
  readonly recorded: Recorded | null;
  /** Once more, for an answer that lasts. */
  readonly authenticate: () => MaybePromise<P>;
}

const NOBODY = { principal: null, recorded: null, authenticate: null };

declare module "fastify" {
  interface FastifyContextConfig {
    /** Of a route of ours; a path without one has none. */
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
  const byToken = "authenticate" in each ? each.authenticate : () => null;
  // What picks a model judges its query after quotas, with its other fields; probes and pages without a key take any.
  const takesNoQuery = contract.query === undefined && contract.isRouted !== true && contract.auth !== "none";
  const admit = (request: FastifyRequest, reply: FastifyReply, exchange: Exchange): MaybePromise<Admitted<P>> => {
    const authenticate = () => frame.authenticate(request.headers.authorization);
    const refuse = (error: unknown): never => {
      openRecord(edge, contract, frame, { endpoint, request, reply, principal: null });
      return throwIfDatabaseUnavailable(error);
    };
    const redeemed = byToken(request);
    if (redeemed !== null) return redeemed.then((caller) => admitted(caller, request, reply, exchange), refuse);
    const known = authenticate();
    if (!(known instanceof Promise)) return admitted({ principal: known, authenticate }, request, reply, exchange);
    return known.then((principal) => admitted({ principal, authenticate }, request, reply, exchange), refuse);
  };
  const admitted = (
    { principal, authenticate }: TokenCaller<P>,
    request: FastifyRequest,
    reply: FastifyReply,
    exchange: Exchange,
  ): Admitted<P> => {
    const { quotaFields } = frame;
    if (isLimited(contract) && quotaFields !== undefined) exchange.fields = () => quotaFields(principal);
    const recorded = openRecord(edge, contract, frame, { endpoint, request, reply, principal });
    requireRights(contract, principal);
    return { principal, recorded, authenticate };
  };
  app.route({
    method: contract.method,
    url: contract.path,
    config: { contract },
    handler: async (request, reply) => {
      const { raw } = request;
      const exchange = exchangeOf(edge, request);
      const judged = contract.auth === "none" ? NOBODY : admit(request, reply, exchange);
      const { principal, recorded, authenticate } = judged instanceof Promise ? await judged : judged;
      refuseEncoding(request.headers);
      if (takesNoQuery) refuseAnyQuery(request.query);
      onFirstRead(raw, () => {
        if (raw.headers.expect !== undefined && !reply.raw.headersSent) reply.raw.writeContinue();
        watchBodyRate(raw, reply.raw, {
          socket: exchange.socket,
          limits: edge.limits,
          schedule: edge.schedule,
          tooSlow: (error) => exchange.cut(error),
        });
      });
      const handled = handle({
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
      edge.underWay.add(handled);
      recorded?.during(handled);
      const answer = exchange.unlessCut(handled);
      const sent = sendReply(edge, request, reply, await unlessDatabaseAway(contract, answer));
      if (sent === null) return undefined;
      edge.underWay.add(sent);
      recorded?.during(sent);
      return sent;
    },
  });
}

function requireRights({ auth, scope }: EndpointContract, principal: EdgePrincipal): void {
  if (auth === "operator") requireOperator(principal);
  if (scope !== undefined) requireScope(principal, scope);
}

/** A read may be asked again whatever happened, a change of settings or of a job where it was undone; of a call only its own steps know. */
function unlessDatabaseAway<T>({ method, isRouted }: EndpointContract, answer: Promise<T>): Promise<T> {
  if (method === "GET") return mapDatabaseUnavailable(answer);
  return isRouted === true ? answer : mapRolledBack(answer);
}

function exchangeOf(edge: Edge, { raw }: FastifyRequest): Exchange {
  const exchange = edge.exchanges.get(raw);
  if (exchange === undefined) throw new Error("the exchange was not opened");
  return exchange;
}
