// GET /v1/melimits and its alias GET /v1/me/limits: returns every limit in force, and the key's quotas and remaining budgets.
import type { Principal } from "../../auth/principal.ts";
import { getLimitsContract, getMyLimitsContract } from "../../contract/endpoints/endpoint-account.ts";
import { describeLimits, type LimitServices } from "../../gateway/account/describe-limits.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";

export function getLimits(services: LimitServices): readonly Endpoint<Principal>[] {
  return [getLimitsContract, getMyLimitsContract].map((contract) => ({
    contract,
    handle: async (context) => ({ status: 200, body: { json: await describeLimits(services, principalOf(context)) } }),
  }));
}
