// GET /v1/usage [usage.groups].
import type { Principal } from "../../auth/principal.ts";
import { getUsageContract, usageQuery } from "../../contract/usage.ts";
import { appUsage, type UsageServices } from "../../requests/usage.ts";
import { type Endpoint, principalOf } from "../endpoint.ts";
import { readQuery } from "../read-fields.ts";
import { usageReply } from "../usage-reply.ts";

export function getUsage(services: UsageServices): Endpoint<Principal> {
  return {
    contract: getUsageContract,
    handle: async (context) => {
      const question = readQuery(context.request, usageQuery);
      return usageReply(context.request.headers.accept, () => appUsage(services, principalOf(context), question));
    },
  };
}
