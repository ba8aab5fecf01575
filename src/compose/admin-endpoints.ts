// Creates the admin listener (`/admin/v1/…` for operator keys, health, metrics, its own OpenAPI document), which shares no endpoint with the public listener
// [admin.listeners-separate], and a worker's monitoring listener.
import { join } from "node:path";
import type { Logger } from "pino";
import type { Principal } from "../auth/principal.ts";
import { packageRoot, pageModules } from "../cli/package-root.ts";
import type { AdminEdge } from "../http/admin/frame.ts";
import type { RefuseHost } from "../http/server/allowed-hosts.ts";
import { operatorEndpoints } from "../http/admin/endpoints.ts";
import type { Edge } from "../http/server/edge.ts";
import type { Endpoint } from "../http/server/endpoint.ts";
import { getConsole } from "../http/endpoints/pages/get-console.ts";
import { getErrorDocs } from "../http/endpoints/pages/get-error-docs.ts";
import { getHealth } from "../http/endpoints/get-health.ts";
import { getMetrics } from "../http/endpoints/get-metrics.ts";
import { getOpenapi } from "../http/endpoints/pages/get-openapi.ts";
import { createServer, type HttpServer } from "../http/server/server.ts";
import type { Authenticate } from "../http/server/frame.ts";

export interface AdminListenerParts {
  readonly edge: AdminEdge;
  readonly readiness: Endpoint;
  /** The complete text of a scrape. */
  readonly metrics: () => Promise<string>;
  readonly authenticate: Authenticate<Principal>;
  readonly publicUrl: () => string;
  readonly logger: Logger;
  readonly draining: () => boolean;
  readonly nowMs: () => number;
  readonly watch: Edge["watch"];
  readonly refuseHost: RefuseHost;
}

/** The monitoring listener of a worker: the same health and metrics endpoints as a gateway's, without administration. */
export function createWatchServer({ readiness, metrics, ...frame }: Omit<AdminListenerParts, "edge">): HttpServer {
  return createServer<Principal>({ ...frame, endpoints: [getHealth, readiness, getMetrics(metrics)] });
}

export function createAdminServer({ edge, readiness, metrics, ...frame }: AdminListenerParts): HttpServer {
  return createServer<Principal>({
    ...frame,
    endpoints: [
      getHealth,
      readiness,
      getMetrics(metrics),
      getOpenapi(join(packageRoot(), "openapi-admin.json")),
      getErrorDocs(),
      ...getConsole(pageModules(), "admin", frame.publicUrl),
      ...operatorEndpoints(edge),
    ],
  });
}
