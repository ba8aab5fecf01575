// The HTTP server of a listener, public or admin: Fastify routes, but never reads a body and never writes an error [errors.one-body].
import { createServer as createNodeServer, type Server } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { newId } from "../../contract/ids.ts";
import { createTickBatcher } from "../../lib/concurrency/tick-batcher.ts";
import { createWaitGroup } from "../../lib/concurrency/wait-group.ts";
import { allowedMethods, noSuchEndpoint, notFoundHint } from "./allowed-methods.ts";
import type { RefuseHost } from "./allowed-hosts.ts";
import { type Schedule, schedule } from "../body/body-rate.ts";
import { answerClientErrors, type ClientErrorParts } from "./client-error.ts";
import { endSilentConnections, noteConnections, trackAccepts } from "./connections.ts";
import type { Edge } from "./edge.ts";
import type { EdgePrincipal, Endpoint, EndpointWithToken } from "./endpoint.ts";
import { openExchange, ServedRequest, servedRequest } from "./exchange.ts";
import { canonicalPath, refuseHead } from "./head.ts";
import { createPipelineQueue } from "./pipelining.ts";
import { EDGE_LIMITS, type EdgeLimits } from "./limits.ts";
import { CLIENT_GONE, recordRefused } from "./open-record.ts";
import type { OpenRecordFor, Authenticate } from "./frame.ts";
import { sendError } from "../reply/send.ts";
import { serve } from "./serve.ts";
import { createUnreadBudget, type UnreadBudget } from "../reply/unread-budget.ts";
import { watchUnreadReplies } from "../reply/unread-replies.ts";
import { createUpgrades, isSocketRequest } from "../socket/upgrade.ts";

export interface ServerOptions<P extends EdgePrincipal> {
  readonly endpoints: readonly (Endpoint<P> | EndpointWithToken<P>)[];
  /** Resolves to the caller or throws `UNAUTHENTICATED`. Never sees a body. */
  readonly authenticate: Authenticate<P>;
  /** Opens the record of a request to a routed endpoint. */
  readonly openRecord?: OpenRecordFor<P>;
  readonly quotaFields?: (principal: P) => Readonly<Record<string, string>>;
  readonly publicUrl: () => string;
  readonly logger: Logger;
  /** True from the first moment of a shutdown. Replies then close their connection. */
  readonly draining: () => boolean;
  /** Null or absent: any host name is allowed. */
  readonly refuseHost?: RefuseHost | null;
  readonly limits?: Partial<EdgeLimits>;
  readonly schedule?: Schedule;
  readonly nowMs?: () => number;
  readonly watch?: Edge["watch"];
  /** Shared by the listeners of a process. Absent: this server creates its own. */
  readonly unread?: UnreadBudget;
}

