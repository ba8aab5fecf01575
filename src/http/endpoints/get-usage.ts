// GET /v1/usage (contract 9, 10).
import type { Principal } from "../../auth/principal.ts";
import { getUsageContract, usageQuery } from "../../contract/usage.ts";
import { describeUsage, type UsageServices } from "../../requests/usage.ts";
import { type Endpoint, principalOf } from "../endpoint.ts";
import { readQuery } from "../read-fields.ts";

export function getUsage(services: UsageServices): Endpoint<Principal> {
  return {
    contract: getUsageContract,
    handle: async (context) => {
      const question = readQuery(context.request, usageQuery);
      return { status: 200, body: { json: await describeUsage(services, principalOf(context), question) } };
    },
  };
}
