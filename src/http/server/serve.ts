// The frame around a handler: checks key, scope and content encoding, then runs the handler unless the exchange is cut first [errors.head-order].
import { type EndpointContract, endpointName, isLimited } from "../../contract/endpoints/endpoint.ts";
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
import type { Exchange } from "./exchange.ts";
import { openRecord } from "./open-record.ts";
import type { RecordedExchange } from "./record-until-end.ts";
import { CallerFields } from "../reply/reply-fields.ts";
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

/** Returns the function that sends the response of a request to this endpoint, or rejects with the error to send. */
export function serve<P extends EdgePrincipal>(
  each: Endpoint<P> | EndpointWithToken<P>,
  edge: Edge,
  frame: Frame<P>,
): (exchange: Exchange) => Promise<void> {
  const { contract, handle } = each;
  const endpoint = endpointName(contract);
  const authenticateByToken = "authenticate" in each ? each.authenticate : () => null;
  // Routed endpoints validate their query after quotas, together with their fields. Probes and pages without a key accept any query.
  const refusesQuery = contract.query === undefined && contract.isRouted !== true && contract.auth !== "none";
  const admit = async (exchange: Exchange): Promise<Admitted<P>> => {
    const authenticateByKey = () => frame.authenticate(exchange.headers.authorization);
    let caller: TokenCaller<P>;
    try {
      const tokenCaller = authenticateByToken(exchange);
      caller =
        tokenCaller === null
          ? { principal: await authenticateByKey(), authenticate: authenticateByKey }
          : await tokenCaller;
    } catch (error) {
      openRecord(contract, frame, exchange, null);
      return throwIfDatabaseUnavailable(error);
    }
    const { principal, authenticate } = caller;
    const { quotaFields } = frame;
    if (isLimited(contract) && quotaFields !== undefined) exchange.fields = new CallerFields(quotaFields, principal);
    const recorded = openRecord(contract, frame, exchange, principal);
    requireRights(contract, principal);
    return { principal, recorded, authenticate };
  };
  return async (exchange) => {
    const { raw, response, headers } = exchange;
    const { principal, recorded, authenticate } = contract.auth === "none" ? NO_CALLER : await admit(exchange);
    refuseEncoding(headers);
    if (refusesQuery) refuseAnyQuery(exchange.query);
    onFirstRead(raw, () => {
      if (headers.expect !== undefined && !response.headersSent) response.writeContinue();
      watchBodyRate(raw, response, {
        socket: exchange.socket,
        limits: edge.limits,
        schedule: edge.schedule,
        tooSlow: (error) => exchange.cut(error),
      });
    });
    const result = handle({
      requestId: exchange.id,
      request: exchange,
      endpoint,
      principal,
      callerNow: async () => {
        const caller = await (authenticate ?? (() => frame.authenticate(headers.authorization)))();
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
    const sending = sendReply(edge, exchange, await mapDatabaseFailure(contract, answer));
    edge.underWay.add(sending);
    recorded?.during(sending);
    await sending;
  };
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
