// POST /v1/transcription/realtime-token: issues a short-lived token for a live transcription [realtime.token-identity].
import type { Principal } from "../../auth/principal.ts";
import { postRealtimeTokenContract } from "../../contract/transcription/realtime.ts";
import { appOf } from "../../gateway/account/app-of.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { refuseAnyQuery } from "../body/refuse-query.ts";
import type { RealtimeEdge } from "./get-realtime.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";

export function postRealtimeToken({ gateway, tokens }: RealtimeEdge): Endpoint<Principal> {
  return {
    contract: postRealtimeTokenContract,
    handle: async (context) => {
      refuseAnyQuery(context.request.query);
      const principal = principalOf(context);
      // Fails early for a key that could not use the token.
      appOf(principal);
      const releaseQuota = await mapDatabaseUnavailable(gateway.quotas.enter(principal));
      try {
        const { token, expiresAt } = await tokens.issue(principal);
        return {
          status: 200,
          body: { json: { object: "realtime_token", token, expires_at: expiresAt.toISOString() } },
        };
      } finally {
        releaseQuota();
      }
    },
  };
}
