// Creates the admin listener (`/admin/v1/…` for operator keys, health, metrics, its own OpenAPI document), which shares no endpoint with the public listener
// [admin.listeners-separate], and a worker's monitoring listener.
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type ReadCheckpoint, readCheckpoint, writeCheckpoint } from "../admin/audit/audit-checkpoint.ts";
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
import { createServer } from "../http/server/server.ts";
import type { Authenticate } from "../http/server/frame.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import type { ObjectStore } from "../objects/store.ts";
import { wholeObjects } from "../objects/whole-objects.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";

export interface CheckpointKeeper {
  readonly read: () => Promise<ReadCheckpoint>;
  /** Writes a last checkpoint if this process has written any. */
  readonly stop: () => Promise<void>;
}

interface KeeperParts {
  readonly database: Database;
  readonly seal: Seal;
  readonly objects: Pick<ObjectStore, "put" | "open">;
  readonly logger: Logger;
  readonly now: () => Date;
}

const CHECKPOINT_MS = 3_600_000;
/** The first checkpoint comes soon after the start, because the process may not live for an hour. */
const LOOK_MS = 60_000;

/** Signs the ends of the audit log's hash chains every hour [tenancy.audit-checkpoint]. */
export function keepCheckpoints({ database, seal, objects, logger, now }: KeeperParts): CheckpointKeeper {
  const services = { database, seal, store: wholeObjects(objects), now };
  let lastMs: number | null = null;
  const turns = createPeriodicTask(LOOK_MS, logger, "write a checkpoint of the audit log", async () => {
    const nowMs = now().getTime();
    if (lastMs !== null && nowMs - lastMs < CHECKPOINT_MS) return;
    await writeCheckpoint(services);
    lastMs = nowMs;
  });
  return {
    read: () => readCheckpoint(services),
    stop: async () => {
      await turns.stop();
      if (lastMs === null) return;
      await writeCheckpoint(services).catch((error: unknown) =>
        logger.error(
          { task: "write a checkpoint of the audit log", err: error },
          "could not write the last checkpoint",
        ),
      );
    },
  };
}

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
export function createWatchServer({ readiness, metrics, ...frame }: Omit<AdminListenerParts, "edge">): FastifyInstance {
  return createServer<Principal>({ ...frame, endpoints: [getHealth, readiness, getMetrics(metrics)] });
}

export function createAdminServer({ edge, readiness, metrics, ...frame }: AdminListenerParts): FastifyInstance {
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
