// Turns one declaration into the three endpoints of objects that are shared or belong to a workspace, such as connections and routes: for the operator, for
// the operator on behalf of a workspace, and for its administrators [admin.mirrored].
import { type EndpointTemplate, type WorkspaceEndpoints, mirrorForOperator, operatorEndpoint } from "../admin/admin.ts";
import type { EndpointContract } from "./endpoint.ts";

export interface OwnerEndpoints extends WorkspaceEndpoints {
  readonly platform: EndpointContract;
}

/** `operationId` begins with its verb; the shared variant inserts the owner after it. */
export function mirrorForAllOwners(endpoint: EndpointTemplate): OwnerEndpoints {
  const { operationId, summary } = endpoint;
  return {
    ...mirrorForOperator({ ...endpoint, summary: `${summary} (workspace)` }),
    platform: operatorEndpoint({
      ...endpoint,
      operationId: operationId.replace(/^[a-z]+/u, (verb) => `${verb}Platform`),
      summary: `${summary} (shared)`,
    }),
  };
}
