// GET /v1/usage: reports the usage of the key's app [usage.groups].
import type { Principal } from "../../auth/principal.ts";
import { getUsageContract, usageQuery } from "../../contract/usage.ts";
import { appUsage, type UsageServices } from "../../requests/usage.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { readQuery } from "../body/read-fields.ts";
import { usageReply } from "../reply/usage-reply.ts";

export function getUsage(services: UsageServices): Endpoint<Principal> {
  return {
    contract: getUsageContract,
    handle: async (context) => {
      const question = readQuery(context.request, usageQuery);
      return usageReply(context.request.headers.accept, () => appUsage(services, principalOf(context), question));
    },
  };
}
