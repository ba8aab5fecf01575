// The HTTP server of a listener, public or admin: routes each request to the frame of its endpoint, and closes without losing one.
import { createServer as createNodeServer, type Server } from "node:http";
import createRouter from "find-my-way";
import type { Logger } from "pino";
import { createTickBatcher } from "../../lib/concurrency/tick-batcher.ts";
import { createWaitGroup, type WaitGroup } from "../../lib/concurrency/wait-group.ts";
import { allowedMethods, methodsOf, noSuchEndpoint, notFoundHint } from "./allowed-methods.ts";
import type { RefuseHost } from "./allowed-hosts.ts";
import { type Schedule, schedule } from "../body/body-rate.ts";
import { answerClientErrors, type ClientErrorParts } from "./client-error.ts";
import { type Connections, endSilentConnections, noteConnections, trackAccepts } from "./connections.ts";
import { createDispatcher } from "./dispatch.ts";
import type { Edge } from "./edge.ts";
import type { EdgePrincipal, Endpoint, EndpointWithToken } from "./endpoint.ts";
import { Exchange, ServedRequest } from "./exchange.ts";
import { createPipelineQueue } from "./pipelining.ts";
import { EDGE_LIMITS, type EdgeLimits } from "./limits.ts";
import type { OpenRecordFor, Authenticate } from "./frame.ts";
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
  /** From 0 to 1. Default: of this thread. */
  readonly loopUtilization?: () => number;
  readonly schedule?: Schedule;
  readonly nowMs?: () => number;
  readonly watch?: Edge["watch"];
  /** Shared by the listeners of a process. Absent: this server creates its own. */
  readonly unread?: UnreadBudget;
}

export interface HttpServer {
  /** Node's own. `listen.ts` opens its listener. */
  readonly server: Server;
  /** Open connections. */
  readonly connections: Connections;
  /** Handlers and replies that still run. */
  readonly underWay: Pick<WaitGroup, "done">;
  /** Whether the listener is closed to new connections, which `close` does once live sessions have ended. */
  isClosing(): boolean;
  /** Ends live sessions, stops accepting connections, and resolves when all of them are closed. */
  close(): Promise<void>;
}

export function createServer<P extends EdgePrincipal>(options: ServerOptions<P>): HttpServer {
  const edge: Edge = {
    limits: { ...EDGE_LIMITS, ...options.limits },
    schedule: options.schedule ?? schedule,
    nowMs: options.nowMs ?? Date.now,
    publicUrl: options.publicUrl,
    draining: () => closing !== null || options.draining(),
    refuseHost: options.refuseHost ?? null,
    logger: options.logger,
    watch: options.watch ?? null,
    underWay: createWaitGroup(),
    unread: options.unread ?? createUnreadBudget(),
    upgrades: () => upgrades,
  };
  const contracts = options.endpoints.map(({ contract }) => contract);
  const socketPaths = new Set(contracts.filter(({ responses }) => 101 in responses).map(({ path }) => path));
  const allowed = allowedMethods(contracts);
  const turns = createPipelineQueue();
  const server = nodeServer(edge, { allowed, socketPaths, turns });
  const hint = notFoundHint(contracts);
  const noEndpoint = (target: string) => noSuchEndpoint(allowed(target), hint(target));
  const mayWait = trackAccepts(server);
  const dispatch = createDispatcher(edge, options, noEndpoint, {
    routed: createTickBatcher({ mayWait, utilization: options.loopUtilization }),
    other: createTickBatcher({ mayWait, isWhole: true }),
  });
  const noMatch = { route: null, params: {}, query: {} };
  const router = createRouter({
    // Longer targets are refused by their head.
    maxParamLength: edge.limits.maxTargetBytes,
    defaultRoute: (raw, response) => dispatch(new Exchange(raw, response, edge.nowMs(), noMatch), null),
  });
  for (const endpoint of options.endpoints) {
    const { contract } = endpoint;
    const route = { contract, run: serve(endpoint, edge, options) };
    router.on(methodsOf(contract), contract.path, (raw, response, params, _store, query) =>
      dispatch(new Exchange(raw, response, edge.nowMs(), { route: contract.path, params, query }), route),
    );
  }
  turns.serve(server, (raw, response) => void router.lookup(raw, response));
  const connections = noteConnections(server);
  const stopWatching = watchUnreadReplies(connections, edge.limits);
  const upgrades = createUpgrades(server, socketPaths, edge.limits);
  let isClosing = false;
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    // Live sessions need time for their last event. Until they have ended, connections are still accepted.
    await upgrades.endAll();
    endSilentConnections(server, connections);
    isClosing = true;
    // Closes idle connections, too. The callback's error says that the listener was not open.
    await new Promise<void>((resolve) => server.close(() => resolve()));
    stopWatching();
  };
  return {
    server,
    connections,
    underWay: edge.underWay,
    isClosing: () => isClosing,
    close: () => (closing ??= close()),
  };
}

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
