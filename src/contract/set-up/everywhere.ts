// Connections and routes are shared or belong to a workspace: the same endpoints for the operator, for the operator on behalf of a
// workspace, and for its administrators [admin.mirrored].
import { type EndpointBelow, type Mirrored, mirrored, operatorEndpoint } from "../admin.ts";
import type { EndpointContract } from "../endpoint.ts";

export interface Everywhere extends Mirrored {
  readonly platform: EndpointContract;
}

/** `operationId` begins with its verb, behind which the platform's twin says whose it is. */
export function everywhere(endpoint: EndpointBelow): Everywhere {
  const { operationId, summary } = endpoint;
  return {
    ...mirrored({ ...endpoint, summary: `${summary}, of a workspace` }),
    platform: operatorEndpoint({
      ...endpoint,
      operationId: operationId.replace(/^[a-z]+/u, (verb) => `${verb}Platform`),
      summary: `${summary}, of the platform`,
    }),
  };
}
