// The admin listener (contract 10): `/admin/v1/…` for the operator's keys, health, and its own OpenAPI document. Nothing of it is
// on the public listener, nothing of the public one is here.
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Principal } from "./auth/principal.ts";
import { ADMIN_ENDPOINTS } from "./contract/admin-endpoints.ts";
import type { AdminEdge } from "./http/admin/frame.ts";
import { operatorEndpoints } from "./http/admin/endpoints.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { getHealth } from "./http/endpoints/get-health.ts";
import { getOpenapi } from "./http/endpoints/get-openapi.ts";
import { ADMIN_API } from "./http/openapi.ts";
import { createServer } from "./http/server.ts";
import type { Authenticate } from "./http/serve.ts";

export interface AdminListenerParts {
  readonly edge: AdminEdge;
  readonly readiness: Endpoint;
  readonly authenticate: Authenticate<Principal>;
  readonly publicUrl: () => string;
  readonly logger: Logger;
  readonly draining: () => boolean;
  readonly now: () => number;
}

export function createAdminServer({ edge, readiness, ...frame }: AdminListenerParts): FastifyInstance {
  return createServer<Principal>({
    ...frame,
    endpoints: [getHealth, readiness, getOpenapi(ADMIN_ENDPOINTS, ADMIN_API), ...operatorEndpoints(edge)],
  });
}
