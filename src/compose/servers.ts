// Composes for `compose/app.ts` the public listener, and the admin listener if one is configured.
import type { Logger } from "pino";
import type { JsonParser } from "../lib/json/json-parser.ts";
import type { OwnFile } from "../admin/apply-file.ts";
import { MOST_CHECKS } from "../admin/check-audio-url.ts";
import type { SetUpServices } from "../admin/set-up-scope.ts";
import type { Spool } from "../audio/spool.ts";
import { requireWorkspaceAdmin } from "../auth/require-workspace-admin.ts";
import type { KeyVerifier } from "../auth/verify-key.ts";
import type { Configuration } from "../config/configuration.ts";
import { createRouteJudge } from "../gateway/retirement/judge-routes.ts";
import type { GatewayServices } from "../gateway/services.ts";
import type { AdminEdge } from "../http/admin/frame.ts";
import { allowHosts } from "../http/server/allowed-hosts.ts";
import { getReadiness } from "../http/endpoints/get-readiness.ts";
import { publicUrlOf } from "../http/server/listen.ts";
import { createUnreadBudget } from "../http/reply/unread-budget.ts";
import { createServer, type HttpServer } from "../http/server/server.ts";
import { createKeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import { createAdminServer, createWatchServer } from "./admin-endpoints.ts";
import type { OpenedJobs } from "./jobs.ts";
import { publicEndpoints } from "./public-endpoints.ts";
import type { Telemetry } from "./telemetry.ts";
import type { RecordServices } from "../requests/describe.ts";
import type { RequestLog } from "../requests/log.ts";
import type { Database } from "../storage/database.ts";

interface ServersOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly pepper: Buffer;
  readonly logger: Logger;
  /** Null or absent: there is none. */
  readonly ownFile?: OwnFile | null;
  /** A worker offers monitoring only. */
  readonly isAdministered?: boolean;
}

export interface ServerParts {
  readonly gateway: GatewayServices;
  readonly durable: OpenedJobs;
  readonly spool: Spool;
  readonly parser: JsonParser;
  readonly isDraining: () => boolean;
  readonly nowMs: () => number;
  readonly keys: KeyVerifier;
  readonly records: Pick<RequestLog, "open"> & Pick<RecordServices, "written">;
  readonly readCheckpoint: AdminEdge["readCheckpoint"];
  readonly metrics: Telemetry;
  readonly setUp: SetUpServices;
  readonly connectionTests: AdminEdge["connectionTests"];
  readonly health: AdminEdge["health"];
  readonly sandbox: AdminEdge["sandbox"];
  readonly localModels: AdminEdge["localModels"];
}

export interface Servers {
  readonly server: HttpServer;
  /** Null: the configuration has no admin listener. */
  readonly admin: HttpServer | null;
}

export function createServers(options: ServersOptions, parts: ServerParts): Servers {
  const { configuration, database, logger } = options;
  const { gateway, isDraining, nowMs, keys, metrics } = parts;
  const forgetKeys = () => keys.forget();
  const adapters = { speech: gateway.providers, chat: gateway.chatProviders };
  const edge: AdminEdge = {
    requireAdmin: (principal, tenantId) => requireWorkspaceAdmin(database, principal, tenantId),
    admin: { database, pepper: options.pepper, forgetKeys },
    records: { database, deletions: gateway.deletions, written: parts.records.written },
    readCheckpoint: parts.readCheckpoint,
    setUp: parts.setUp,
    connectionTests: parts.connectionTests,
    audioUrlChecks: {
      database,
      remoteAudio: gateway.remoteAudio,
      places: createKeyedSemaphore({ ...MOST_CHECKS, perKind: MOST_CHECKS.total }),
    },
    models: { ...gateway, database },
    explanations: { ...gateway, ...parts.setUp, limits: configuration.limits },
    pauses: { ...parts.setUp, adapters, circuits: parts.health.circuits },
    health: parts.health,
    retirements: { ...gateway, database, adapters, judge: createRouteJudge(gateway) },
    sandbox: parts.sandbox,
    localModels: parts.localModels,
    applyFile: { ...parts.setUp, pepper: options.pepper, forgetKeys, ownFile: options.ownFile ?? null },
  };
  const readiness = getReadiness({
    draining: isDraining,
    checks: { database: () => database.ping().then(() => true) },
  });
  let url = configuration.server.publicUrl;
  const publicUrl = () => url;
  const frame = {
    authenticate: (authorization: string | undefined) => keys.verify(authorization),
    publicUrl,
    logger,
    draining: isDraining,
    nowMs,
    watch: metrics,
    unread: createUnreadBudget(),
  };
  const { admin } = configuration.server;
  // The public listener does not know the host names that proxies and balancers give it, and answers nothing without a key.
  const adminFrame = {
    ...frame,
    readiness,
    metrics: () => metrics.text(),
    refuseHost: allowHosts(
      admin === null ? [] : [admin.host, new URL(url).hostname, ...admin.allowedHosts],
      "server.admin.allowed_hosts in patchbay.yaml",
    ),
  };
  const endpoints = publicEndpoints({
    ...parts,
    configuration,
    database,
    pepper: options.pepper,
    edge,
    readiness,
    publicUrl,
    isClosing: () => server.isClosing(),
    server: () => server.server,
  });
  const server: HttpServer = createServer({
    ...frame,
    endpoints,
    openRecord: parts.records.open,
    quotaFields: (principal) => parts.gateway.quotas.standing(principal),
  });
  // Read once while listening: requests are still answered after the last address was closed.
  // Read once while listening: requests are still answered after the listener was closed.
  server.server.once("listening", () => {
    url = publicUrlOf(url, server.server.address());
  });
  return {
    server,
    admin:
      admin === null
        ? null
        : options.isAdministered === false
          ? createWatchServer(adminFrame)
          : createAdminServer({ ...adminFrame, edge }),
  };
}