export function createServer<P extends EdgePrincipal>(options: ServerOptions<P>): FastifyInstance {
  const edge: Edge = {
    limits: { ...EDGE_LIMITS, ...options.limits },
    schedule: options.schedule ?? schedule,
    nowMs: options.nowMs ?? Date.now,
    publicUrl: options.publicUrl,
    draining: options.draining,
    refuseHost: options.refuseHost ?? null,
    logger: options.logger,
    watch: options.watch ?? null,
    underWay: createWaitGroup(),
    unread: options.unread ?? createUnreadBudget(),
    upgrades: () => upgrades,
  };
  const socketPaths = new Set(
    options.endpoints.filter(({ contract }) => 101 in contract.responses).map(({ contract }) => contract.path),
  );
  const allowed = allowedMethods(options.endpoints.map(({ contract }) => contract));
  const hint = notFoundHint(options.endpoints.map(({ contract }) => contract));
  const turns = createPipelineQueue();
  const server = nodeServer(edge, { allowed, socketPaths, turns });
  const tickBatcher = createTickBatcher(trackAccepts(server));
  const connections = noteConnections(server);
  const app = fastify({
    logger: false,
    genReqId: () => newId("request"),
    requestIdHeader: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: edge.limits.maxTargetBytes },
    // Fastify's own handler would respond before `answerClientErrors`.
    clientErrorHandler: () => undefined,
    serverFactory: (handler) => {
      turns.serve(server, handler);
      return server;
    },
    // Called for paths that the router cannot decode, before any hook runs.
    frameworkErrors: (_error, request, reply) => {
      open(edge, request, reply, null);
      void recordRefused(null, options, { request, reply });
      const judgesIdempotencyKey = !READS.has(request.method);
      sendError(edge, request, reply, refuseHead(request.raw, { ...edge, judgesIdempotencyKey }) ?? noSuchEndpoint([]));
    },
  });
  const upgrades = createUpgrades(app.server, socketPaths, edge.limits);
  app.decorate("connections", connections);
  app.decorate("underWay", edge.underWay);
  // Fastify must not parse bodies: handlers validate and read them.
  for (const method of new Set(options.endpoints.map(({ contract }) => contract.method)))
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.setErrorHandler((error, request, reply) => sendError(edge, request, reply, error));
  app.setNotFoundHandler((request) => {
    const target = request.raw.url ?? "";
    throw noSuchEndpoint(allowed(target), hint(target));
  });
  // The callback form of a hook creates no promise.
  app.addHook("onRequest", (request, reply, done) => {
    // Read once, because each access creates a new object.
    const { url, config } = request.routeOptions;
    open(edge, request, reply, url ?? null);
    // The router compares decoded paths, but here a path has only one spelling.
    const target = request.raw.url ?? "";
    const isPlain = canonicalPath(target) !== null || config.contract?.aliasPattern?.test(target) === true;
    const hasNoEndpoint = request.is404 || !isPlain;
    const contract = hasNoEndpoint ? null : (config.contract ?? null);
    // Reads ignore an idempotency key, and so does a routed request that turns out to be a stream or a dry run.
    const judgesIdempotencyKey = !READS.has(request.method) && contract?.isRouted !== true;
    const refusal =
      refuseHead(request.raw, { ...edge, judgesIdempotencyKey }) ??
      (hasNoEndpoint ? noSuchEndpoint(allowed(target), hint(target)) : null);
    // These requests do not wait for the end of the tick. By then a client that closed its side after several requests would count as disconnected,
    // and the body of a request with `Expect` may have arrived early: Node closes a connection to which 100 was not sent.
    const skipsBatch = servedRequest(request.raw).wasQueued || request.headers.expect !== undefined;
    if (refusal === null) return skipsBatch ? done() : tickBatcher(done);
    void recordRefused(contract, options, { request, reply });
    done(refusal);
  });
  const stopWatching = watchUnreadReplies(connections, edge.limits);
  app.addHook("onClose", async () => stopWatching());
  app.addHook("preClose", async () => {
    // Live sessions need time for their last event. Until they have ended, connections are still accepted.
    await upgrades.endAll();
    endSilentConnections(app.server, connections);
  });
  for (const endpoint of options.endpoints) serve(app, endpoint, edge, options);
  return app;
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

interface ServerParts extends ClientErrorParts {
  readonly socketPaths: ReadonlySet<string>;
}

function nodeServer(edge: Edge, { socketPaths, ...parts }: ServerParts): Server {
  const { limits } = edge;
  const server = createNodeServer({
    IncomingMessage: ServedRequest,
    // Leaves room for the longest target, so that `refuseHead` decides by exact limits, and not Node by the sum of both.
    maxHeaderSize: limits.maxHeaderBytes + limits.maxTargetBytes,
    headersTimeout: limits.headersTimeoutMs,
    // A body may take any time as long as it keeps its minimum rate (`body-rate.ts`).
    requestTimeout: 0,
    connectionsCheckingInterval: limits.checkIntervalMs,
    keepAliveTimeout: limits.keepAliveMs,
    // While an earlier response is pending, the header is ignored: the connection cannot be upgraded.
    shouldUpgradeCallback: (request) => isSocketRequest(request, socketPaths) && parts.turns.isIdle(request.socket),
    // `refuseHead` responds in JSON.
    requireHostHeader: false,
  });
  // With a limit, Node would silently drop header fields beyond it.
  server.maxHeadersCount = 0;
  answerClientErrors(server, edge, parts);
  // Whether to send 100 or to refuse is decided by the handler that reads the body, or by `refuseHead`.
  for (const event of ["checkContinue", "checkExpectation"]) {
    server.on(event, (raw, response) => server.emit("request", raw, response));
  }
  return server;
}

function open(edge: Edge, request: FastifyRequest, reply: FastifyReply, route: string | null): void {
  const receivedAtMs = edge.nowMs();
  const exchange = openExchange(request.raw, reply.raw, receivedAtMs);
  // Node joins repeated headers, and the result is no valid `traceparent`.
  edge.watch?.arrived(request.id, request.raw.headers["traceparent"]?.toString());
  exchange.onClose(() => {
    const { method, id } = request;
    const status = exchange.isGone ? CLIENT_GONE : reply.raw.statusCode;
    const endedAtMs = edge.nowMs();
    const traceIdOf = edge.watch?.traceIdOf ?? null;
    const line = { request_id: id, method, route, status, code: exchange.code, ms: endedAtMs - receivedAtMs };
    edge.logger.info(traceIdOf === null ? line : { ...line, trace_id: traceIdOf(id) });
    edge.watch?.exchanged({
      requestId: id,
      method,
      route,
      status,
      startedAtMs: receivedAtMs,
      endedAtMs,
    });
  });
}
