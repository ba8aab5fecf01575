// GET /admin/v1/health/providers: reports the health of provider connections [admin.health].
import { describeProviderHealth } from "../../admin/connections/provider-health.ts";
import type { Principal } from "../../auth/principal.ts";
import { getProviderHealthContract, providerHealthQuery } from "../../contract/admin/provider-health.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { readQuery } from "../body/read-fields.ts";
import type { AdminEdge } from "./frame.ts";

export function getProviderHealth({ health }: AdminEdge): Endpoint<Principal> {
  return {
    contract: getProviderHealthContract,
    handle: async ({ request }) => {
      const { minutes } = readQuery(request, providerHealthQuery);
      return { status: 200, body: { json: await describeProviderHealth(health, minutes) } };
    },
  };
}
